package retrial

import (
	"os"
	"path/filepath"
	"testing"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

const schemaPolicy = `version = 1
grant "comments" {
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = ["POST"]
    path    = "/comments"
    query   = { page = int }
    body {
      type   = "application/json"
      max    = "1KiB"
      schema = file("comment.schema.json")
    }
  }
}
`

// A policy is as much as the files that it names: what they were is on record, and they
// count only when they are that.
func TestNamedFiles(t *testing.T) {
	dir, logs := t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	load := func(path string) *policyfile.File {
		f, diags := policyfile.Load(path)
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		return f
	}
	write("comment.schema.json", `{"type": "object", "required": ["body"]}`)
	path := write("policy.hcl", schemaPolicy)
	old := load(path)
	g, err := audit.New(audit.Config{Dir: logs, Policy: old.Policy, PolicyText: old.Text, PolicyPath: path, PolicyFiles: old.Digests})
	if err != nil {
		t.Fatal(err)
	}
	r := ask(t, "POST", "api.example.com", "/comments?page=1")
	r.Body = capability.Body{Present: true, Type: "application/json", Length: 20}
	if d := g.Authorize(r); !d.Allowed() {
		t.Fatal(d.Reason)
	}
	if err := g.Close(0); err != nil {
		t.Fatal(err)
	}
	judge := func() *Report {
		trial := New(Config{Dir: logs, Policy: load(path)})
		if err := trial.Run(g.Run()); err != nil {
			t.Fatal(err)
		}
		return trial.Report()
	}
	if got := judge(); got.Unchanged.Allowed != 1 || len(got.Notes) != 0 {
		t.Errorf("the same files: %+v", got)
	}
	write("comment.schema.json", `{"type": "object"}`)
	if got := judge(); got.Undecidable.Count != 1 || len(got.Notes) != 1 {
		t.Errorf("another file: %+v", got)
	}
}
