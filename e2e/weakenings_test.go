package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// weakening is one deliberate mistake in a policy of the pack, as a change of its text.
type weakening struct {
	Name     string
	Policy   string   // in scenarios/policies
	Says     string   // what it does, in a few words
	From, To string   // the first occurrence is replaced
	CaughtBy []string `json:"caught_by"` // scenarios, with the key of their for_each, that find it
}

func weakenings(t *testing.T) (list []weakening) {
	t.Helper()
	text, err := os.ReadFile("scenarios/weakenings.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// blocks are the scenarios of the pack as text, by name.
func blocks(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	paths, err := filepath.Glob("scenarios/*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?ms)^scenario "([^"]+)" \{\n.*?^\}\n`)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = m[0]
		}
	}
	return out
}

// only leaves one key in the first for_each of a scenario.
func only(t *testing.T, block, key string) string {
	t.Helper()
	if key == "" {
		return block
	}
	if list := regexp.MustCompile(`for_each = \[[^\]]*"` + regexp.QuoteMeta(key) + `"[^\]]*\]`); list.MatchString(block) {
		return list.ReplaceAllString(block, fmt.Sprintf("for_each = [%q]", key))
	}
	each := regexp.MustCompile(`(?ms)^  for_each = \{\n(.*?)^  \}\n`).FindStringSubmatch(block)
	if each == nil {
		t.Fatalf("no for_each with %q in\n%s", key, block)
	}
	line := regexp.MustCompile(`(?m)^ +` + regexp.QuoteMeta(key) + ` += .*\n`).FindString(each[1])
	if line == "" {
		t.Fatalf("no key %q in\n%s", key, block)
	}
	return strings.Replace(block, each[1], line, 1)
}

// exercise is a folder of the scenarios that catch the weakenings, each with policies of
// its own; weak says whether these are weakened.
func (w *world) exercise(list []weakening, weak bool) string {
	w.t.Helper()
	dir := w.user.folder(w.t, "weak") + "/weak"
	mkdir := func(path string) {
		if err := os.MkdirAll(path, 0o700); err != nil {
			w.t.Fatal(err)
		}
		w.user.own(w.t, path)
	}
	if services, err := os.ReadFile("scenarios/services.hcl"); err == nil {
		w.user.file(w.t, filepath.Join(dir, "services.hcl"), services)
	}
	all := blocks(w.t)
	for i, x := range list {
		own := filepath.Join(dir, fmt.Sprint(i))
		mkdir(own)
		mkdir(filepath.Join(own, "policies"))
		policies, err := filepath.Glob("scenarios/policies/*")
		if err != nil {
			w.t.Fatal(err)
		}
		for _, path := range policies {
			text, err := os.ReadFile(path)
			if err != nil {
				w.t.Fatal(err)
			}
			if weak && filepath.Base(path) == x.Policy {
				changed := strings.Replace(string(text), x.From, x.To, 1)
				if changed == string(text) {
					w.t.Fatalf("%s: %s has no %q", x.Name, path, x.From)
				}
				text = []byte(changed)
			}
			w.user.file(w.t, filepath.Join(own, "policies", filepath.Base(path)), text)
		}
		var scenarios string
		for _, by := range x.CaughtBy {
			name, key, _ := strings.Cut(strings.TrimSuffix(by, "]"), "[")
			block := all[name]
			if block == "" {
				w.t.Fatalf("%s: no scenario is named %q", x.Name, name)
			}
			scenarios += strings.Replace(only(w.t, block, key), fmt.Sprintf("scenario %q", name), fmt.Sprintf("scenario %q", fmt.Sprintf("w%d-%s", i, name)), 1) + "\n"
		}
		w.user.file(w.t, filepath.Join(own, "catch.hcl"), []byte(scenarios))
	}
	return dir
}

// caught says which weakenings a scenario found: something leaked, or went through. A job
// that was refused, or a scenario that could not run, finds nothing.
func (r *replayed) caught() map[string]bool {
	found := make(map[string]bool)
	for _, result := range r.Results {
		index, _, _ := strings.Cut(strings.TrimPrefix(result.Name, "w"), "-")
		for _, f := range result.Faults {
			found[index] = found[index] || f.Kind == "leak" || f.Kind == "verdict"
		}
	}
	return found
}

// TestWeakeningsAreCaught makes 30 mistakes and more in policies of the pack. Each is
// found by a scenario that passes under the policy as it is.
func TestWeakeningsAreCaught(t *testing.T) {
	list := weakenings(t)
	if len(list) < 30 {
		t.Errorf("%d weakenings, want 30", len(list))
	}
	names := make([]string, len(list))
	for i, x := range list {
		if names[i] = x.Name; x.Says == "" || len(x.CaughtBy) == 0 || slices.Contains(names[:i], x.Name) {
			t.Errorf("%s: it says nothing, names no scenario, or is there twice", x.Name)
		}
	}
	const some = 12 // at once, so that each replay has its end in time
	w := newWorld(t, ordinaryUser(t))
	for from := 0; from < len(list); from += some {
		part := list[from:min(from+some, len(list))]
		if control := w.scupper("replay", "--json", w.exercise(part, false)).wantExit(0).replayed(); !control.OK || control.Scenarios < len(part) {
			t.Fatalf("under the policies as they are: %+v", control)
		}
		got := w.scupper("replay", "--json", w.exercise(part, true)).wantExit(1).replayed()
		found := got.caught()
		t.Logf("%d scenarios", got.Scenarios)
		for i, x := range part {
			t.Run(x.Name, func(t *testing.T) {
				if !found[fmt.Sprint(i)] {
					t.Errorf("no scenario notices that %s\n%+v", x.Says, got.Results)
				}
			})
		}
	}
}

// TestWeakeningsWiden: each of them permits more, which `policy diff` says as well.
func TestWeakeningsWiden(t *testing.T) {
	list := weakenings(t)
	w := newWorld(t, ordinaryUser(t))
	dir := w.exercise(list, true)
	before := w.exercise(list[:1], false)
	for i, x := range list {
		t.Run(x.Name, func(t *testing.T) {
			old := filepath.Join(before, "0/policies", x.Policy)
			a := w.scupper("policy", "diff", old, filepath.Join(dir, fmt.Sprint(i), "policies", x.Policy))
			if a.exit != 1 {
				t.Errorf("exit %d: %s%s", a.exit, a.stdout, a.stderr)
			}
		})
	}
}
