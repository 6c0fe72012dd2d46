package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOwnGroups(t *testing.T) {
	for name, c := range map[string]struct {
		mounts, own string
		want        map[string]string
	}{
		"version 2": {
			"30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n", "0::/user.slice/session-3.scope\n",
			map[string]string{"": "/sys/fs/cgroup/user.slice/session-3.scope"},
		},
		"version 1, controllers together": {
			"31 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n32 23 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			"2:cpu,cpuacct:/a\n1:memory:/a/b\n",
			map[string]string{"cpu": "/sys/fs/cgroup/cpu,cpuacct/a", "cpuacct": "/sys/fs/cgroup/cpu,cpuacct/a", "memory": "/sys/fs/cgroup/memory/a/b"},
		},
		"a container sees its own part": {
			"32 23 0:29 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", "1:memory:/docker/abc\n0::/\n",
			map[string]string{"memory": "/sys/fs/cgroup/memory"},
		},
		"a group outside of the mount": {"32 23 0:29 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", "1:memory:/other\n", map[string]string{}},
		"above the namespace's root":   {"30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/../other\n", map[string]string{}},
		"not mounted":                  {"30 24 0:26 / /tmp rw - tmpfs tmpfs rw\n", "0::/x\n1:memory:/\n", map[string]string{}},
		"nonsense":                     {"- -\n\n", "x\n::\n", map[string]string{}},
	} {
		dir := t.TempDir()
		writeFile(t, dir+"/mountinfo", c.mounts)
		writeFile(t, dir+"/cgroup", c.own)
		got, err := ownGroups(dir+"/mountinfo", dir+"/cgroup")
		if diff := cmp.Diff(got, c.want); diff != "" || err != nil {
			t.Errorf("%s: %v (-got +want):\n%s", name, err, diff)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestUnifiedPlace is about where the sandbox's group comes; what the kernel makes of it needs a machine with version 2.
func TestUnifiedPlace(t *testing.T) {
	root := t.TempDir()
	self := strconv.Itoa(os.Getpid())
	for path, text := range map[string]string{
		"cgroup.controllers": "cpu memory pids\n", "slice/cgroup.events": "populated 1\n", "slice/cgroup.controllers": "cpu memory pids\n", "slice/cgroup.subtree_control": "memory pids\n",
		"slice/alone/cgroup.events": "", "slice/alone/cgroup.procs": self + "\n", "slice/alone/cgroup.controllers": "cpu memory\n",
		"slice/alone/scupper-2-supervisor/cgroup.events": "", "slice/alone/scupper-2-supervisor/cgroup.procs": self + "\n",
		"slice/full/cgroup.events": "", "slice/full/cgroup.procs": "1\n" + self + "\n", "slice/full/cgroup.controllers": "cpu memory\n",
	} {
		writeFile(t, filepath.Join(root, path), text)
	}
	for own, want := range map[string]struct {
		parent  string
		leaf    bool
		missing string
	}{
		"":            {"", false, ""},
		"slice/alone": {"slice/alone", true, "processes"},
		"slice/full":  {"slice", false, "cpus"},
		// A series: the group comes beside the leaf that it has moved into.
		"slice/alone/scupper-2-supervisor": {"slice/alone", false, "processes"},
	} {
		u := findUnified(filepath.Join(root, own), "scupper-1")
		if u.parent != filepath.Join(root, want.parent) || (u.leaf != "") != want.leaf {
			t.Errorf("%q: got %+v, want %+v", own, u, want)
		}
		for limit, controller := range controllers() {
			if err := u.has(controller); (err != nil) != (limit == want.missing) {
				t.Errorf("%q: %s: %v", own, limit, err)
			}
		}
	}
}

func TestUnifiedValues(t *testing.T) {
	h := hierarchy{2, t.TempDir()}
	l := Limits{Memory: 1 << 20, CPUs: 1.5, Processes: 10}
	for _, name := range []string{"memory.max", "memory.oom.group", "cpu.max", "pids.max"} { // and no swap
		writeFile(t, filepath.Join(h.dir, name), "")
	}
	for limit := range controllers() {
		if err := h.write2(limit, l); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, name := range []string{"memory.max", "memory.oom.group", "cpu.max", "pids.max"} {
		got[name] = strings.Join(words(filepath.Join(h.dir, name)), " ")
	}
	want := map[string]string{"memory.max": "1048576", "memory.oom.group": "1", "cpu.max": "150000 100000", "pids.max": "12"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// TestMemory shows that the whole sandbox ends, and that an ordinary user without a group of its own is told so before anything runs.
func TestMemory(t *testing.T) {
	r := newRoom(t)
	r.config.Limits.Memory = 64 << 20
	if !canLimit(t, "memory") {
		r.config.Command = []string{"true"}
		r.refused(ExitEnvironment, "controller memory", "best_effort")
		r.config.BestEffort = true
		cage := r.prepare("true")
		defer r.close(cage)
		for _, control := range cage.Controls() {
			if control.Name == "memory" && (control.InForce || !strings.Contains(control.Detail, "controller memory")) {
				t.Errorf("got %+v", control)
			}
		}
		return
	}
	if got := r.shell("echo fits"); got != "fits" {
		t.Fatalf("control: got %q", got)
	}
	cage := r.prepare("sh", "-c", "/usr/bin/python3 -c 'bytearray(200<<20)'; sleep 1000")
	if err := cage.Start(); err != nil {
		t.Fatal(err)
	}
	code, err := cage.Wait()
	if err != nil || code != exitKilled || len(cage.Reached()) != 1 || cage.Reached()[0].Says != "the sandbox used its 64 MiB of memory and was ended" {
		t.Errorf("got %d, %v, %+v", code, err, cage.Reached())
	}
	dirs := cage.group.dirs()
	r.close(cage)
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("the control group %s is left: %v", dir, err)
		}
	}
}

// canLimit reports whether this process can hold a limit by a control group.
func canLimit(t *testing.T, limit string) bool {
	t.Helper()
	g := findGroup(true)
	g.make(Limits{CPUs: 1}.withDefaults(g.memoryTotal()))
	if err := g.remove(); err != nil {
		t.Fatal(err)
	}
	_, held := g.at[limit]
	if os.Geteuid() == 0 && !held {
		t.Errorf("root cannot hold %s: %v", limit, g.missing[limit])
	}
	return held
}

func TestGroupOfDeadRun(t *testing.T) {
	if !canLimit(t, "processes") {
		return // there is no group to leave
	}
	g := findGroup(false)
	g.make(Limits{}.withDefaults(1 << 30))
	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- sleeper.Wait() }()
	if err := moveTo(g.dirs()[0], sleeper.Process.Pid); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(filepath.Dir(g.dirs()[0]), "not-scupper")
	if err := removeGroups(append(g.dirs(), foreign)); err != nil {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) {
		t.Errorf("the process that was left ended with %v", err)
	}
	for _, dir := range g.dirs() {
		if exists(dir) {
			t.Errorf("%s is left", dir)
		}
	}
}
