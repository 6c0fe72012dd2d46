package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// limitRecord is what these tests need of the records about a run as a whole.
type limitRecord struct {
	Event, Limit, Says string
	Run                struct {
		Controls []struct {
			Name    string
			InForce bool `json:"in_force"`
			Detail  string
		}
	}
}

// limits are the records of limits that the command came up against, and the last one's.
func (a *attempt) limits() (reached []limitRecord, last limitRecord) {
	a.t.Helper()
	for _, r := range a.log {
		var l limitRecord
		if err := json.Unmarshal([]byte(r.raw), &l); err != nil {
			a.errorf("%v in %s", err, r.raw)
		}
		switch l.Event {
		case "limit_reached":
			reached = append(reached, l)
		case "run_ended":
			last = l
		}
	}
	return reached, last
}

// wantLimit looks for one record of a limit, for its sentence on standard error, and for the end of the run that names it if it ended it.
func (a *attempt) wantLimit(limit, says string, ended bool) *attempt {
	a.t.Helper()
	a.looked[theLog] = true
	reached, last := a.limits()
	if len(reached) != 1 || reached[0].Limit != limit || !strings.Contains(reached[0].Says, says) {
		a.errorf("limits on record: %+v, want one of %s: %s", reached, limit, says)
	}
	if want := map[bool]string{true: limit}[ended]; last.Limit != want {
		a.errorf("the run was ended by %q, want %q", last.Limit, want)
	}
	return a.wantStderr("limit " + limit + ": the sandbox").wantStderr(says)
}

// control finds what the first record says of a control.
func (a *attempt) control(name string) (inForce bool, detail string) {
	a.t.Helper()
	for _, r := range a.log {
		var l limitRecord
		if err := json.Unmarshal([]byte(r.raw), &l); err != nil {
			a.errorf("%v in %s", err, r.raw)
		}
		for _, c := range l.Run.Controls {
			if c.Name == name {
				return c.InForce, c.Detail
			}
		}
	}
	a.errorf("no control %q on record", name)
	return false, ""
}

// delegated reports whether u's runs can have control groups; root's must.
func delegated(w *world) bool {
	a := w.run(command("true"))
	held, detail := a.control("memory")
	if w.user.uid == 0 && !held {
		w.t.Errorf("root cannot hold memory: %s", detail)
	}
	return held
}

// runWith runs a client under further flags; the far side receives nothing of it.
func (w *world) runWith(c client, flags ...string) *attempt {
	w.t.Helper()
	saved := w.flags
	defer func() { w.flags = saved }()
	w.flags = append(slices.Clone(saved), flags...)
	return w.run(c).farSideNothing()
}

// unlimited is an attempt to run under a limit that this user cannot have.
func (a *attempt) unlimited(controller string) {
	a.t.Helper()
	a.wantExit(3).wantStderr("controller " + controller).wantStderr("best_effort")
	if a.stdout != "" || len(a.log) > 0 {
		a.errorf("something ran")
	}
}

const forkBomb = `
import os, time
for i in range(1000):
    try:
        if os.fork() == 0: time.sleep(100)
    except OSError as e:
        print("stopped by", e.strerror); break
else: print("not stopped")
`

// TestControls tries from inside, one by one, what the controls are for.
func TestControls(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			groups := delegated(w)
			t.Run("fork bomb", func(t *testing.T) { tryForkBomb(w.in(t), groups) })
			t.Run("memory hog", func(t *testing.T) { tryMemoryHog(w.in(t), groups) })
			t.Run("disk filler", func(t *testing.T) { tryDiskFiller(w.in(t)) })
			t.Run("CPU spinner", func(t *testing.T) { trySpinner(w.in(t), groups) })
			t.Run("sleeper", func(t *testing.T) { trySleeper(w.in(t)) })
			t.Run("reader of secrets", func(t *testing.T) { trySecrets(w.in(t)) })
			t.Run("printer", func(t *testing.T) { tryPrinter(w.in(t)) })
		})
	}
}

// in is w for a part of its test.
func (w *world) in(t *testing.T) *world {
	w.t = t
	return w
}

func tryForkBomb(w *world, groups bool) {
	w.runWith(python(forkBomb, false), "--processes", "2000").wantExit(0).wantStdout("not stopped")
	a := w.runWith(python(forkBomb, false), "--processes", "50").wantExit(0).wantStdout("stopped by Resource temporarily unavailable")
	if groups {
		a.wantLimit("processes", "had its 50 processes", false)
	}
	if held, detail := a.control("processes"); !held || !strings.HasPrefix(detail, "50 at once") {
		w.t.Errorf("on record: %t, %s", held, detail)
	}
}

func tryMemoryHog(w *world, groups bool) {
	hog := shell("python3 -c 'bytearray(300 << 20)'; echo survived")
	w.runWith(hog).wantExit(0).wantStdout("survived")
	a := w.runWith(hog, "--memory", "100MiB")
	if !groups {
		a.unlimited("memory")
		w.policy("version = 1\nbest_effort = true\nsandbox {\n memory = \"100MiB\"\n}\n")
		defer os.Remove(w.at("policy.hcl"))
		a = w.runWith(hog).wantExit(0).wantStdout("survived")
		if held, detail := a.control("memory"); held || !strings.Contains(detail, "controller memory") {
			w.t.Errorf("on record: %t, %s", held, detail)
		}
		return
	}
	a.wantExit(137).wantLimit("memory", "used its 100 MiB of memory and was ended", true)
	if a.stdout != "" {
		w.t.Errorf("what was left of the sandbox went on: %q", a.stdout)
	}
}

