package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scupper.dev/scupper/replay/scenario"
)

// FuzzLoad: whatever a file holds, reading it does not panic; with a mistake there is no
// pack, and without one every scenario attempts and expects something.
func FuzzLoad(f *testing.F) {
	f.Add(whole)
	f.Add("service \"a\" {\n  host = \"a.example.com\"\n  respond { headers = { A = null } }\n}\n")
	f.Add("scenario \"x\" {\n  describe = \"d\"\n  attempt {\n    raw {\n      connect = \"api.example.com:443\"\n      bytes_base64 = [http2([[\":path\", null]], \"\"), question(\"a.test\", \"A\"), plain(\"x\")]\n    }\n  }\n  expect { bits = 3 }\n}\n")
	f.Add("scenario \"x\" {\n  describe = \"d\"\n  given {\n    dns \"api.example.com\" { answers = [null] }\n  }\n  attempt {\n    http {\n      url = \"https://api.example.com/\"\n      headers = { A = null }\n    }\n  }\n  expect { leak = [null] }\n}\n")
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.hcl"), []byte("version = 1\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "{")+strings.Count(text, "[")+strings.Count(text, "(") > 200 {
			return // the parser of hcl recurses; files of scenarios are the operator's own
		}
		path := filepath.Join(t.TempDir(), "s.hcl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		pack, err := scenario.Load([]string{path}, scenario.Options{Policy: filepath.Join(dir, "policy.hcl"), Known: func(string) bool { return true }})
		if (pack == nil) != (err != nil) {
			t.Fatalf("pack %v and error %v", pack, err)
		}
		if err != nil {
			return
		}
		for _, s := range pack.Scenarios {
			if len(s.Attempts) == 0 || s.Describe == "" || s.Policy == "" {
				t.Errorf("got %+v", s)
			}
		}
	})
}
