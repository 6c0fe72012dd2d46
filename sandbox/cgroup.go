package sandbox

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/audit"
)

// group is the control group of one sandbox (cgroups(7)): a directory in the hierarchy of each controller, all of one name, below the supervisor's own
// group or beside it. A limit that has no hierarchy is in missing, with the reason.
type group struct {
	at      map[string]hierarchy // by the policy's word for the limit
	missing map[string]error
	unified *unified    // nil where version 2 has none of them
	memory  *os.File    // version 1: readable once the memory is used up
	spent   atomic.Bool // version 1: the sandbox was ended for it, perhaps before the kernel killed anything
}

// hierarchy is where one limit is held.
type hierarchy struct {
	version int
	dir     string // of the sandbox
}

// controllers are the kernel's names of what holds the limits.
func controllers() map[string]string {
	return map[string]string{"memory": "memory", "cpus": "cpu", "processes": "pids"}
}

// groupPrefix begins the name of every directory that is made here.
const groupPrefix = "scupper-"

// findGroup looks for the hierarchies that can hold the limits; that of processors only where it is wanted. It changes nothing.
func findGroup(cpus bool) *group {
	g := &group{at: make(map[string]hierarchy), missing: make(map[string]error)}
	random := make([]byte, 8)
	rand.Read(random)
	name := groupPrefix + hex.EncodeToString(random)
	own, err := ownGroups("/proc/self/mountinfo", "/proc/self/cgroup")
	for limit, controller := range controllers() {
		switch {
		case limit == "cpus" && !cpus:
		case err != nil:
			g.missing[limit] = err
		case own[controller] != "":
			g.at[limit] = hierarchy{1, filepath.Join(own[controller], name)}
		case own[""] != "":
			if g.unified == nil {
				g.unified = findUnified(own[""], name)
			}
			if err := g.unified.has(controller); err != nil {
				g.missing[limit] = err
				continue
			}
			g.at[limit] = hierarchy{2, filepath.Join(g.unified.parent, name)}
		default:
			g.missing[limit] = fmt.Errorf("controller %s: no cgroup file system is mounted", controller)
		}
	}
	return g
}

// ownGroups returns this process's directory in each mounted hierarchy: by controller for version 1, under the empty name for version 2.
func ownGroups(mountinfo, cgroup string) (map[string]string, error) {
	mounts, err := cgroupMounts(mountinfo)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(cgroup)
	if err != nil {
		return nil, fmt.Errorf("read own control groups: %w", err)
	}
	own := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) < 3 {
			continue
		}
		for _, controller := range strings.Split(fields[1], ",") {
			m, mounted := mounts[controller]
			rel, below := strings.CutPrefix(fields[2], strings.TrimSuffix(m.root, "/"))
			if mounted && below && !strings.Contains(rel, "..") {
				own[controller] = filepath.Join(m.at, rel)
			}
		}
	}
	return own, nil
}

// cgroupMount is where a hierarchy is mounted, and which of its groups that shows.
type cgroupMount struct{ at, root string }

// cgroupMounts reads the mounts by controller (proc_pid_mountinfo(5)).
func cgroupMounts(mountinfo string) (map[string]cgroupMount, error) {
	f, err := os.Open(mountinfo)
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	defer f.Close()
	mounts := make(map[string]cgroupMount)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		front, back, _ := strings.Cut(lines.Text(), " - ")
		place, kind := strings.Fields(front), strings.Fields(back)
		if len(place) < 5 || len(kind) < 3 {
			continue
		}
		m := cgroupMount{at: place[4], root: place[3]}
		switch kind[0] {
		case "cgroup":
			for _, option := range strings.Split(kind[2], ",") {
				mounts[option] = m
			}
		case "cgroup2":
			mounts[""] = m
		}
	}
	return mounts, nil
}

// hint says how a limit can be held that is missing.
func (g *group) hint() string {
	if g.unified == nil {
		return hintGroups1
	}
	return hintGroups2
}

// memoryTotal is what this process could use itself, in bytes: the machine's memory, or what its own group has of it.
func (g *group) memoryTotal() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	total := info.Totalram * uint64(info.Unit)
	limit := ""
	switch h := g.at["memory"]; h.version {
	case 1:
		limit = filepath.Join(filepath.Dir(h.dir), "memory.limit_in_bytes")
	case 2:
		limit = filepath.Join(g.unified.own, "memory.max")
	}
	if w := words(limit); len(w) == 1 {
		if own, err := strconv.ParseUint(w[0], 10, 64); err == nil {
			total = min(total, own)
		}
	}
	return total
}

