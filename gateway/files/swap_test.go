package files

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const swaps = 34_000 // of three names each

// attacker swaps, as fast as it can, a file and a directory of the workspace for links
// to outside and back.
type attacker struct {
	x    *world
	dir  int
	done chan error
}

func (x *world) attack(n int) *attacker {
	x.t.Helper()
	x.file("flip", "inside one\n")
	x.link("../outside/secret.txt", "flip.other")
	x.file("flap/inside.txt", "inside two\n")
	x.link("../outside", "flap.other")
	x.file("trap/outside/secret.txt", "inside three\n")
	x.link(filepath.Dir(x.outside), "trap.other")
	dir, err := unix.Open(x.folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		x.t.Fatal(err)
	}
	a := &attacker{x: x, dir: dir, done: make(chan error, 1)}
	go func() { a.done <- a.run(n) }()
	return a
}

func (a *attacker) run(n int) error {
	for i := range n {
		for _, name := range []string{"flip", "flap", "trap"} {
			if err := unix.Renameat2(a.dir, name, a.dir, name+".other", unix.RENAME_EXCHANGE); err != nil {
				return err
			}
		}
		if i%8 == 0 {
			if err := a.relink(); err != nil {
				return err
			}
		}
	}
	return unix.Close(a.dir)
}

// relink makes the link anew if a tool has put a file in its place.
func (a *attacker) relink() error {
	for _, name := range []string{"flip", "flip.other"} {
		var st unix.Stat_t
		if err := unix.Fstatat(a.dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return err
		}
	}
	if err := unix.Symlinkat("../outside/secret.txt", a.dir, "new"); err != nil {
		return err
	}
	return unix.Renameat(a.dir, "new", a.dir, "flip.other")
}

// TestSwap: whatever is swapped while a tool works, not one byte from outside is read,
// and not one is written there.
func TestSwap(t *testing.T) {
	openers(t, func(t *testing.T, with func(*Config)) {
		for _, name := range tools() {
			t.Run("TOOL-04 "+name, func(t *testing.T) {
				x := newWorld(t, with)
				a := x.attack(swaps)
				seen := map[Reason]int{}
				for {
					select {
					case err := <-a.done:
						if err != nil {
							t.Fatal(err)
						}
						x.untouched()
						if (seen[""] == 0 && seen[Unmatched] == 0) || seen[Outside] == 0 {
							t.Errorf("nothing was raced for: %v", seen)
						}
						t.Logf("%d swaps: %v", 3*swaps, seen)
						return
					default:
						x.strike(name, seen)
					}
				}
			})
		}
	})
}

// strike calls a tool on what is being swapped.
func (x *world) strike(name string, seen map[Reason]int) {
	x.t.Helper()
	for _, path := range []string{"flip", "flap/inside.txt", "flap/secret.txt", "flap/new", "flap", ".", "trap/outside/secret.txt"} {
		text, reason := x.each(name, path)
		seen[reason]++
		if strings.Contains(text, secret) || name == "glob" && strings.Contains(text, "work-evil") {
			x.t.Fatalf("%s %s: %s", name, path, text)
		}
	}
}
