package files

import (
	"encoding/json"
	"testing"

	"scupper.dev/scupper/payload"
)

// TestSchemas: every tool is described, its schemas compile, take good arguments and
// refuse others, and what it answers fits.
func TestSchemas(t *testing.T) {
	x := newWorld(t)
	good := map[string]args{
		"read": {"path": "inside.txt", "offset": 1, "limit": 10}, "write": {"path": "new", "content": "x", "must_not_exist": true},
		"edit": {"path": "src/main.go", "old_string": "main", "new_string": "other", "replace_all": true}, "glob": {"pattern": "**", "sort": "name", "limit": 1},
		"grep": {"pattern": "x", "mode": "content", "type": "go", "before": 1},
	}
	for _, e := range x.Entries() {
		d := e.Definition
		if len(d.Description) < 100 || d.Version == "" || d.Level == "" || d.Timeout <= 0 || d.MaxOutput <= 0 {
			t.Errorf("%s is not described: %+v", d.Name, d)
		}
		input, mistakes := payload.CompileSchema(d.Name, d.Input)
		if len(mistakes) > 0 {
			t.Fatalf("%s: %v", d.Name, mistakes)
		}
		output, mistakes := payload.CompileSchema(d.Name, d.Output)
		if len(mistakes) > 0 {
			t.Fatalf("%s: %v", d.Name, mistakes)
		}
		check := func(s *payload.Schema, value any, ok bool) {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if _, found, err := s.Mismatches(text); err != nil || (len(found) == 0) != ok {
				t.Errorf("%s: %s: %v, %v", d.Name, text, found, err)
			}
		}
		check(input, good[d.Name], true)
		for _, bad := range []args{{}, {"path": 1}, {"path": ""}, {"path": "x", "pattern": "x", "content": "", "old_string": "x", "new_string": "", "more": 1}} {
			check(input, bad, false)
		}
		r, reason := x.result(d.Name, good[d.Name])
		if reason != "" {
			t.Fatalf("%s: %s", d.Name, r.Content[0].Text)
		}
		check(output, r.Structured, true)
	}
}
