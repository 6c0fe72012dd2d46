package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// signedRun runs a guard under an installation of its own, with n requests, and returns
// the folder of logs, the run and what to verify it with.
func signedRun(t testing.TB, n int, change func(*Config)) (dir, run string, trust Trust) {
	t.Helper()
	state := t.TempDir()
	if _, err := MakeKey(state, false); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	g := newGuard(t, func(c *Config) {
		c.Dir, c.State = dir, state
		if change != nil {
			change(c)
		}
	})
	for range n {
		d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app?state=open"))
		g.Finish(d, capability.Outcome{Status: 200})
	}
	if err := g.Close(0); err != nil {
		t.Fatal(err)
	}
	return dir, g.Run(), trustOf(t, state)
}

func trustOf(t testing.TB, state string) Trust {
	t.Helper()
	keys, err := PublicKeys(state)
	if err != nil {
		t.Fatal(err)
	}
	return Trust{Keys: keys, State: state}
}

func TestVerify(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"one segment": nil, "many": func(c *Config) { c.SegmentSize = 2000 }, "fsync": func(c *Config) { c.Durability = Fsync },
	} {
		t.Run(name, func(t *testing.T) {
			dir, run, trust := signedRun(t, 50, change)
			v, err := Verify(dir, run, trust)
			if err != nil {
				t.Fatal(err)
			}
			if !v.Closed || v.Records < 102 || v.Sealed != v.Records || v.Torn != 0 {
				t.Errorf("got %+v", v)
			}
			segments, err := segmentsOf(dir, run)
			if many := name == "many"; err != nil || many != (len(segments) > 5) {
				t.Errorf("%d segments, %v", len(segments), err)
			}
			h, err := ParseHead(v.Head)
			if err != nil || h.Size != v.Records {
				t.Fatal(h, err)
			}
			trust.Expect = []Head{h}
			if _, err := Verify(dir, run, trust); err != nil {
				t.Error(err)
			}
			trust.Expect[0].Root[7] ^= 1
			if _, err := Verify(dir, run, trust); err == nil {
				t.Error("another head was expected")
			}
		})
	}
}

// wantFault verifies a log that was tampered with and returns what is said about it.
func wantFault(t *testing.T, dir, run string, trust Trust) *Fault {
	t.Helper()
	_, err := Verify(dir, run, trust)
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a fault", err)
	}
	return f
}

// AUD-02: the newest records are deleted.
func TestCutTail(t *testing.T) {
	for _, k := range []int{1, 2, 10} {
		dir, run, trust := signedRun(t, 20, nil)
		path := segmentFile(dir, run, 1)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(raw, []byte("\n"))
		lines = lines[:len(lines)-1]
		write(t, path, bytes.Join(lines[:len(lines)-k], nil))
		f := wantFault(t, dir, run, trust)
		if want := int64(len(lines) - k + 1); f.Seq != want || !strings.Contains(f.Says, "cut") {
			t.Errorf("%v, want record %d", f, want)
		}
		// Whoever can cut the log can put an old head beside it; the installation remembers.
		if err := os.Remove(headOf(dir, run)); err != nil {
			t.Fatal(err)
		}
		wantFault(t, dir, run, trust)
		if f := wantFault(t, dir, run, Trust{Keys: trust.Keys}); !strings.Contains(f.Says, "no signed head") {
			t.Errorf("got %v", f)
		}
	}
}

