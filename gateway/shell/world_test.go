package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/trim"
	"scupper.dev/scupper/sandbox"
)

// world is the tool with real sandboxes, its log, and a far side.
type world struct {
	t     testing.TB
	tool  *Tool
	work  string
	state string
	log   string
	far   *far
	calls int
}

// far is what the sandboxes could reach if they could reach anything.
type far struct {
	port int
	got  atomic.Int64 // requests and datagrams
}

func newFar(t testing.TB) *far {
	t.Helper()
	f := &far{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f.got.Add(1)
		fmt.Fprint(w, "from afar")
	}))
	t.Cleanup(server.Close)
	f.port = server.Listener.Addr().(*net.TCPAddr).Port
	return f
}

// policy grants GET / of api.example.com by HTTP to the role "dev".
func policy(t testing.TB) *capability.Policy {
	t.Helper()
	path, err := capability.ParseTemplate("/", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := capability.Compile([]*capability.Grant{{
		Name: "api", Host: capability.HostPattern{Name: "api.example.com"}, Port: 80, Scheme: capability.HTTP,
		Credential: capability.Credential{Mode: capability.Anonymous}, Allows: []*capability.Allow{{Methods: []string{"GET"}, Path: path}},
	}}, []capability.Role{{Name: "dev", Grants: []string{"api"}}, {Name: "idle"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newWorld(t testing.TB, change func(*Config)) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, work: filepath.Join(dir, "work"), state: filepath.Join(dir, "state"), far: newFar(t)}
	for _, d := range []string{w.work, w.state} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	guard, err := audit.New(audit.Config{Dir: filepath.Join(dir, "audit"), Policy: policy(t)})
	if err != nil {
		t.Fatal(err)
	}
	w.log = filepath.Join(dir, "audit", guard.Run(), "000001.jsonl")
	series, err := sandbox.NewSeries(sandbox.SeriesConfig{Guard: guard, Egress: sandbox.Egress{Resolve: []string{fmt.Sprintf("api.example.com:80:127.0.0.1:%d", w.far.port)}}})
	if err != nil {
		t.Fatal(err)
	}
	store, err := trim.NewStore("")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Sandboxes: series, Cage: sandbox.CageConfig{Workdir: w.work, StateDir: w.state, SpareUID: spareUser}, Store: store}
	if change != nil {
		change(&c)
	}
	if w.tool, err = New(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(w.tool.Close(), series.Close(), store.Close(), guard.Close(0)); err != nil {
			t.Error(err)
		}
		w.nothingLives()
	})
	return w
}

// answer is a result as a caller has it.
type answer struct {
	facts
	gateway.Result
	text string
	took time.Duration
	id   string
}

// call calls the tool as role "dev", through the step that trims.
func (w *world) call(a arguments) answer { return w.callAs(w.t, context.Background(), "dev", a) }

func (w *world) callAs(t testing.TB, ctx context.Context, role string, a arguments) answer {
	t.Helper()
	text := map[string]any{"background": a.Background}
	if a.Command != "" {
		text["command"] = a.Command
	}
	if a.Handle != "" {
		text["handle"] = a.Handle
	}
	if a.Action != "" {
		text["action"] = a.Action
	}
	if a.Timeout > 0 {
		text["timeout"] = a.Timeout
	}
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	w.calls++
	entry := w.tool.Entry()
	c := &gateway.Call{ID: "call-" + strconv.Itoa(w.calls), Tool: "bash", Role: role, Arguments: raw}
	began := time.Now()
	r := (&trim.Trimmer{Store: w.tool.config.Store}).Trim(c, &entry.Definition, entry.Tool.Call(ctx, c))
	got := answer{Result: r, took: time.Since(began), id: c.ID}
	for _, piece := range r.Content {
		got.text += piece.Text + "\n"
	}
	if r.Structured != nil {
		if err := json.Unmarshal(r.Structured, &got.facts); err != nil {
			t.Fatal(err)
		}
	}
	if r.Shown > entry.Definition.MaxOutput {
		t.Errorf("%d bytes shown of %d allowed", r.Shown, entry.Definition.MaxOutput)
	}
	return got
}

// shell runs a command that must succeed, and returns what it printed.
func (w *world) shell(script string) string {
	w.t.Helper()
	a := w.call(arguments{Command: script})
	if a.Failed || a.ExitCode == nil || *a.ExitCode != 0 {
		w.t.Fatalf("%s: %s", script, a.text)
	}
	return a.Output
}

func (a answer) exit() int {
	if a.ExitCode == nil {
		return -1
	}
	return *a.ExitCode
}

// records are those of one call in the log; the empty ID has all.
func (w *world) records(id string) (all []audit.Record) {
	w.t.Helper()
	text, err := os.ReadFile(w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			w.t.Fatal(err)
		}
		if id == "" || r.Call == id {
			all = append(all, r)
		}
	}
	return all
}

// sandboxUser is the user of the host that the sandbox's processes are.
func sandboxUser() int {
	if os.Geteuid() == 0 {
		return spareUser
	}
	return os.Geteuid()
}

// nothingLives looks for what a sandbox has left: processes of its user, the journal of
// placeholders and control groups, mounts, and temporary files.
func (w *world) nothingLives() {
	w.t.Helper()
	var alive []string
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if alive = processesOf(sandboxUser()); len(alive) == 0 {
			break
		}
	}
	if len(alive) > 0 {
		w.t.Errorf("processes are left: %v", alive)
	}
	if left, _ := filepath.Glob(filepath.Join(w.state, "placeholders", "run-*")); len(left) > 0 {
		w.t.Errorf("journals are left: %v", left)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), w.work) {
		w.t.Errorf("mounts are left: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "scupper-*")); len(left) > 0 {
		w.t.Errorf("temporary files are left: %v", left)
	}
}

// processesOf lists the processes of a user but this one.
func processesOf(uid int) (found []string) {
	statuses, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range statuses {
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(path, fmt.Sprintf("/%d/", os.Getpid())) {
			continue
		}
		name, rest, _ := strings.Cut(string(text), "\n")
		if strings.Contains(rest, fmt.Sprintf("\nUid:\t%d\t", uid)) {
			found = append(found, path+" "+name)
		}
	}
	return found
}
