package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// grantsOf is a policy that grants these names under /public, and a comment.
func grantsOf(comment string, names ...string) string {
	return strings.Replace(publicAPI, `path    = "/public/{name}"`, fmt.Sprintf("path    = \"/public/{name}\"\n    where   = { name = one_of(\"%s\") } # %s", strings.Join(names, `", "`), comment), 1)
}

// policyChange is what these tests need of a policy_changed record.
type policyChange struct {
	Event  string `json:"event"`
	Policy string `json:"policy"`
	Change struct{ From, To, Refused, Note string }
}

// changes are the policy_changed records that are on disk now.
func (p *process) changes() (out []policyChange) {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.audit, "*", "*.jsonl"))
	if err != nil || len(names) != 1 {
		p.t.Fatalf("the log: %v, %v", names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var c policyChange
		if strings.Contains(line, `"policy_changed"`) && json.Unmarshal([]byte(line), &c) == nil {
			out = append(out, c)
		}
	}
	return out
}

// wantChanges waits until n changes of the policy are on record.
func (p *process) wantChanges(n int) []policyChange {
	p.t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		if got := p.changes(); len(got) >= n {
			return got
		}
		if time.Now().After(until) {
			p.t.Fatalf("no %d changes of the policy: %+v", n, p.changes())
		}
	}
}

// spawnFed starts a client whose input ends with stop.
func (w *world) spawnFed(c client) (p *process, stop func()) {
	p, say := w.spawnSaying(c)
	return p, func() { say("") }
}

// spawnAsking starts asker; say gives it a name, or ends its input.
func (w *world) spawnAsking() (p *process, say func(string)) {
	return w.spawnSaying(python(asker, false))
}

// asker answers each name on its input with the status of a request for it.
const asker = `
import sys, urllib.request, urllib.error
for name in sys.stdin:
    try: status = urllib.request.urlopen("https://api.example.com/public/" + name.strip(), timeout=20).status
    except urllib.error.HTTPError as e: status = e.code
    print(status, flush=True)
`

func TestReload(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(grantsOf("first", "a", "both"))
	p, say := w.spawnAsking()
	ask := func(name, want string) {
		t.Helper()
		say(name)
		if got := p.line(); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	ask("a", "200")
	ask("b", "403")
	t.Run("SBX-13 an invalid policy changes nothing", func(t *testing.T) {
		w.policy("version = 1\ngrant {\n")
		if c := p.wantChanges(1)[0]; !strings.Contains(c.Change.Refused, "mistake") || c.Change.From == c.Change.To {
			t.Errorf("got %+v", c)
		}
		ask("a", "200")
		ask("b", "403")
	})
	t.Run("HP-21 a valid one counts from now on", func(t *testing.T) {
		w.policy(grantsOf("second", "b", "both"))
		if c := p.wantChanges(2)[1]; c.Change.Refused != "" || c.Change.From == c.Change.To {
			t.Errorf("got %+v", c)
		}
		ask("a", "403")
		ask("b", "200")
	})
	t.Run("SIGHUP", func(t *testing.T) {
		p.cmd.Process.Signal(syscall.SIGHUP)
		p.wantChanges(3)
		ask("b", "200")
	})
	t.Run("SBX-13 a port that leads nowhere is told", func(t *testing.T) {
		w.policy(strings.Replace(grantsOf("third", "b"), "credential", "port       = 8443\n  credential", 1))
		if c := p.wantChanges(4)[3]; !strings.Contains(c.Change.Note, "port 8443") {
			t.Errorf("got %+v", c)
		}
	})
	say("")
}

// TestReloadOfWhatTheSandboxCanWrite: an editor that puts a new file in the place of the
// old one takes its protection away.
func TestReloadOfWhatTheSandboxCanWrite(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.work("policy.hcl", grantsOf("first", "a"))
	w.flags = []string{"--policy", w.at("work/policy.hcl")}
	p, say := w.spawnAsking()
	say("a")
	if got := p.line(); got != "200" {
		t.Fatalf("control: got %s", got)
	}
	w.work("new.hcl", grantsOf("second", "b"))
	if err := os.Rename(w.at("work/new.hcl"), w.at("work/policy.hcl")); err != nil {
		t.Fatal(err)
	}
	if c := p.wantChanges(1)[0]; !strings.Contains(c.Change.Refused, "accepted") {
		t.Errorf("got %+v", c)
	}
	say("b")
	if got := p.line(); got != "403" {
		t.Errorf("SBX-13 the text that nobody accepted counts: %s", got)
	}
}

// loader makes 200 requests a second, of which those for "both" must all succeed.
const loader = `
import http.client, ssl, sys, time, threading
bad, done = [], threading.Event()
def ask(name):
    c = None
    next = time.monotonic()
    n = 0
    while not done.is_set():
        next += 1 / 50
        time.sleep(max(0, next - time.monotonic()))
        try:
            if c is None: c = http.client.HTTPSConnection("api.example.com", timeout=20)
            c.request("GET", "/public/" + name)
            r = c.getresponse(); r.read()
            n += 1
            if name == "both" and r.status != 200: bad.append(r.status)
        except Exception as e:
            if name == "both": bad.append(repr(e))
            c = None
    print(name, n, flush=True)
threads = [threading.Thread(target=ask, args=(n,)) for n in ("both", "both", "a", "b")]
for t in threads: t.start()
print("ready", flush=True)
sys.stdin.read()
done.set()
for t in threads: t.join()
print("bad", bad[:3], flush=True)
`

func TestReloadUnderLoad(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(grantsOf("start", "a", "both"))
	p, stop := w.spawnFed(python(loader, false))
	wantLines(p, "ready")
	const reloads = 500
	granting := map[string]string{} // the name that a policy grants, by its hash
	for i := range reloads {
		text := grantsOf(fmt.Sprint(i), []string{"a", "b"}[i%2], "both")
		if i%3 == 2 {
			text = "version = 1\n}\n"
		}
		w.policy(text)
		p.cmd.Process.Signal(syscall.SIGHUP)
		last := p.wantChanges(i + 1)[i]
		if (last.Change.Refused != "") != (i%3 == 2) {
			t.Fatalf("reload %d: %+v", i, last)
		}
		granting[last.Change.To] = []string{"a", "b"}[i%2]
	}
	stop()
	for range 4 {
		t.Log(p.line())
	}
	if got := p.line(); got != "bad []" {
		t.Errorf("requests that every policy granted: %s", got)
	}
	p.wantEnd(0)
	judged := 0
	for _, r := range readLog(t, p.audit) {
		var c policyChange
		if r.Event != "decision" || r.Kind != "http" || json.Unmarshal([]byte(r.raw), &c) != nil || c.Policy == "" {
			continue
		}
		judged++
		name := strings.TrimPrefix(r.Path, "/public/")
		for hash, granted := range granting {
			if strings.HasPrefix(hash, c.Policy) && (r.Verdict == "allow") != (name == "both" || name == granted) {
				t.Errorf("%s of %s by a policy that grants %s", r.Verdict, name, granted)
			}
		}
	}
	t.Logf("%d requests were judged by one of %d policies each", judged, len(granting))
	if judged < reloads/10 {
		t.Errorf("only %d requests", judged)
	}
}
