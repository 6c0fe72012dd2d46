package files

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/gateway"
)

const secret = "outside bytes 7f3a"

// world is a workspace, and beside it what must not be reached.
type world struct {
	*Workspace
	t       testing.TB
	outside string
}

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	dir := t.TempDir()
	x := &world{t: t, outside: filepath.Join(dir, "outside")}
	x.put(filepath.Join(x.outside, "secret.txt"), secret)
	x.put(filepath.Join(dir, "work-evil", "x"), secret)
	x.put(filepath.Join(dir, "work", "inside.txt"), "inside\n")
	x.put(filepath.Join(dir, "work", "src", "main.go"), "package main\n")
	c := Config{Folder: filepath.Join(dir, "work")}
	for _, f := range change {
		f(&c)
	}
	w, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	x.Workspace = w
	return x
}

// openers runs a test with openat2 and without.
func openers(t *testing.T, run func(t *testing.T, with func(*Config))) {
	t.Run("openat2", func(t *testing.T) { run(t, func(*Config) {}) })
	t.Run("os.Root", func(t *testing.T) { run(t, func(c *Config) { c.rootOnly = true }) })
}

func (x *world) put(path, text string) {
	x.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

// in is a path in the workspace, for the test itself.
func (x *world) in(rel string) string { return filepath.Join(x.folder, rel) }

func (x *world) file(rel, text string) { x.t.Helper(); x.put(x.in(rel), text) }

func (x *world) link(target, rel string) {
	x.t.Helper()
	if err := os.MkdirAll(filepath.Dir(x.in(rel)), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.Symlink(target, x.in(rel)); err != nil {
		x.t.Fatal(err)
	}
}

func (x *world) text(rel string) string {
	x.t.Helper()
	text, err := os.ReadFile(x.in(rel))
	if err != nil {
		x.t.Fatal(err)
	}
	return string(text)
}

func (x *world) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

type args map[string]any

// call calls a tool and returns its text, and the reason of a refusal.
func (x *world) call(name string, a args) (string, Reason) {
	x.t.Helper()
	r, reason := x.result(name, a)
	return r.Content[0].Text, reason
}

func (x *world) result(name string, a args) (gateway.Result, Reason) {
	x.t.Helper()
	encoded, err := json.Marshal(a)
	if err != nil {
		x.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(x.t.Context(), time.Minute)
	defer cancel()
	c := &gateway.Call{Tool: name, Role: "default", Arguments: encoded, Progress: func(float64, float64, string) {}}
	for _, e := range x.Entries() {
		if e.Definition.Name != name {
			continue
		}
		r, err := e.Tool.(tool)(ctx, c)
		if err == nil {
			return r, ""
		}
		refused := (*Refusal)(nil)
		if !errors.As(err, &refused) {
			x.t.Fatalf("%s %v: %v is no refusal", name, a, err)
		}
		return failure(c, err), refused.Reason
	}
	x.t.Fatalf("no tool %s", name)
	return gateway.Result{}, ""
}

// each calls the tool so that it works on the path in its own way.
func (x *world) each(name, path string) (string, Reason) {
	x.t.Helper()
	switch name {
	case "write":
		return x.call(name, args{"path": path, "content": "written\n"})
	case "edit":
		return x.call(name, args{"path": path, "old_string": "outside", "new_string": "edited"})
	case "glob":
		return x.call(name, args{"path": path, "pattern": "**"})
	case "grep":
		return x.call(name, args{"path": path, "pattern": "bytes|inside"})
	}
	return x.call(name, args{"path": path})
}

func (x *world) untouched() {
	x.t.Helper()
	text, err := os.ReadFile(filepath.Join(x.outside, "secret.txt"))
	if err != nil || string(text) != secret {
		x.t.Fatalf("the file outside is %q, %v", text, err)
	}
	entries, err := os.ReadDir(x.outside)
	if err != nil || len(entries) != 1 {
		x.t.Fatalf("outside there is now %v, %v", entries, err)
	}
	entries, err = os.ReadDir(filepath.Dir(x.outside))
	if err != nil || len(entries) != 3 {
		x.t.Fatalf("beside the workspace there is now %v, %v", entries, err)
	}
	text, err = os.ReadFile(filepath.Join(filepath.Dir(x.outside), "work-evil", "x"))
	if err != nil || string(text) != secret {
		x.t.Fatalf("the file beside is %q, %v", text, err)
	}
}

func fifo(t testing.TB, path string) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func contextThatEnds(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), time.Minute)
}
