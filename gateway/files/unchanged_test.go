package files

import (
	"os"
	"testing"

	"scupper.dev/scupper/gateway"
)

// TestChangedMeanwhile: what somebody else does between looking and replacing is kept.
func TestChangedMeanwhile(t *testing.T) {
	for name, change := range map[string]func(x *world) error{
		"written to": func(x *world) error { return os.WriteFile(x.in("inside.txt"), []byte("somebody else's"), 0o644) },
		"replaced": func(x *world) error {
			x.file("new", "somebody else's")
			return os.Rename(x.in("new"), x.in("inside.txt"))
		},
	} {
		x := newWorld(t)
		p, err := x.enter(t.Context(), &gateway.Call{}, "inside.txt", false)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(x); err != nil {
			t.Fatal(err)
		}
		checkConflict(x, name, x.replace(p, []byte("ours"), false), p, "inside.txt")
	}
	x := newWorld(t)
	p, err := x.enter(t.Context(), &gateway.Call{}, "later", true)
	if err != nil {
		t.Fatal(err)
	}
	x.file("later", "somebody else's")
	checkConflict(x, "created", x.replace(p, []byte("ours"), false), p, "later")
}

func checkConflict(x *world, name string, err error, p *place, path string) {
	x.t.Helper()
	if err == nil || x.text(path) != "somebody else's" {
		x.t.Errorf("%s: %q, %v", name, x.text(path), err)
	}
	if err := p.close(); err != nil {
		x.t.Error(err)
	}
	entries, err := os.ReadDir(x.folder)
	if want := map[bool]int{true: 2, false: 3}[path == "inside.txt"]; err != nil || len(entries) != want {
		x.t.Errorf("%s: left behind: %v, %v", name, entries, err)
	}
}
