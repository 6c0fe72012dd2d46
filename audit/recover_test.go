package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// killed is the log of a run whose process is gone: its guard is left as it is, but for
// the lock, which a dead process does not hold.
func killed(t *testing.T, n int, torn string) (dir, run string, trust Trust) {
	t.Helper()
	state := t.TempDir()
	if _, err := MakeKey(state, false); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	g, err := New(Config{Dir: dir, State: state, Policy: grants(t, capability.Limits{}), PolicyText: []byte(policyText), FlushEvery: time.Hour, SealEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
	}
	if err := g.sealer.seal(); err != nil {
		t.Fatal(err)
	}
	if d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); !d.Allowed() { // which no head covers
		t.Fatal(d.Reason)
	}
	if err := g.sealer.entry.file.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close(0) }) // it has lost its entry
	if torn != "" {
		appendTo(t, segmentFile(dir, g.Run(), 1), torn)
	}
	return dir, g.Run(), trustOf(t, state)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, append(raw, text...))
}

// AUD-06: the torn tail is found and marked, the sequence goes on and is not used twice.
func TestRecover(t *testing.T) {
	for name, torn := range map[string]string{
		"AUD-06 between two lines": "", "AUD-06 within a line": `{"v":1,"seq":`, "AUD-06 within a long line": `{"v":1,"seq":` + strings.Repeat("x", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			dir, run, trust := killed(t, 5, torn)
			v, err := Verify(dir, run, trust)
			if err != nil || v.Closed || v.Torn != int64(len(torn)) || v.Records != 7 || v.Sealed != 6 || torn != "" && v.Line != 8 {
				t.Fatalf("before: %+v, %v", v, err)
			}
			got, err := Recover(trust.State, dir, time.Now())
			if err != nil || len(got) != 1 || got[0].Err != nil || got[0].Records != 7 || got[0].Cut != int64(len(torn)) {
				t.Fatalf("recovered %+v, %v", got, err)
			}
			v, err = Verify(dir, run, trust)
			if err != nil || !v.Closed || v.Torn != 0 || v.Sealed != v.Records {
				t.Fatalf("after: %+v, %v", v, err)
			}
			var seq int64
			var last []Event
			for r, err := range Records(dir, run) {
				if seq++; err != nil || r.Seq != seq {
					t.Fatalf("record %d: %+v, %v", seq, r, err)
				}
				last = append(last, r.Event)
			}
			want := []Event{LogClosed}
			if torn != "" {
				want = []Event{LogTorn, LogClosed}
			}
			if got := last[7:]; len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != LogClosed {
				t.Errorf("the log ends with %v", got)
			}
			if again, err := Recover(trust.State, dir, time.Now()); err != nil || len(again) != 0 {
				t.Errorf("a second time: %+v, %v", again, err)
			}
		})
	}
}

// A run that goes on is nobody's to close.
func TestRecoverLeavesTheLiving(t *testing.T) {
	state, dir := t.TempDir(), t.TempDir()
	if _, err := MakeKey(state, false); err != nil {
		t.Fatal(err)
	}
	g := newGuard(t, func(c *Config) { c.Dir, c.State = dir, state })
	if got, err := Recover(state, dir, time.Now()); err != nil || len(got) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := g.Close(0); err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(dir, g.Run(), trustOf(t, state)); err != nil || !v.Closed {
		t.Errorf("%+v, %v", v, err)
	}
}

// Nothing is written to a log that is not what its heads say.
func TestRecoverLeavesWhatDoesNotVerify(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, path string){
		"a changed record": func(t *testing.T, path string) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, bytes.Replace(raw, []byte("/repos/app"), []byte("/repos/apq"), 1))
		},
		"a cut tail": func(t *testing.T, path string) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, raw[:len(raw)/2])
		},
		"a newer version": func(t *testing.T, path string) { appendTo(t, path, `{"v":2,"seq":8}`+"\n") },
		"no log":          func(t *testing.T, path string) { os.Remove(path) },
		"another's head": func(t *testing.T, path string) {
			other, otherRun, _ := signedRun(t, 1, nil)
			head, err := os.ReadFile(headOf(other, otherRun))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(filepath.Dir(path), headFile), head)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, run, trust := killed(t, 5, "")
			path := segmentFile(dir, run, 1)
			harm(t, path)
			before, _ := os.ReadFile(path)
			got, err := Recover(trust.State, dir, time.Now())
			var f *Fault
			if err != nil || len(got) != 1 || !errors.As(got[0].Err, &f) {
				t.Fatalf("got %+v, %v", got, err)
			}
			if name == "a newer version" && (!f.Unreadable || f.Line != 8 || !strings.Contains(f.Says, "version 2")) {
				t.Errorf("got %v", f)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("it was written to")
			}
			if again, err := Recover(trust.State, dir, time.Now()); err != nil || len(again) != 0 {
				t.Errorf("a second time: %+v, %v", again, err)
			}
		})
	}
}

