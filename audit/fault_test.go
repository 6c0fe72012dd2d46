package audit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/capability"
)

// disk is a segment in memory whose faults the test chooses.
type disk struct {
	mu       sync.Mutex
	data     []byte
	room     int           // bytes that still fit; -1: no limit
	fail     error         // of every write and truncation
	held     chan struct{} // writes wait until it is closed; nil: they do not
	writings int
	unsynced error         // of every sync
	stuck    chan struct{} // syncs wait until it is closed; nil: they do not
}

func (d *disk) Write(b []byte) (int, error) {
	d.mu.Lock()
	held := d.held
	d.writings++
	d.mu.Unlock()
	if held != nil {
		<-held
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return 0, d.fail
	}
	if d.room >= 0 && len(b) > d.room {
		n := d.room
		d.data, d.room = append(d.data, b[:n]...), 0
		return n, unix.ENOSPC
	}
	if d.room >= 0 {
		d.room -= len(b)
	}
	d.data = append(d.data, b...)
	return len(b), nil
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return d.fail
	}
	d.data = d.data[:size]
	return nil
}

func (d *disk) Sync() error {
	d.mu.Lock()
	stuck := d.stuck
	d.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unsynced
}

func (d *disk) Close() error { return nil }

func (d *disk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// records parses what is on the disk; every line must be whole.
func (d *disk) records(t *testing.T) []*Record {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []*Record
	for line := range bytes.Lines(d.data) {
		r, err := parse(line)
		if err != nil || r.Seq != int64(len(out))+1 {
			t.Fatalf("line %d is %q: %v", len(out)+1, line, err)
		}
		out = append(out, r)
	}
	return out
}

// onDisk starts a run on a disk; the log's own checks are made by hand with probe.
func onDisk(t *testing.T, change func(*Config)) (*Guard, *disk) {
	t.Helper()
	c := Config{Policy: grants(t, capability.Limits{Requests: 3}), FlushEvery: time.Hour, WriteTimeout: 50 * time.Millisecond}
	if change != nil {
		change(&c)
	}
	c.setDefaults()
	d := &disk{room: -1}
	g, err := start(c, "20261130t124500-k3f7x2", "", d, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(0) })
	return g, d
}

func wantUnavailable(t *testing.T, d capability.Decision) {
	t.Helper()
	if d.Allowed() || d.Reason != capability.AuditUnavailable || d.ID != "" {
		t.Errorf("got %s %s %q, want deny %s", d.Verdict(), d.Reason, d.ID, capability.AuditUnavailable)
	}
}

func TestFaults(t *testing.T) {
	for name, fault := range map[string]func(*disk){
		"AUD-05 full":                    func(d *disk) { d.room = 0 },
		"AUD-05 full in the midst":       func(d *disk) { d.room = 33 },
		"AUD-05 read-only":               func(d *disk) { d.fail = unix.EROFS },
		"AUD-05 read-only, after a part": func(d *disk) { d.data, d.fail = append(d.data, "{torn"...), unix.EROFS },
	} {
		t.Run(name, func(t *testing.T) {
			g, d := onDisk(t, nil)
			get := ask(t, "GET", "api.example.com", "/repos/app")
			if got := g.Authorize(get); !got.Allowed() {
				t.Fatal(got.Reason)
			}
			if got := g.Authorize(lookUp("api.example.com")); !got.Allowed() {
				t.Fatal(got.Reason)
			}
			size := int64(len(d.data))
			d.set(func() { fault(d) })
			for range 3 {
				wantUnavailable(t, g.Authorize(get))
			}
			wantUnavailable(t, g.Authorize(lookUp("api.example.com")))
			wantUnavailable(t, g.Authorize(ask(t, "PUT", "api.example.com", "/repos/app")))
			d.set(func() { d.room, d.fail, d.data = -1, nil, d.data[:max(size, int64(len(d.data)))] })
			if name == "AUD-05 read-only, after a part" {
				d.set(func() { d.data = d.data[:size] })
			}
			g.log.probe()
			for range 2 {
				if got := g.Authorize(get); !got.Allowed() {
					t.Errorf("after the fault: %s; denied requests must not count against the limit", got.Reason)
				}
			}
			if got := g.Authorize(lookUp("api.example.com")); !got.Allowed() {
				t.Errorf("after the fault: %s", got.Reason)
			}
			g.Close(0)
			all := d.records(t)
			gaps := events(all, Gap)
			if len(gaps) != 1 || gaps[0].Count != 4 {
				t.Errorf("gaps: %+v", gaps)
			}
			if n := len(events(all, Decided)); n != 4 {
				t.Errorf("%d decisions on record", n)
			}
		})
	}
}

func TestHungDisk(t *testing.T) {
	g, d := onDisk(t, nil)
	get := ask(t, "GET", "api.example.com", "/repos/app")
	held := make(chan struct{})
	d.set(func() { d.held = held })
	started := time.Now()
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() { wantUnavailable(t, g.Authorize(get)) })
	}
	wg.Wait()
	wantUnavailable(t, g.Authorize(get))
	if took := time.Since(started); took > time.Second {
		t.Errorf("the denials took %s", took)
	}
	if g.log.unavailable() == 0 {
		t.Error("the log does not know that it is unavailable")
	}
	d.set(func() { d.held = nil })
	close(held)
	waitFor(t, func() bool { return g.Authorize(get).Allowed() })
	g.Close(0)
	all := d.records(t)
	// What was written after its caller had left is taken back.
	decided, withdrawn := events(all, Decided), events(all, Withdrawn)
	if len(decided) != 2 || len(withdrawn) != 1 || withdrawn[0].Decision != decided[0].ID {
		t.Errorf("decided %+v, withdrawn %+v", decided, withdrawn)
	}
}

