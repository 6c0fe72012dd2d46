package report

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/audit"
)

func one(t *testing.T, w *writer, c Config) *Report {
	t.Helper()
	w.close()
	r, err := Make([]Source{w.source()}, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGrantsAreJudged(t *testing.T) {
	r, err := Make(sample(t, t.TempDir()), config(Verified))
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*Grant{}
	for _, g := range r.Grants {
		by[g.Name] = g
	}
	if g := by["npm"]; g.Requests != 140 || g.Refused != 0 || !g.NeverRefused || g.Unused || g.ExpiresSoon {
		t.Errorf("npm is %+v", g)
	}
	if g := by["api"]; g.Requests != 21 || g.Refused != 22 || g.NeverRefused || !g.ExpiresSoon || g.Days != 12 {
		t.Errorf("api is %+v", g)
	}
	if g := by["wiki"]; !g.Unused || !g.Expired || g.NeverRefused {
		t.Errorf("wiki is %+v", g)
	}
	if g := by["inference"]; g.ExpiresSoon || g.Sent != r.Totals.Sent-by["npm"].Sent-by["api"].Sent {
		t.Errorf("inference is %+v", g)
	}
	if len(r.Credentials) != 1 || r.Credentials[0].Requests != 60 || len(r.Derived) != 1 || r.Derived[0].Grant != "npm" {
		t.Errorf("credentials %+v, derived %+v", r.Credentials[0], r.Derived)
	}
}

func TestPlotHoldsAllBytes(t *testing.T) {
	w := newWriter(t, t.TempDir(), now, "k3f7x2")
	var sum int64
	for i := range 5000 {
		w.allow(time.Duration(i)*time.Millisecond, audit.Record{Grant: "api", Host: "api.example.com"}, int64(i), 1)
		sum += int64(i)
	}
	w.at = w.at.Add(-time.Hour) // a clock that was set back
	w.allow(0, audit.Record{Grant: "api", Host: "api.example.com"}, 7, 1)
	w.close()
	col := newCollector(config(Verified))
	if err := col.run(w.source()); err != nil {
		t.Fatal(err)
	}
	var got int64
	out := col.grants.named("api").out
	for _, n := range out {
		got += n
	}
	if got != sum+7 || len(out) > maxBuckets {
		t.Errorf("the bars have %d bytes in %d buckets, want %d", got, len(out), sum+7)
	}
	p := col.grants.plot()
	if len(p.Rows) != 1 || p.Rows[0].Total != sum+7 || len(p.Ticks) != 3 {
		t.Errorf("the plot is %+v", p)
	}
}

func TestWithdrawnDecisionCountsAsRefused(t *testing.T) {
	w := newWriter(t, t.TempDir(), now, "k3f7x2")
	id := w.put(1, audit.Record{Event: audit.Decided, Kind: "http", Verdict: "allow", Reason: "granted", Grant: "api", Host: "api.example.com"})
	w.put(1, audit.Record{Event: audit.Withdrawn, Decision: id})
	w.put(1, audit.Record{Event: audit.Gap, Count: 3})
	r := one(t, w, config(Verified))
	if r.Totals.Allowed != 0 || r.Totals.Refused != 1 || r.Causes[0].Name != "audit_unavailable" {
		t.Errorf("totals %+v", r.Totals)
	}
	if r.Verdict.Level != Look || !strings.HasPrefix(r.Attention[0].Sentence, "3 records could not be written") {
		t.Errorf("%+v, %+v", r.Verdict, r.Attention)
	}
}

func TestDamagedLogIsSaidToBe(t *testing.T) {
	w := newWriter(t, t.TempDir(), now, "k3f7x2")
	w.allow(1, audit.Record{Grant: "api", Host: "api.example.com"}, 1, 1)
	w.out.WriteString("{\"v\":1,\"seq\":\n")
	r := one(t, w, Config{Now: now})
	if r.Proof.State != Failed || !strings.Contains(r.Proof.Why, "line 3") {
		t.Errorf("proof is %+v", r.Proof)
	}
	if r.Totals.Allowed != 1 || r.Verdict.Level != Alarm {
		t.Errorf("%+v, %+v", r.Totals, r.Verdict)
	}
	if _, err := Make([]Source{{t.TempDir(), "20261130t124500-k3f7x2"}}, Config{Now: now}); err == nil {
		t.Error("a log that is not there is reported on")
	}
}

// TestLongLog reports on a log of 200,000 records of the size that real ones have.
// What it must hold is memory; the time is printed.
func TestLongLog(t *testing.T) {
	w := newWriter(t, t.TempDir(), now, "k3f7x2")
	for w.seq < 200_000 {
		host := "api" + randomName(w.seq%5000)
		path := "/repos/" + strings.Repeat("segment/", 12) + randomName(w.seq)
		if w.seq%3 == 0 {
			w.deny(time.Millisecond, audit.Record{Reason: "no_grant", Host: host, Method: "GET", Path: path, Mismatch: "no grant names " + host, Smallest: smallest}, 0)
		} else {
			w.allow(time.Millisecond, audit.Record{Grant: "api", Position: "policy.hcl:7:3", Host: "api.example.com", Method: "GET", Path: path}, 200, 3000)
		}
	}
	w.close()
	info, err := os.Stat(filepath.Join(w.dir, w.run, "000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	r, err := Make([]Source{w.source()}, config(Verified))
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, r)
	took := time.Since(begin)
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d records, %d MiB, in %v; heap %d MiB, from the system %d MiB more; the page has %d KiB",
		w.seq, info.Size()>>20, took, after.HeapAlloc>>20, (after.Sys-before.Sys)>>20, len(page)>>10)
	if r.Totals.Requests < 100_000 {
		t.Errorf("%d requests", r.Totals.Requests)
	}
	if grown := after.Sys - before.Sys; grown > 160<<20 {
		t.Errorf("the report took %d MiB from the system", grown>>20)
	}
	runtime.KeepAlive(r)
}