// dirs are the directories of the sandbox.
func (g *group) dirs() []string {
	var dirs []string
	for _, h := range g.at {
		dirs = append(dirs, h.dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// marks are all directories that a run may leave when it is killed.
func (g *group) marks() []string {
	if g.unified == nil || g.unified.leaf == "" {
		return g.dirs()
	}
	return append(g.dirs(), g.unified.leaf)
}

// make makes the directories and writes the limits. What cannot be done moves to missing.
func (g *group) make(l Limits) {
	for limit, h := range g.at {
		if err := g.hold(h, limit, l); err != nil {
			g.missing[limit] = fmt.Errorf("controller %s: %w", controllers()[limit], err)
			delete(g.at, limit)
			if !slices.Contains(g.dirs(), h.dir) {
				// It may not have come into being at all.
				_ = unix.Rmdir(h.dir)
			}
		}
	}
}

func (g *group) hold(h hierarchy, limit string, l Limits) error {
	if h.version == 2 {
		if err := g.unified.prepare(controllers()[limit]); err != nil {
			return err
		}
	}
	if err := os.Mkdir(h.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if h.version == 2 {
		return h.write2(limit, l)
	}
	if err := h.write1(limit, l); err != nil || limit != "memory" {
		return err
	}
	var err error
	g.memory, err = h.watchMemory()
	return err
}

// write puts values into files of the group.
func (h hierarchy) write(values ...[2]string) error {
	for _, v := range values {
		if err := put(filepath.Join(h.dir, v[0]), v[1]); err != nil {
			return err
		}
	}
	return nil
}

// put writes into a file of the kernel, which is there or a mistake.
func put(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// reached tells which limits the sandbox came up against. It is asked when the sandbox has ended.
func (g *group) reached(l Limits) []audit.Reached {
	var all []audit.Reached
	if h, ok := g.at["memory"]; ok && (g.spent.Load() || h.count(map[int]string{1: "memory.oom_control", 2: "memory.events"}, "oom_kill") > 0) {
		all = append(all, audit.Reached{Limit: "memory", Says: "the sandbox used its " + size(l.Memory) + " of memory and was ended", Ended: true})
	}
	if h, ok := g.at["processes"]; ok && h.count(map[int]string{1: "pids.events", 2: "pids.events"}, "max") > 0 {
		all = append(all, audit.Reached{Limit: "processes", Says: fmt.Sprintf("the sandbox had its %d processes and could not start more", l.Processes)})
	}
	if h, ok := g.at["cpus"]; ok {
		waited := time.Duration(h.count(map[int]string{1: "cpu.stat", 2: "cpu.stat"}, map[int]string{1: "throttled_time", 2: "throttled_usec"}[h.version]))
		if h.version == 2 {
			waited *= time.Microsecond
		}
		if waited > 0 {
			all = append(all, audit.Reached{Limit: "cpus", Says: fmt.Sprintf("the sandbox was held to %v CPUs and waited %v for them", l.CPUs, waited.Round(10*time.Millisecond))})
		}
	}
	return all
}

// count reads one number of a file of the form "name number" by line; what cannot be read is 0.
func (h hierarchy) count(file map[int]string, name string) int64 {
	text, err := os.ReadFile(filepath.Join(h.dir, file[h.version]))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return 0
}

// remove removes the directories.
func (g *group) remove() error {
	if g == nil {
		return nil
	}
	if g.memory != nil {
		// A second call finds it closed.
		_ = g.memory.Close()
	}
	return errors.Join(removeGroups(g.dirs()), g.unified.restore())
}

// removeGroups removes groups that are of our making, with the processes that a killed run may have left in them.
func removeGroups(dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		if strings.HasPrefix(filepath.Base(dir), groupPrefix) {
			errs = append(errs, removeGroup(dir))
		}
	}
	return errors.Join(errs...)
}

func removeGroup(dir string) error {
	for until := time.Now().Add(2 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := unix.Rmdir(dir)
		switch {
		case err == nil || errors.Is(err, unix.ENOENT):
			return nil
		case !errors.Is(err, unix.EBUSY) || time.Now().After(until):
			return fmt.Errorf("remove control group %q: %w", dir, err)
		}
		killGroup(dir)
	}
}

// killGroup ends what is in a group. Its members are processes of a sandbox, which nobody else's numbers stand for while they are listed.
func killGroup(dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return
	}
	for _, word := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 1 && pid != os.Getpid() {
			// One that has ended meanwhile is what is wanted.
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}
