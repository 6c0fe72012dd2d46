package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// unified is the place of a sandbox in the one hierarchy of version 2 (kernel: Documentation/admin-guide/cgroup-v2.rst).
//
// A group with processes of its own cannot hand controllers on to groups below it ("no internal processes"). Where this process is alone in its
// group, as under "systemd-run --scope -p Delegate=yes", it moves into a leaf. Where it is not, the sandbox comes beside the group, and only the
// controllers that the parent hands on already can be used: the parent is the service manager's to change.
type unified struct {
	own    string // this process's group
	parent string // of the sandbox's group
	leaf   string // where this process moves; empty: it stays
	shared bool   // the parent is not ours to change
}

// leafSuffix ends the name of the leaf that a supervisor moves into.
const leafSuffix = "-supervisor"

func findUnified(own, name string) *unified {
	base := filepath.Base(own)
	switch {
	case isRootGroup(own):
		return &unified{own: own, parent: own}
	case strings.HasPrefix(base, groupPrefix) && strings.HasSuffix(base, leafSuffix):
		// The supervisor of a series has moved, and moves back when all of its sandboxes are gone.
		return &unified{own: own, parent: filepath.Dir(own)}
	case slices.Equal(words(filepath.Join(own, "cgroup.procs")), []string{strconv.Itoa(os.Getpid())}):
		return &unified{own: own, parent: own, leaf: filepath.Join(own, name+leafSuffix)}
	default:
		return &unified{own: own, parent: filepath.Dir(own), shared: true}
	}
}

// isRootGroup reports whether a directory is the root of the hierarchy, which alone has no events.
func isRootGroup(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "cgroup.events"))
	return errors.Is(err, fs.ErrNotExist)
}

// words are the words of a file; what cannot be read has none.
func words(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

func (u *unified) has(controller string) error {
	file := "cgroup.controllers"
	if u.shared {
		file = "cgroup.subtree_control"
	}
	if !slices.Contains(words(filepath.Join(u.parent, file)), controller) {
		return fmt.Errorf("controller %s: not in %s", controller, filepath.Join(u.parent, file))
	}
	return nil
}

// prepare makes the parent hand a controller on.
func (u *unified) prepare(controller string) error {
	if u.shared {
		return nil
	}
	if u.leaf != "" && !exists(u.leaf) {
		if err := os.Mkdir(u.leaf, 0o755); err != nil {
			return err
		}
		if err := moveTo(u.leaf, os.Getpid()); err != nil {
			return err
		}
	}
	return put(filepath.Join(u.parent, "cgroup.subtree_control"), "+"+controller)
}

// settle moves this process for a series of sandboxes, whose groups then come beside its
// leaf. What cannot be handed on there is missing in each of them, with the reason.
func settle() *unified {
	g := findGroup(true)
	if g.unified == nil || g.unified.leaf == "" {
		return nil
	}
	for limit, h := range g.at {
		if h.version == 2 {
			_ = g.unified.prepare(controllers()[limit])
		}
	}
	return g.unified
}

// restore moves this process back, when the sandbox's group is gone.
func (u *unified) restore() error {
	if u == nil || u.leaf == "" || !exists(u.leaf) {
		return nil
	}
	var errs []error
	for _, controller := range words(filepath.Join(u.parent, "cgroup.subtree_control")) {
		errs = append(errs, put(filepath.Join(u.parent, "cgroup.subtree_control"), "-"+controller))
	}
	errs = append(errs, moveTo(u.own, os.Getpid()), removeGroup(u.leaf))
	return errors.Join(errs...)
}

// open opens the group of version 2, in which a process can be started (clone3(2), CLONE_INTO_CGROUP), or returns nil where there is none.
func (g *group) open() (*os.File, error) {
	for _, h := range g.at {
		if h.version == 2 {
			return os.Open(h.dir)
		}
	}
	return nil, nil
}

func moveTo(dir string, pid int) error {
	return put(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(pid))
}

// write2 sets one limit.
func (h hierarchy) write2(limit string, l Limits) error {
	switch limit {
	case "memory":
		// One process that is killed for want of memory takes all others along.
		if err := h.write([2]string{"memory.max", strconv.FormatUint(l.Memory, 10)}, [2]string{"memory.oom.group", "1"}); err != nil {
			return err
		}
		// A kernel without swap has no such file.
		if err := h.write([2]string{"memory.swap.max", "0"}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	case "cpus":
		return h.write([2]string{"cpu.max", fmt.Sprintf("%s %d", quota(l.CPUs), cpuPeriod)})
	default:
		return h.write([2]string{"pids.max", l.tasks()})
	}
}
