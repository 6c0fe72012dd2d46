package files

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWrite(t *testing.T) {
	openers(t, func(t *testing.T, with func(*Config)) {
		x := newWorld(t, with)
		text, reason := x.call("write", args{"path": "a/b/c.txt", "content": "one\ntwo"})
		if reason != "" || text != "created a/b/c.txt: 7 bytes, 2 lines\n" || x.text("a/b/c.txt") != "one\ntwo" {
			t.Errorf("%s: %s", reason, text)
		}
		if err := os.Chmod(x.in("a/b/c.txt"), os.ModeSetuid|0o750); err != nil {
			t.Fatal(err)
		}
		text, reason = x.call("write", args{"path": "a/b/c.txt", "content": ""})
		if reason != "" || text != "replaced a/b/c.txt: 0 bytes, 0 lines\n" || x.text("a/b/c.txt") != "" {
			t.Errorf("%s: %s", reason, text)
		}
		if info, err := os.Stat(x.in("a/b/c.txt")); err != nil || info.Mode() != 0o750 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if entries, err := os.ReadDir(x.in("a/b")); err != nil || len(entries) != 1 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
		x.link("a/b/c.txt", "link")
		if text, reason := x.call("write", args{"path": "link", "content": "through"}); reason != "" || x.text("a/b/c.txt") != "through" {
			t.Errorf("%s: %s", reason, text)
		}
		if info, err := os.Lstat(x.in("link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is now %v, %v", info.Mode(), err)
		}
	})
}

func TestWriteConditions(t *testing.T) {
	x := newWorld(t)
	now := digest([]byte("inside\n"))
	for _, row := range []struct {
		name string
		args args
		want Reason
	}{
		{"must not exist", args{"path": "inside.txt", "content": "x", "must_not_exist": true}, Conflict},
		{"another digest", args{"path": "inside.txt", "content": "x", "expected_sha256": digest(nil)}, Conflict},
		{"a digest, nothing there", args{"path": "new/file", "content": "x", "expected_sha256": now}, Missing},
		{"the digest", args{"path": "inside.txt", "content": "x", "expected_sha256": now}, ""},
		{"must not exist, and does not", args{"path": "new.txt", "content": "x", "must_not_exist": true}, ""},
	} {
		if text, reason := x.call("write", row.args); reason != row.want {
			t.Errorf("%s: %q, want %q: %s", row.name, reason, row.want, text)
		}
	}
	if x.exists(x.in("new")) || x.text("inside.txt") != "x" {
		t.Errorf("inside.txt is %q; new exists: %v", x.text("inside.txt"), x.exists(x.in("new")))
	}
}

// TestWriteOwner: what root writes belongs to whoever works in the folder.
func TestWriteOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only root can give files away
	}
	x := newWorld(t)
	if err := os.Chown(x.folder, 4711, 4712); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(x.in("inside.txt"), 4713, 4714); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"new/deep/file", "inside.txt"} {
		if text, reason := x.call("write", args{"path": path, "content": "x"}); reason != "" {
			t.Fatal(text)
		}
	}
	for path, want := range map[string]uint32{"new": 4711, "new/deep": 4711, "new/deep/file": 4711, "inside.txt": 4713} {
		var st unix.Stat_t
		if err := unix.Lstat(x.in(path), &st); err != nil || st.Uid != want || st.Gid != want+1 {
			t.Errorf("%s belongs to %d:%d, %v", path, st.Uid, st.Gid, err)
		}
	}
}

// TestWriteTogether: of calls that edit one file at a time none is lost.
func TestWriteTogether(t *testing.T) {
	x := newWorld(t)
	var before, after strings.Builder
	for i := range 20 {
		fmt.Fprintf(&before, "old %02d\n", i)
		fmt.Fprintf(&after, "new %02d\n", i)
	}
	x.file("together", before.String())
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			text, reason := x.call("edit", args{"path": "together", "old_string": fmt.Sprintf("old %02d", i), "new_string": fmt.Sprintf("new %02d", i)})
			if reason != "" {
				t.Errorf("edit %d: %s: %s", i, reason, text)
			}
		})
	}
	all.Wait()
	if got := x.text("together"); got != after.String() {
		t.Errorf("got %q", got)
	}
}

// TestWriteFails: nothing is left, and the old file is whole, when the disk is full.
func TestWriteFails(t *testing.T) {
	x := newWorld(t)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	small := unix.Rlimit{Cur: 1 << 16, Max: old.Max}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	text, reason := x.call("write", args{"path": "inside.txt", "content": strings.Repeat("x", 1<<20)})
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if reason != Failed || x.text("inside.txt") != "inside\n" {
		t.Errorf("%s: %s", reason, text)
	}
	if entries, err := os.ReadDir(x.folder); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
