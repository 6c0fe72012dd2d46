package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordedRun runs three granted and three refused requests, and returns the folder of
// the logs.
func recordedRun(w *world) (logs string, a *attempt) {
	w.policy(publicAPI)
	a = w.run(shell(`for i in 1 2 3; do curl -sS -o /dev/null https://api.example.com/public/$i https://api.example.com/private/$i; done`))
	if len(a.log.allowed("http")) != 3 || len(a.log.denials()) != 3 {
		w.t.Fatalf("control:\n%s", a.log)
	}
	return a.audit, a
}

// segment is the one segment of the one run under logs.
func segment(t *testing.T, logs string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(logs, "*", "*.jsonl"))
	if err != nil || len(all) != 1 {
		t.Fatalf("segments %v, %v", all, err)
	}
	return all[0]
}

func change(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyLogs is about someone who can write where the logs are, and not where the
// installation keeps its key and its heads.
func TestVerifyLogs(t *testing.T) {
	for name, tamper := range map[string]func(t *testing.T, logs string) (says string){
		"a changed record": func(t *testing.T, logs string) string {
			change(t, segment(t, logs), func(b []byte) []byte { return bytes.Replace(b, []byte("/public/2"), []byte("/public/9"), 1) })
			return "it is not what it was"
		},
		"AUD-02 the newest records are gone": func(t *testing.T, logs string) string {
			change(t, segment(t, logs), func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] })
			return "the log was cut"
		},
		"AUD-02 the newest records and the head are gone": func(t *testing.T, logs string) string {
			path := segment(t, logs)
			change(t, path, func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] })
			if err := os.Remove(filepath.Join(filepath.Dir(path), "head")); err != nil {
				t.Fatal(err)
			}
			return "the log was cut"
		},
		"AUD-03 the log is gone": func(t *testing.T, logs string) string {
			if err := os.RemoveAll(filepath.Dir(segment(t, logs))); err != nil {
				t.Fatal(err)
			}
			return "its log is gone"
		},
		"a newer version": func(t *testing.T, logs string) string {
			change(t, segment(t, logs), func(b []byte) []byte { return append(b, `{"v":2,"seq":999}`+"\n"...) })
			return "the log was closed before it"
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ordinaryUser(t))
			logs, _ := recordedRun(w)
			w.scupper("audit", "verify", logs).wantExit(0).wantStdout("verified: 1 run")
			says := tamper(t, logs)
			w.scupper("audit", "verify", logs).wantExit(1).wantStdout("FAULT").wantStderr(says)
		})
	}
}

// TestHeadOfSummary gives the head that a run printed to verify.
func TestHeadOfSummary(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	logs, a := recordedRun(w)
	_, head, found := strings.Cut(a.stderr, "log head ")
	if !found {
		t.Fatal(a.stderr)
	}
	head, _, _ = strings.Cut(head, "\n")
	key := strings.TrimSpace(w.scupper("audit", "key").wantExit(0).stdout)
	// As a third party has it: the log, the key, and the head from elsewhere.
	w.env = append(w.env, "XDG_STATE_HOME="+w.at("work"))
	w.scupper("audit", "verify", logs, "--key", key, "--expect-head", head).wantExit(0)
	change(t, segment(t, logs), func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] })
	w.scupper("audit", "verify", logs, "--key", key, "--expect-head", head).wantExit(1).wantStderr("the log was cut")
	other := "20261130t124500-aaaaaa" + head[strings.Index(head, ":"):]
	w.scupper("audit", "verify", filepath.Join(logs, strings.Split(head, ":")[0]), "--key", key, "--expect-head", other).wantExit(2).wantStderr("it is no head of run")
	w.scupper("audit", "verify", logs).wantExit(2).wantStderr("no key")
}

// TestLostKey refuses to run beside logs whose key is gone.
func TestLostKey(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	logs, _ := recordedRun(w)
	key := w.at("home/.local/state/scupper/audit.key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	again := func() *attempt {
		return w.scupper("run", "--audit", logs, "--workdir", w.at("work"), "--", "touch", "ran")
	}
	again().wantExit(3).wantStderr("the key that signs them is gone").wantStderr("scupper audit key --new")
	if _, err := os.Lstat(w.at("work/ran")); err == nil {
		t.Error("it ran")
	}
	w.scupper("audit", "key", "--new").wantExit(0)
	again().wantExit(0)
	w.scupper("audit", "verify", logs).wantExit(0).wantStdout("verified: 2 runs")
}

// TestKeyIsOutside looks for the key from inside: neither it nor what it lies in is there.
func TestKeyIsOutside(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			recordedRun(w)
			state := w.at("home/.local/state/scupper")
			a := w.run(shell(`for f in audit.key audit.key.pub heads; do test -e "` + state + `/$f" && echo "there: $f"; done; find / -xdev -name 'audit.key*' 2>/dev/null; echo done`)).wantExit(0)
			if strings.TrimSpace(a.stdout) != "done" {
				t.Errorf("inside: %s", a.stdout)
			}
		})
	}
}

// TestProveAndDrop proves a record, deletes the log by its retention, and verifies what
// is left of it.
func TestProveAndDrop(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	logs, a := recordedRun(w)
	r := a.log.allowed("http")[0]
	p := w.scupper("audit", "prove", r.ID, "--audit", logs).wantExit(0)
	if !strings.HasPrefix(p.stdout, r.raw+"\nc2sp.org/tlog-proof@v1\nindex ") {
		t.Errorf("got %q", p.stdout)
	}
	w.scupper("audit", "drop", logs, "--before", "240h").wantExit(0).wantStdout("dropped: 0 segments, 0 records")
	w.scupper("audit", "drop", logs, "--before", "0s").wantExit(0).wantStdout("dropped: 1 segment")
	w.scupper("audit", "verify", logs).wantExit(0).wantStdout("were dropped, which is on record")
	w.scupper("audit", "prove", r.ID, "--audit", logs).wantExit(1).wantStderr("was dropped")
	if left, err := filepath.Glob(filepath.Join(logs, "*", "*.jsonl")); err != nil || len(left) != 1 || filepath.Base(left[0]) != "000002.jsonl" {
		t.Errorf("left: %v, %v", left, err)
	}
	change(t, w.at("policy.hcl"), func(b []byte) []byte {
		return append(b, "audit {\n  durability = \"fsync\"\n  anchor {\n    file = \""+w.at("heads")+"\"\n  }\n}\n"...)
	})
	if err := os.WriteFile(w.at("heads"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.at("heads"), 0o666); err != nil {
		t.Fatal(err)
	}
	b := w.run(curl("https://api.example.com/public/a")).wantExit(0)
	if strings.Contains(b.stderr, "anchor") {
		t.Errorf("said %s", b.stderr)
	}
	w.scupper("audit", "verify", b.audit, "--expect-head", w.at("heads")).wantExit(0)
	if err := os.RemoveAll(b.audit); err != nil {
		t.Fatal(err)
	}
	w.scupper("audit", "verify", b.audit, "--expect-head", w.at("heads")).wantExit(1).wantStdout("its log is gone")
}