func tryDiskFiller(w *world) {
	fill := shell("head -c 20M /dev/zero >/tmp/x")
	w.runWith(fill).wantExit(0)
	w.policy("version = 1\nsandbox {\n scratch = \"10MiB\"\n}\n")
	defer os.Remove(w.at("policy.hcl"))
	a := w.runWith(fill).wantFailure().wantStderr("No space left on device")
	if held, detail := a.control("filesystem"); !held || !strings.Contains(detail, "10 MiB of temporary files, writable without a limit of size: "+w.at("work")) {
		w.t.Errorf("on record: %t, %s", held, detail)
	}
}

func trySpinner(w *world, groups bool) {
	const spin = `
import time
end = time.time() + 1
while time.time() < end: pass
print(time.process_time())
`
	w.runWith(python(spin, false)).wantExit(0)
	a := w.runWith(python(spin, false), "--cpus", "0.2")
	if !groups {
		a.unlimited("cpu")
		return
	}
	a.wantExit(0).wantLimit("cpus", "was held to 0.2 CPUs", false)
	if got, err := strconv.ParseFloat(strings.TrimSpace(a.stdout), 64); err != nil || got > 0.5 {
		w.t.Errorf("used %q seconds of one", a.stdout)
	}
}

func trySleeper(w *world) {
	w.runWith(shell("sleep 1"), "--time", "30s").wantExit(0)
	polite := w.runWith(shell("trap 'echo told; exit 0' TERM; sleep 100 & wait"), "--time", "1s")
	polite.wantExit(124).wantStdout("told").wantLimit("time", "used its 1s of time and was ended", true)
	w.policy("version = 1\nsandbox {\n time = \"1s\"\n}\n")
	defer os.Remove(w.at("policy.hcl"))
	deaf := w.runWith(shell("trap '' TERM; sleep 100 & sleep 100"))
	deaf.wantExit(124).wantLimit("time", "used its 1s of time and was ended", true).within(8 * time.Second)
}

func trySecrets(w *world) {
	w.env = append(w.env, "GITHUB_TOKEN=ghp_secret")
	secret := w.user.file(w.t, w.at("home/.netrc"), []byte("machine example.com password secret"))
	look := shell(fmt.Sprintf("env; cat %s /root/.ssh/* /etc/shadow ~/.netrc; cat /proc/*/environ", secret))
	a := w.runWith(look)
	if strings.Contains(a.stdout, "secret") {
		w.t.Errorf("a secret is visible: %s", a.stdout)
	}
	if held, _ := a.control("credentials"); !held {
		w.t.Error("not on record as in force")
	}
	w.runWith(shell("true"), "--ro", filepath.Dir(secret)+"/.netrc").wantExit(2).wantStderr("it holds credentials")
}

func tryPrinter(w *world) {
	w.policy("version = 1\nsandbox {\n output = \"1KiB\"\n}\n")
	defer os.Remove(w.at("policy.hcl"))
	a := w.runWith(shell("head -c 100000 /dev/zero | tr '\\0' x; exit 3")).wantExit(3)
	a.wantLimit("output", "printed more than its 1 KiB", false)
	if len(a.stdout) != 1024 {
		w.t.Errorf("%d bytes came out", len(a.stdout))
	}
}

// TestSupervisor looks at the process that holds the run's keys.
func TestSupervisor(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			argv, audit := w.runArgs(shell("echo ready; cat"))
			cmd := w.command(t.Context(), argv, nil)
			stdin, inErr := cmd.StdinPipe()
			stdout, outErr := cmd.StdoutPipe()
			if inErr != nil || outErr != nil {
				t.Fatal(inErr, outErr)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := stdout.Read(make([]byte, 10)); err != nil {
				t.Fatalf("control: the command did not start: %v", err)
			}
			wantHardened(w, cmd.Process.Pid)
			stdin.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			a := &attempt{t: t, log: readLog(t, audit)}
			if held, detail := a.control("supervisor"); !held || !strings.Contains(detail, "no new privileges") {
				t.Errorf("on record: %t, %s", held, detail)
			}
		})
	}
}

func wantHardened(w *world, pid int) {
	t := w.t
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) < 2 {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"NoNewPrivs:\t1\n", "CapEff:\t0000000000000000\n", "CapInh:\t0000000000000000\n", "CapAmb:\t0000000000000000\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s does not have %q:\n%s", path, want, text)
			}
		}
	}
	w.direct(client{argv: w.powerless("head", "-c", "1", "/proc/self/environ")}).wantExit(0)
	for _, name := range []string{"environ", "mem", "maps"} {
		w.direct(client{argv: w.powerless("head", "-c", "1", fmt.Sprintf("/proc/%d/%s", pid, name))}).wantFailure().wantStderr("Permission denied")
	}
}

// powerless runs a program as the user, without the capabilities that root has beyond its own files.
func (w *world) powerless(argv ...string) []string {
	if w.user.uid != 0 {
		return argv
	}
	return append([]string{"setpriv", "--bounding-set", "-all", "--inh-caps", "-all"}, argv...)
}