// A disk that takes writes and does not keep them is no log either: under fsync nothing
// passes at all, under commit nothing after the first sync that fails.
func TestSyncFails(t *testing.T) {
	for _, durability := range []Durability{Commit, Fsync} {
		t.Run("AUD-05 "+string(durability), func(t *testing.T) {
			g, d := onDisk(t, func(c *Config) { c.Durability = durability; c.Policy = grants(t, capability.Limits{}) })
			get := ask(t, "GET", "api.example.com", "/repos/app")
			allowed := 1
			if got := g.Authorize(get); !got.Allowed() {
				t.Fatal(got.Reason)
			}
			d.set(func() { d.unsynced = unix.EIO })
			if durability == Commit {
				waitFor(t, func() bool {
					got := g.Authorize(get)
					if got.Allowed() {
						allowed++
					}
					return !got.Allowed()
				})
			}
			for range 3 {
				wantUnavailable(t, g.Authorize(get))
			}
			if g.log.unavailable() == 0 {
				t.Error("the log does not know that it is unavailable")
			}
			d.set(func() { d.unsynced = nil })
			waitFor(t, func() bool { g.log.probe(); return g.Authorize(get).Allowed() })
			g.Close(0)
			all := d.records(t)
			if n := len(events(all, Decided)) - len(events(all, Withdrawn)); n != allowed+1 {
				t.Errorf("%d decisions hold by the record, %d were allowed", n, allowed+1)
			}
			if len(events(all, Gap)) == 0 {
				t.Error("no gap record")
			}
		})
	}
}

// Writes that succeed are no sign that the disk keeps anything: once a sync hangs for too
// long, nothing passes.
func TestSyncHangs(t *testing.T) {
	g, d := onDisk(t, func(c *Config) { c.Policy = grants(t, capability.Limits{}) })
	get := ask(t, "GET", "api.example.com", "/repos/app")
	stuck := make(chan struct{})
	d.set(func() { d.stuck = stuck })
	waitFor(t, func() bool { return !g.Authorize(get).Allowed() })
	wantUnavailable(t, g.Authorize(get))
	d.set(func() { d.stuck = nil })
	close(stuck)
	waitFor(t, func() bool { return g.Authorize(get).Allowed() })
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for range 500 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("waited in vain")
}

func TestRunEndsWithoutLog(t *testing.T) {
	g, d := onDisk(t, func(c *Config) {
		c.FlushEvery, c.UnavailableAfter = 5*time.Millisecond, 20*time.Millisecond
	})
	d.set(func() { d.fail = unix.EIO })
	wantUnavailable(t, g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")))
	select {
	case <-g.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the run does not end")
	}
	if g.Cause() != capability.AuditUnavailable {
		t.Errorf("cause %s", g.Cause())
	}
	d.set(func() { d.fail = nil })
	wantUnavailable(t, g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")))
}

func TestNoLogNoRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Dir: filepath.Join(file, "audit")}); err == nil {
		t.Error("a run without a directory")
	}
	c := Config{WriteTimeout: 50 * time.Millisecond}
	c.setDefaults()
	if _, err := start(c, "20261130t124500-k3f7x2", "", &disk{fail: unix.EROFS}, nil); !errors.Is(err, unix.EROFS) {
		t.Errorf("a run without a first record: %v", err)
	}
}

const inNamespace = "SCUPPER_TEST_TMPFS"

// AUD-05, on a real tmpfs of 64 KiB that only this test's copy sees.
func TestFullTmpfs(t *testing.T) {
	dir := os.Getenv(inNamespace)
	if dir == "" {
		runInNamespace(t)
		return
	}
	mount(t, dir)
	g, err := New(Config{Dir: dir, Policy: grants(t, capability.Limits{}), FlushEvery: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	get := ask(t, "GET", "api.example.com", "/repos/app")
	if d := g.Authorize(get); !d.Allowed() {
		t.Fatal(d.Reason)
	}
	ballast := filepath.Join(dir, "ballast")
	fill(t, ballast)
	allowed := 1
	d := g.Authorize(get)
	for ; d.Allowed() && allowed < 1000; d = g.Authorize(get) {
		allowed++
	}
	wantUnavailable(t, d)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return g.log.unavailable() == 0 })
	if d := g.Authorize(get); !d.Allowed() {
		t.Fatalf("after the fault: %s", d.Reason)
	}
	g.Close(0)
	all := records(t, g)
	if n := len(events(all, Decided)); n != allowed+1 {
		t.Errorf("%d decisions on record, %d were allowed", n, allowed+1)
	}
	if len(events(all, Gap)) == 0 {
		t.Error("no gap record")
	}
	readOnly(t, dir)
}

// readOnly: a run does not start where its log cannot be written.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, "size=64k"); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Dir: dir}); !errors.Is(err, unix.EROFS) {
		t.Errorf("started on a read-only file system: %v", err)
	}
}

func mount(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
}

func fill(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("fill the file system: %v", err)
	}
}

func runInNamespace(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("in a mount namespace: %v\n%s", err, out)
	}
}
