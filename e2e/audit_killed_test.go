package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// killsVar is how often scupper is killed; the plain tests do it less often than that.
const killsVar = "SCUPPER_KILLS"

const plainKills = 40

// TestKilledUnderLoad kills scupper with signal 9 at random moments while eight requests
// at a time go through it.
//
// AUD-06: what the far side saw is on record, the next start marks the torn tail, and no
// sequence number is used twice.
func TestKilledUnderLoad(t *testing.T) {
	kills := plainKills
	if text := os.Getenv(killsVar); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s=%s: %v", killsVar, text, err)
		}
		kills = n
	}
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	random := rand.New(rand.NewPCG(6, 20261130))
	logs := w.at("audit/all")
	seen, marked, torn := 0, 0, 0
	for n := range kills {
		if err := w.inet.Reset(); err != nil {
			t.Fatal(err)
		}
		said := w.kill(logs, n, time.Duration(random.IntN(250))*time.Millisecond)
		marked += strings.Count(said, "its log is closed now")
		torn += strings.Count(said, "was killed while it wrote")
		time.Sleep(20 * time.Millisecond) // what was sent before arrives
		var arrived []string
		for _, e := range w.inet.Received() {
			arrived = append(arrived, e.URI)
		}
		wantRecorded(t, newestLog(t, logs), arrived)
		seen += len(arrived)
	}
	if seen < kills*5 {
		t.Errorf("control: the far side saw %d requests in %d runs", seen, kills)
	}
	// As the next start finds it: all runs end in a record, and every log verifies.
	a := w.scupper("run", "--audit", logs, "--workdir", w.at("work"), "--", "true").wantExit(0)
	if marked += strings.Count(a.stderr, "its log is closed now"); marked != kills {
		t.Errorf("%d logs were closed after %d kills:\n%s", marked, kills, a.stderr)
	}
	a = w.scupper("audit", "verify", logs).wantExit(0).wantStdout(fmt.Sprintf("verified: %d runs", kills+1))
	if strings.Contains(a.stdout, "not closed") || strings.Contains(a.stdout, "torn") {
		t.Errorf("left open:\n%s", a.stdout)
	}
	t.Logf("%d kills, %d requests arrived, %d torn lines", kills, seen, torn)
}

// kill starts a run, waits until its first request is on its way and d longer, and kills
// it. It returns what scupper said, which is about the run before.
func (w *world) kill(logs string, round int, d time.Duration) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	load := fmt.Sprintf("https://api.example.com/public/r%d-[1-5000]", round)
	cmd := w.command(ctx, []string{
		prepared("scupper"), "run", "--audit", logs, "--workdir", w.at("work"), "--upstream-ca", w.at("ca.pem"), "--policy", w.at("policy.hcl"), "--",
		"curl", "-sS", "-Z", "--parallel-max", "8", "-o", "/dev/null", load,
	}, nil)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	for begun := time.Now(); len(w.inet.Received()) == 0 && time.Since(begun) < 10*time.Second; {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(d)
	if err := cmd.Process.Kill(); err != nil {
		w.t.Fatalf("it ended before it was killed: %v\n%s", err, &said)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		w.t.Fatalf("it was not killed: %v\n%s", err, &said)
	}
	return said.String()
}

// newestLog reads the whole lines of the newest run; their sequence has no gap and uses
// no number twice.
func newestLog(t *testing.T, logs string) auditLog {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(logs, "*"))
	if err != nil || len(runs) == 0 {
		t.Fatal(runs, err)
	}
	newest := slices.MaxFunc(runs, func(a, b string) int { return strings.Compare(born(t, a), born(t, b)) })
	segments, err := filepath.Glob(filepath.Join(newest, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(segments)
	var log auditLog
	for _, s := range segments {
		text, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, parseLog(t, s, text[:bytes.LastIndexByte(text, '\n')+1])...)
	}
	for i, r := range log {
		if r.Seq != int64(i)+1 {
			t.Errorf("%s: record %d has sequence number %d", newest, i+1, r.Seq)
		}
	}
	return log
}

// born is when a run's policy was written, which sorts runs of one second.
func born(t *testing.T, run string) string {
	t.Helper()
	texts, err := filepath.Glob(filepath.Join(run, "policy-*.hcl"))
	if err != nil || len(texts) == 0 {
		t.Fatal(run, texts, err)
	}
	info, err := os.Stat(texts[0])
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%020d", info.ModTime().UnixNano())
}

// wantRecorded looks for an allowing record of every request that arrived.
func wantRecorded(t *testing.T, log auditLog, arrived []string) {
	t.Helper()
	recorded := make(map[string]bool)
	for _, r := range log.allowed("http") {
		recorded[r.Path] = true
	}
	for _, uri := range arrived {
		if !recorded[uri] {
			t.Errorf("%s arrived, and is not among the %d allowed requests on record", uri, len(recorded))
		}
	}
}