// AUD-03: the whole log is deleted, or made anew.
func TestGoneOrRebuilt(t *testing.T) {
	dir, run, trust := signedRun(t, 5, nil)
	other, otherRun, otherTrust := signedRun(t, 5, nil)
	verify := func() (faults []string) {
		err := VerifyAll(dir, trust, func(_ *Verified, err error) {
			if err != nil {
				faults = append(faults, err.Error())
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return faults
	}
	if got := verify(); len(got) != 0 {
		t.Fatal("control:", got)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	if err := os.Rename(filepath.Join(dir, run), kept); err != nil {
		t.Fatal(err)
	}
	if got := verify(); len(got) != 1 || !strings.Contains(got[0], "its log is gone") {
		t.Errorf("deleted: %v", got)
	}
	// Another's log in its place, whole and well signed, but not by this installation.
	if err := os.Rename(filepath.Join(other, otherRun), filepath.Join(dir, run)); err != nil {
		t.Fatal(err)
	}
	if got := verify(); len(got) != 1 || !strings.Contains(got[0], "(record 1)") {
		t.Errorf("made anew: %v", got)
	}
	trust.Keys = append(trust.Keys, otherTrust.Keys...)
	if got := verify(); len(got) != 1 || !strings.Contains(got[0], "(record 1)") {
		t.Errorf("that of another run: %v", got)
	}
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A new key beside old logs would hide that the old one is gone.
func TestKeyIsNotReplacedSilently(t *testing.T) {
	state, dir := t.TempDir(), t.TempDir()
	first, err := EnsureKey(state, dir)
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	if again, err := EnsureKey(state, dir); err != nil || again != "" {
		t.Errorf("a second time: %q, %v", again, err)
	}
	info, err := os.Stat(filepath.Join(state, keyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	g := newGuard(t, func(c *Config) { c.Dir, c.State = dir, state })
	if err := g.Close(0); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(state, keyFile)); err != nil {
		t.Fatal(err)
	}
	var lost *LostKeyError
	for _, logs := range []string{dir, t.TempDir()} { // the second: the installation remembers that there were logs
		if _, err := EnsureKey(state, logs); !errors.As(err, &lost) || !strings.Contains(lost.Hint(), "scupper audit key --new") {
			t.Errorf("a lost key: %v", err)
		}
	}
	if _, err := EnsureKey(t.TempDir(), dir); !errors.As(err, &lost) {
		t.Errorf("logs, and an installation that knows nothing: %v", err)
	}
	if _, err := New(Config{Dir: dir, State: state}); !errors.Is(err, ErrNoKey) {
		t.Errorf("a run without a key: %v", err)
	}
	second, err := MakeKey(state, true)
	if err != nil || second == first {
		t.Fatal(second, err)
	}
	if _, err := Verify(dir, g.Run(), trustOf(t, state)); err != nil {
		t.Errorf("a log signed with the old key: %v", err)
	}
	if keys, err := PublicKeys(state); err != nil || len(keys) != 2 || keys[0] != second || keys[1] != first {
		t.Errorf("keys %v, %v", keys, err)
	}
}

// BenchmarkRun is what the log adds to the start and the end of a run.
func BenchmarkRun(b *testing.B) {
	for name, signed := range map[string]bool{"signed": true, "unsigned": false} {
		b.Run(name, func(b *testing.B) {
			c := Config{Dir: b.TempDir()}
			if signed {
				c.State = b.TempDir()
				if _, err := MakeKey(c.State, false); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				g, err := New(c)
				if err != nil {
					b.Fatal(err)
				}
				if err := g.Close(0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A key that cannot sign lets nothing pass.
func TestDamagedKey(t *testing.T) {
	for _, damage := range []func(string) string{
		func(s string) string { return s[:len(s)-9] + "\n" },
		func(s string) string { return strings.Replace(s, "+scupper-", "+scuppes-", 1) },
		func(string) string { return "" },
	} {
		state := t.TempDir()
		if _, err := MakeKey(state, false); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(state, keyFile)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, []byte(damage(string(text))))
		g, err := New(Config{Dir: t.TempDir(), State: state, Policy: grants(t, capability.Limits{})})
		if err != nil {
			continue
		}
		if d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); d.Allowed() || g.Ready() == nil {
			t.Errorf("allowed: %v", g.Ready())
		}
		if err := g.Close(0); err == nil || !strings.Contains(err.Error(), "is damaged") || strings.Contains(err.Error(), string(text[40:60])) {
			t.Errorf("got %v", err)
		}
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// AUD-08: sixty-four clients at once, over many segments, in both durabilities: one total
// order, no number lost or used twice, and the log verifies.
func TestParallelClients(t *testing.T) {
	for _, durability := range []Durability{Commit, Fsync} {
		t.Run("AUD-08 "+string(durability), func(t *testing.T) {
			state := t.TempDir()
			if _, err := MakeKey(state, false); err != nil {
				t.Fatal(err)
			}
			g := newGuard(t, func(c *Config) {
				c.State, c.Durability, c.SegmentSize, c.SealEvery = state, durability, 32<<10, 5*time.Millisecond
			})
			var ids sync.Map
			var wg sync.WaitGroup
			for range 64 {
				wg.Go(func() {
					for range 20 {
						d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
						if _, twice := ids.LoadOrStore(d.ID, true); !d.Allowed() || twice {
							t.Errorf("%s %q", d.Reason, d.ID)
						}
						g.Finish(d, capability.Outcome{Status: 200})
					}
				})
			}
			wg.Wait()
			if err := g.Close(0); err != nil {
				t.Fatal(err)
			}
			all := records(t, g) // no gap, no number twice, time does not go back
			if n := len(events(all, Decided)); n != 64*20 {
				t.Errorf("%d decisions on record", n)
			}
			for _, r := range events(all, Decided) {
				if _, asked := ids.Load(r.ID); !asked {
					t.Errorf("nobody asked for %s", r.ID)
				}
			}
			v, err := Verify(g.config.Dir, g.run, trustOf(t, state))
			if err != nil || v.Records != int64(len(all)) || !v.Closed {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}
