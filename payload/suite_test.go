package payload

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// group is a schema of the suite and what it says of values.
type group struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// TestSuite runs the JSON Schema Test Suite (testdata/suite/README.md): a schema is
// refused for what is not enforced here, or judges as the specification has it.
func TestSuite(t *testing.T) {
	files, err := filepath.Glob("testdata/suite/*.json")
	if err != nil || len(files) != 40 {
		t.Fatalf("got %d files, %v, want 40", len(files), err)
	}
	judged, refused := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []group
		if err := json.Unmarshal(text, &groups); err != nil {
			t.Fatal(file, err)
		}
		for _, g := range groups {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json")+"/"+g.Description, func(t *testing.T) {
				if g.run(t) {
					judged++
				} else {
					refused++
				}
			})
		}
	}
	if judged != 284 || refused != 22 {
		t.Errorf("%d schemas were judged and %d refused, want 284 and 22", judged, refused)
	}
}

// refusable reports whether a schema is refused for nothing but what is not enforced.
func refusable(mistakes []Finding) bool {
	return !slices.ContainsFunc(mistakes, func(m Finding) bool {
		return !slices.ContainsFunc([]string{"a schema reads no other", "no address of its own", "no keyword of draft 2020-12", "a NUL character"},
			func(reason string) bool { return strings.Contains(m.Says, reason) })
	})
}

// run reports whether the schema is one that is taken.
func (g group) run(t *testing.T) bool {
	s, mistakes := CompileSchema("s.json", g.Schema)
	if s == nil {
		if !refusable(mistakes) {
			t.Errorf("got %v for %s", mistakes, g.Schema)
		}
		return false
	}
	for _, c := range g.Tests {
		value, _, err := read(c.Data, widest())
		if err != nil {
			t.Errorf("%s: %v", c.Description, err)
			continue
		}
		loud := &checker{names: s.names}
		if got := (&checker{quiet: true}).fits(s.root, value, nil); got != c.Valid || loud.fits(s.root, value, nil) != got {
			t.Errorf("%s: got %v, want %v: %s by %s", c.Description, got, c.Valid, c.Data, g.Schema)
		}
		if c.Valid != (len(loud.found) == 0) {
			t.Errorf("%s: found %v", c.Description, loud.found)
		}
	}
	keepsSecret(t, s)
	return true
}

// keepsSecret: whatever the schema and whichever keyword refuses, a refusal has
// nothing of the body in it.
func keepsSecret(t *testing.T, s *Schema) {
	t.Helper()
	for _, body := range []string{
		`"hunter2"`, `4711.4711`, `["hunter2",4711,["hunter2"],{"hunter2":4711}]`, `{"hunter2":"hunter2","foo":"hunter2","bar":["hunter2",4711]}`,
		`{"foo":{"hunter2":{"hunter2":"hunter2"}},"bar":{"foo":4711}}`, `{"a":"hunter2","b":"hunter2","c":["hunter2"]}`, `["hunter2","hunter2"]`,
	} {
		_, err := JSON{Schema: s}.Inspect([]byte(body))
		if err != nil && (strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "4711")) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
