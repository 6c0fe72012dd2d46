package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestManyRunsLeaveNothing makes runs one after another and in parallel, and looks for what they could leave.
func TestManyRunsLeaveNothing(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			mark := fmt.Sprintf("mark=%d.%d", os.Getpid(), u.uid)
			trifle := shell("true " + mark)
			w.run(trifle).wantExit(0)
			before := leftovers(t, w, mark)
			for range 20 {
				w.run(trifle).wantExit(0)
			}
			inParallel(w, trifle, 10)
			after := leftovers(t, w, mark)
			for until := time.Now().Add(5 * time.Second); !slices.Equal(after, before) && time.Now().Before(until); after = leftovers(t, w, mark) {
				time.Sleep(50 * time.Millisecond) // groups of other tests come and go
			}
			if diff := cmp.Diff(after, before); diff != "" {
				t.Errorf("left behind (-after +before):\n%s", diff)
			}
		})
	}
}

func inParallel(w *world, c client, n int) {
	w.t.Helper()
	var parallel sync.WaitGroup
	for range n {
		argv, _ := w.runArgs(c)
		parallel.Go(func() {
			if out, err := w.command(w.t.Context(), argv, nil).CombinedOutput(); err != nil {
				w.t.Errorf("in parallel: %v: %s", err, out)
			}
		})
	}
	parallel.Wait()
}

// leftovers are the files of a world but its logs and their signed heads, the mounts, the processes with a mark on their command line, and the control groups that are of
// nobody's run.
func leftovers(t *testing.T, w *world, mark string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if path == w.at("audit") {
			return fs.SkipDir
		}
		if filepath.Base(path) == "heads" && d != nil && d.IsDir() { // one for each log, and what is open while it runs
			open, _ := filepath.Glob(filepath.Join(path, "*", "open", "*"))
			all = append(all, open...)
			return fs.SkipDir
		}
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		all = append(all, "mount "+strings.Fields(line)[4])
	}
	return append(append(all, marked(t, mark)...), emptyGroups(t)...)
}

func marked(t *testing.T, mark string) []string {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range processes {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), mark) {
			found = append(found, fmt.Sprintf("%s: %q", path, text))
		}
	}
	return found
}

// emptyGroups are the control groups of runs that have no process.
func emptyGroups(t *testing.T) []string {
	t.Helper()
	var found []string
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || !strings.HasPrefix(d.Name(), "scupper-") {
			return nil // groups come and go while they are looked at
		}
		if text, err := os.ReadFile(filepath.Join(path, "cgroup.procs")); err == nil && len(text) == 0 {
			found = append(found, path)
		}
		return nil
	})
	return found
}
