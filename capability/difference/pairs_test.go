package difference

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"scupper.dev/scupper/capability/policyfile"
)

var update = flag.Bool("update", false, "rewrite what the pairs in testdata expect")

// TestPairs compares the two policies of each file in testdata/pairs. The first word of
// a file is what is true of them, and is not rewritten by -update.
func TestPairs(t *testing.T) {
	names, err := filepath.Glob("testdata/pairs/*.txtar")
	if err != nil || len(names) < 60 {
		t.Fatalf("%d pairs, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			old, changed := parsed(t, archive, "old.hcl"), parsed(t, archive, "new.hcl")
			r := between(t, old, changed)
			truth, _, _ := strings.Cut(string(archive.Comment), ":")
			if got := verdictOf(r); got != truth {
				t.Errorf("got %s, want %s", got, truth)
			}
			proved(t, r, old, changed)
			want := &archive.Files[len(archive.Files)-1]
			got := text(t, r)
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(got, string(want.Data)); diff != "" {
				t.Errorf("got -, want +:\n%s", diff)
			}
			if back := between(t, changed, old); verdictOf(back) != reversed(truth) && !ambiguous(back) {
				t.Errorf("the other way round: got %s, want %s", verdictOf(back), reversed(truth))
			}
		})
	}
}

func parsed(t *testing.T, a *txtar.Archive, name string) *policyfile.File {
	t.Helper()
	read := func(path string) ([]byte, error) {
		for _, f := range a.Files {
			if f.Name == path {
				return f.Data, nil
			}
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not in the archive")}
	}
	text, err := read(name)
	if err != nil {
		t.Fatal(err)
	}
	f, diags := policyfile.Parse(name, text, policyfile.Options{ReadFile: read})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return f
}

// verdictOf is "same", "wider", "narrower" or "both".
func verdictOf(r *Report) string {
	less := len(r.Narrower) > 0
	for _, l := range r.Limits {
		less = less || !l.Wider
	}
	for _, s := range r.Settings {
		less = less || !s.Wider
	}
	switch {
	case r.Widened && less:
		return "both"
	case r.Widened:
		return "wider"
	case less:
		return "narrower"
	}
	return "same"
}

func reversed(truth string) string {
	switch truth {
	case "wider":
		return "narrower"
	case "narrower":
		return "wider"
	}
	return truth
}

// ambiguous reports whether the report has what counts as wider in both directions.
func ambiguous(r *Report) bool {
	for _, s := range r.Settings {
		if s.Note == noDirection || strings.HasSuffix(s.Note, noDirection) {
			return true
		}
	}
	for _, s := range r.Wider {
		for _, p := range s.Pieces {
			if !p.Certain {
				return true
			}
		}
	}
	return false
}

// proved decides every example again, in the role that it is about.
func proved(t *testing.T, r *Report, old, changed *policyfile.File) {
	t.Helper()
	c := newComparison()
	check := func(role string, e *Example, wider bool) {
		t.Helper()
		if e.Tool != "" {
			role = ""
		}
		before, err1 := c.side(old, role)
		after, err2 := c.side(changed, role)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if wider {
			before, after = after, before
		}
		proof(t, 0, e, before, after)
	}
	for _, half := range []struct {
		sets  []Set
		wider bool
	}{{r.Wider, true}, {r.Narrower, false}} {
		for _, s := range half.sets {
			for _, p := range s.Pieces {
				switch {
				case p.Example != nil:
					check(s.Role, p.Example, half.wider)
				case p.Certain:
					t.Errorf("%s %v is certain without an example", s.URL, p.Only)
				}
			}
		}
	}
	for _, l := range r.Limits {
		if l.Example != nil {
			check(l.Role, l.Example, l.Wider)
		}
	}
	for _, s := range r.Settings {
		if s.Example != nil {
			check("", s.Example, s.Wider)
		}
	}
}
