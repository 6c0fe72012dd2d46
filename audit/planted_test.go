package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What no verification looks at, no reader may take for a part of the log.
func TestFilesThatAreNoSegmentsAreNotRead(t *testing.T) {
	dir, run, trust := signedRun(t, 3, nil)
	v, err := Verify(dir, run, trust)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(segmentFile(dir, run, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"zzzzzz.jsonl", "00000a.jsonl", "0000001.jsonl", "000001.jsonl.", "\u0661\u0661\u0661.jsonl"} {
		write(t, filepath.Join(dir, run, name), whole)
	}
	n := int64(0)
	for _, err := range Lines(dir, run) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if _, err := Verify(dir, run, trust); err != nil || n != v.Records {
		t.Errorf("%d lines are read, %d are verified: %v", n, v.Records, err)
	}
}

func TestPipesInALogHoldNobodyUp(t *testing.T) {
	dir, run, trust := signedRun(t, 30, func(c *Config) { c.SegmentSize = 3000 })
	policies, err := filepath.Glob(filepath.Join(dir, run, "policy-*"))
	if err != nil || len(policies) == 0 {
		t.Fatal(policies, err)
	}
	for _, path := range []string{segmentFile(dir, run, 1), segmentFile(dir, run, 2), leavesFile(dir, run, 1), headOf(dir, run), policies[0]} {
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := Verify(dir, run, trust)
			for _, lineErr := range Lines(dir, run) {
				err = errors.Join(err, lineErr)
			}
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil && path != leavesFile(dir, run, 1) {
				t.Errorf("%s is a pipe, and the log verifies", filepath.Base(path))
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s is a pipe, and verification waits for it", filepath.Base(path))
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		write(t, path, kept)
	}
}

func TestALinkInThePlaceOfAFolderOfLogsHidesNoRun(t *testing.T) {
	dir, run, trust := signedRun(t, 3, nil)
	moved := dir + "-moved"
	if err := errors.Join(os.Rename(dir, moved), os.Symlink(moved, dir)); err != nil {
		t.Fatal(err)
	}
	faults := func() (n int) {
		_ = VerifyAll(dir, trust, func(_ *Verified, err error) { // that there is no run at all is a fault too
			if err != nil {
				n++
			}
		})
		return n
	}
	if n := faults(); n != 0 {
		t.Errorf("a folder that was moved has %d faults", n)
	}
	if err := os.RemoveAll(filepath.Join(moved, run)); err != nil {
		t.Fatal(err)
	}
	if n := faults(); n != 1 {
		t.Errorf("a run that is gone makes %d faults", n)
	}
}

// The one who deletes records knows the hashes of those before: a record of a drop counts
// only under a signed head.
func TestSecondVerifierWantsDropsSigned(t *testing.T) {
	verify := secondVerifier(t)
	dir, run, trust := signedRun(t, 30, func(c *Config) { c.SegmentSize = 3000 })
	c, err := newCheck(dir, run, trust)
	if err != nil || c.read() != nil {
		t.Fatal(err)
	}
	gone := &Segment{Number: 2, Before: c.starts[1]}
	for _, p := range c.borders[1].peaks() {
		gone.Peaks = append(gone.Peaks, encode(p))
	}
	line, err := (&Record{Event: SegmentsDropped, Log: gone}).line(stamp{seq: c.tree.n + 1, time: time.Now(), run: run})
	if err != nil {
		t.Fatal(err)
	}
	last := segmentFile(dir, run, c.segments[len(c.segments)-1])
	whole, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "head")
	head, err := os.ReadFile(headOf(dir, run))
	if err != nil {
		t.Fatal(err)
	}
	write(t, kept, head)
	write(t, last, append(bytes.Clone(whole), line...))
	if err := os.Remove(segmentFile(dir, run, 1)); err != nil {
		t.Fatal(err)
	}
	folder, key := filepath.Join(dir, run), trust.Keys[0]
	for _, args := range [][]string{{folder, "--key", key}, {folder, kept, "--key", key}} {
		if out, err := verify(args...); err == nil {
			t.Errorf("%q: a drop that nobody signed counts: %s", args[1], out)
		}
	}
	if _, err := Verify(dir, run, trust); err == nil {
		t.Error("a drop that nobody signed counts")
	}
}

func TestSecondVerifierRefusesWhatItDoesNotUnderstand(t *testing.T) {
	verify := secondVerifier(t)
	dir, run, trust := signedRun(t, 3, nil)
	proof, err := Prove(dir, run+"-2", trust)
	if err != nil {
		t.Fatal(err)
	}
	file, key := filepath.Join(t.TempDir(), "proof.txt"), trust.Keys[0]
	exit := func(args ...string) int {
		t.Helper()
		out, err := verify(args...)
		var e interface{ ExitCode() int }
		switch {
		case err == nil:
			return 0
		case !errors.As(err, &e):
			t.Fatal(err)
		case bytes.Contains([]byte(out), []byte("goroutine")):
			t.Errorf("it crashed: %s", out)
		}
		return e.ExitCode()
	}
	write(t, file, proof)
	if code := exit(file, "--key", key); code != 0 {
		t.Fatalf("exit code %d for a proof that holds", code)
	}
	if code := exit(file, headOf(dir, run), "--key", key); code != 1 {
		t.Errorf("exit code %d for a proof and a head that is not looked at", code)
	}
	for _, change := range [][2]string{
		{"\nindex 1\n", "\nindex1\n"}, {"\nindex 1\n", "\nindex -1\n"}, {"\nindex 1\n", "\nindex 0x1\n"}, {"\nindex 1\n", "\nindex 01\n"},
		{"\nindex 1\n", "\nindex 1 \n"}, {"\nindex 1\n", "\nindex 9223372036854775807\n"}, {"c2sp.org/", " c2sp.org/"},
	} {
		changed := bytes.Replace(proof, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(changed, proof) {
			t.Fatal(change, "changes nothing")
		}
		write(t, file, changed)
		if code := exit(file, "--key", key); code != 1 {
			t.Errorf("%q: exit code %d", change[1], code)
		}
	}
}

// A signed line can hold what a command was called with.
func TestSecondVerifierPrintsNothingThatActsOnATerminal(t *testing.T) {
	verify := secondVerifier(t)
	dir, run, trust := signedRun(t, 1, func(c *Config) { c.Command = []string{"x", "\u202e\u009b2J\u200b\u061c", "\u00fc"} })
	proof, err := Prove(dir, run+"-1", trust)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "proof.txt")
	write(t, file, proof)
	out, err := verify(file, "--key", trust.Keys[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out {
		if r != '\n' && Printable(string(r)) != string(r) {
			t.Errorf("it prints %U", r)
		}
	}
	if !bytes.Contains([]byte(out), []byte(`\u202e\u009b2J`)) || !bytes.Contains([]byte(out), []byte("\u00fc")) {
		t.Errorf("it does not print what is there: %s", out)
	}
}
