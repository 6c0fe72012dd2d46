package files

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// FuzzPath: whatever the path, what is opened lies in the workspace, is a file or a
// directory, and both ways to open say the same.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"inside.txt", "../outside/secret.txt", "folder/../inside.txt", "chain/main.go", "dangling/", "root/etc/hostname", "fifo", "broken/x"} {
		f.Add(seed)
	}
	with := newWorld(f)
	with.furnish()
	w, err := Open(Config{Folder: with.folder, rootOnly: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = w.Close() })
	f.Fuzz(func(t *testing.T, path string) {
		with := &world{Workspace: with.Workspace, t: t}
		without := &world{Workspace: w, t: t}
		a, b := with.opened(path), without.opened(path)
		if a != b {
			t.Errorf("%q: %q with openat2, %q without", path, a, b)
		}
	})
}

// opened says where a path leads, or why nowhere.
func (x *world) opened(path string) string {
	x.t.Helper()
	f, err := x.find(path)
	if err != nil {
		refused := (*Refusal)(nil)
		if !errors.As(err, &refused) {
			x.t.Fatalf("%q: %v", path, err)
		}
		return "refused: " + string(refused.Reason)
	}
	rel, err := x.within(f.fd)
	if err = errors.Join(err, f.close()); err != nil {
		x.t.Fatalf("%q was opened outside: %v", path, err)
	}
	kind := f.stat.Mode & unix.S_IFMT
	if strings.HasPrefix(rel, "..") || kind != unix.S_IFREG && kind != unix.S_IFDIR {
		x.t.Fatalf("%q led to %q, mode %o", path, rel, kind)
	}
	return rel
}

// FuzzFold: folding twice is folding once, and a name is protected in whatever case.
func FuzzFold(f *testing.F) {
	for _, seed := range []string{".git", ".G\u0130t", "ﬁ.", "GIT~1", "\u200b. .", "ẞ", "a:b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		once := fold(name)
		if again := fold(once); again != once {
			t.Errorf("%q folds to %q, and that to %q", name, once, again)
		}
		if upper := fold(strings.ToUpper(once)); isASCII(once) && upper != once {
			t.Errorf("%q folds to %q, in upper case to %q", name, once, upper)
		}
		if shown := show(name); strings.ContainsAny(shown, "\n\r\x1b\u202e\u200b") {
			t.Errorf("%q is shown as %q", name, shown)
		}
	})
}

func isASCII(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 0x7f }) < 0 }