// A run that was killed before its first record leaves nothing that is in the way.
func TestRecoverBeforeTheFirstRecord(t *testing.T) {
	state, dir, run := t.TempDir(), t.TempDir(), "20261130t124500-k3f7x2"
	if _, err := MakeKey(state, false); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []bool{false, true} {
		e, err := enrol(state, dir, run)
		if err != nil {
			t.Fatal(err)
		}
		e.file.Close()
		if folder {
			if err := os.Mkdir(filepath.Join(dir, run), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Recover(state, dir, time.Now()); err != nil || len(got) != 0 {
			t.Errorf("got %+v, %v", got, err)
		}
		var v *Verified
		if err := VerifyAll(dir, trustOf(t, state), func(r *Verified, err error) {
			if v = r; err != nil {
				t.Error(err)
			}
		}); folder && (err != nil || v == nil || !v.Closed) || !folder && !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

func TestDrop(t *testing.T) {
	dir, run, trust := signedRun(t, 40, func(c *Config) { c.SegmentSize = 2000 })
	all, err := segmentsOf(dir, run)
	if err != nil || len(all) < 6 {
		t.Fatal(all, err)
	}
	v, err := Verify(dir, run, trust)
	if err != nil {
		t.Fatal(err)
	}
	old, _ := ParseHead(v.Head)
	proofs := func(seq int64) error {
		_, err := Prove(dir, run+"-"+itoa(seq), trust)
		return err
	}
	if err := proofs(1); err != nil {
		t.Fatal(err)
	}
	c, err := newCheck(dir, run, trust)
	if err != nil || c.read() != nil {
		t.Fatal(err)
	}
	border := c.ends[3].Time // the first three segments are older
	d, err := Drop(trust.State, dir, run, border, time.Now())
	if err != nil || d.Segments != 3 || d.Records != c.starts[3] {
		t.Fatalf("%+v, %v", d, err)
	}
	if v, err = Verify(dir, run, trust); err != nil || v.Dropped != d.Records || !v.Closed || v.Sealed != v.Records {
		t.Fatalf("%+v, %v", v, err)
	}
	if err := proofs(1); err == nil {
		t.Error("proved what was dropped")
	}
	for seq := d.Records + 1; seq <= v.Records; seq++ {
		if err := proofs(seq); err != nil {
			t.Errorf("record %d: %v", seq, err)
		}
	}
	expect := trust
	expect.Expect = []Head{old}
	if _, err := Verify(dir, run, expect); err != nil {
		t.Errorf("against the head from before: %v", err)
	}
	if err := os.Remove(segmentFile(dir, run, 4)); err != nil {
		t.Fatal(err)
	}
	wantFault(t, dir, run, trust)
}

func TestDropAll(t *testing.T) {
	dir, run, trust := signedRun(t, 5, nil)
	v, err := Verify(dir, run, trust)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := Drop(trust.State, dir, run, time.Unix(0, 0), time.Now()); err != nil || d.Segments != 0 {
		t.Fatalf("nothing is that old: %+v, %v", d, err)
	}
	later := time.Now().Add(time.Hour)
	if d, err := Drop(trust.State, dir, run, later, time.Now()); err != nil || d.Segments != 1 || d.Records != v.Records {
		t.Fatalf("%+v, %v", d, err)
	}
	if d, err := Drop(trust.State, dir, run, later, time.Now()); err != nil || d.Segments != 0 {
		t.Errorf("a second time: %+v, %v", d, err)
	}
	w, err := Verify(dir, run, trust)
	if err != nil || w.Dropped != v.Records || w.Records != v.Records+2 {
		t.Fatalf("%+v, %v", w, err)
	}
	if texts, _ := filepath.Glob(filepath.Join(dir, run, "policy-*")); len(texts) != 0 {
		t.Error("policies are left:", texts)
	}
	// A drop that is on no signed record is a crime.
	dir, run, trust = signedRun(t, 5, nil)
	key, err := OpenKey(trust.State)
	if err != nil {
		t.Fatal(err)
	}
	head, err := os.ReadFile(headOf(dir, run))
	if err != nil {
		t.Fatal(err)
	}
	e, err := reopen(trust.State, dir, run, true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.file.Close()
	registeredHead, err := os.ReadFile(e.closed)
	if err != nil {
		t.Fatal(err)
	}
	m := mending{dir: dir, run: run, key: key, entry: e, now: later, trust: trust}
	if d, err := m.drop(later); err != nil || d.Segments != 1 {
		t.Fatal(d, err)
	}
	write(t, headOf(dir, run), head)
	write(t, e.closed, registeredHead)
	if f := wantFault(t, dir, run, trust); !strings.Contains(f.Says, "no head covers it") && !strings.Contains(f.Says, "closed before") {
		t.Errorf("got %v", f)
	}
}
