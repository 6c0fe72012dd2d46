package audit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// secondVerifier builds the program that shares no code with this package.
func secondVerifier(t *testing.T) func(args ...string) (string, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "scupper-verify")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/scupper-verify").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(args ...string) (string, error) {
		out, err := exec.Command(program, args...).CombinedOutput()
		return string(out), err
	}
}

func TestProveToAThirdParty(t *testing.T) {
	verify := secondVerifier(t)
	dir, run, trust := signedRun(t, 20, func(c *Config) { c.SegmentSize = 3000 })
	_, _, other := signedRun(t, 1, nil)
	v, err := Verify(dir, run, trust)
	if err != nil {
		t.Fatal(err)
	}
	key, file := trust.Keys[0], filepath.Join(t.TempDir(), "proof.txt")
	for seq := int64(1); seq <= v.Records; seq += 3 {
		proof, err := Prove(dir, run+"-"+itoa(seq), Trust{Keys: trust.Keys})
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, proof)
		if out, err := verify(file, "--key", key); err != nil || !strings.Contains(out, `"seq":`+itoa(seq)+",") {
			t.Fatalf("record %d: %s%v", seq, out, err)
		}
	}
	proof, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string][]byte{
		"record": bytes.Replace(proof, []byte(`"mono":`), []byte(`"mono":1`), 1),
		"index":  bytes.Replace(proof, []byte("\nindex "), []byte("\nindex 1"), 1),
		"hash":   bytes.Replace(proof, []byte("=\n"), []byte("=\n"+encode(leaf(nil))+"\n"), 1),
		"head":   bytes.Replace(proof, []byte("\n"+itoa(v.Records)+"\n"), []byte("\n"+itoa(v.Records+1)+"\n"), 1),
		"empty":  nil,
	} {
		if bytes.Equal(changed, proof) {
			t.Fatal(name, "is as it was")
		}
		write(t, file, changed)
		if out, err := verify(file, "--key", key); err == nil {
			t.Errorf("changed %s: %s", name, out)
		}
	}
	write(t, file, proof)
	if out, err := verify(file, "--key", other.Keys[0]); err == nil {
		t.Errorf("another key: %s", out)
	}
}

func TestSecondVerifierReadsFolders(t *testing.T) {
	verify := secondVerifier(t)
	dir, run, trust := signedRun(t, 30, func(c *Config) { c.SegmentSize = 2000 })
	folder, key := filepath.Join(dir, run), trust.Keys[0]
	old, err := os.ReadFile(headOf(dir, run))
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "head")
	write(t, kept, old)
	holds := func(want bool, args ...string) {
		t.Helper()
		if out, err := verify(append(append([]string{folder}, args...), "--key", key)...); (err == nil) != want {
			t.Errorf("%s: %v", out, err)
		}
	}
	holds(true)
	c, err := newCheck(dir, run, trust)
	if err != nil || c.read() != nil {
		t.Fatal(err)
	}
	if d, err := Drop(trust.State, dir, run, c.ends[2].Time, time.Now()); err != nil || d.Segments != 2 {
		t.Fatal(d, err)
	}
	holds(true)
	holds(true, kept)
	path := segmentFile(dir, run, 5)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, bytes.Replace(whole, []byte("/repos/app"), []byte("/repos/apq"), 1))
	holds(false)
	holds(false, kept)
	write(t, path, whole)
	holds(true)
	if err := os.Remove(segmentFile(dir, run, 4)); err != nil {
		t.Fatal(err)
	}
	holds(false)
}
