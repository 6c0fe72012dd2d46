package policyfile

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestDiagnostics compares what a person sees with testdata/NAME.golden.
func TestDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/*.hcl")
	if err != nil || len(files) < 2 {
		t.Fatalf("policies in testdata: %v, %v", files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, diags := Parse(filepath.Base(name), text, Options{Now: testTime})
			if diags.HasErrors() == (len(file.Policy.Grants()) > 0) {
				t.Errorf("errors %t, grants %d: a policy with errors has none", diags.HasErrors(), len(file.Policy.Grants()))
			}
			var b bytes.Buffer
			if err := diags.Write(&b, false, 90); err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(name, ".hcl")+".golden", b.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, string(want)); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}
