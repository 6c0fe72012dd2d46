package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"scupper.dev/scupper/replay"
)

// TestMain runs the tests in a network without exit: outside a sandbox the attempts do
// send.
func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	code, err := replay.Sealed(context.Background(), m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return code
}

// TestBaitCanBeTaken makes the attempts where nothing holds them: what is bait is
// reached, and is seen to be.
func TestBaitCanBeTaken(t *testing.T) {
	dir := t.TempDir()
	bait, err := Lay(Lures{TempDirs: []string{dir}, Env: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	defer bait.Close()
	text, err := json.Marshal(bait.Scene)
	if err != nil {
		t.Fatal(err)
	}
	var scene Scene
	if err := json.Unmarshal(text, &scene); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, r := range Run(scene) {
		out[r.Name] = r.Out
		if (r.Came == "got out") != r.Out {
			t.Errorf("%s: %q and %v", r.Name, r.Came, r.Out)
		}
	}
	for _, name := range []string{
		"TCP to a listener of the host", "UDP to a socket of the host", "an abstract unix socket of the host", "a unix socket of the host",
		"a file of the host", "a process of the host in /proc", "a secret in the environment", "a descriptor that was inherited",
	} {
		if !out[name] {
			t.Errorf("%s was not reached", name)
		}
	}
	want := []string{"TCP listener", "UDP socket", "abstract unix socket", "unix socket in " + dir}
	if diff := cmp.Diff(want, bait.Reached()); diff != "" {
		t.Errorf("reached, as seen from outside (-want +got):\n%s", diff)
	}
}

// TestCloseTakesBaitAway looks for what is left.
func TestCloseTakesBaitAway(t *testing.T) {
	dir := t.TempDir()
	bait, err := Lay(Lures{TempDirs: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	scene := bait.Scene
	if err := bait.Close(); err != nil {
		t.Error(err)
	}
	for _, r := range Run(scene) {
		if baited := slices.Contains([]Control{HostFiles, Environment, Descriptors, Processes}, r.Control); baited && r.Out && r.Name != "a device of the host" {
			t.Errorf("%s is still there", r.Name)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if got := bait.Reached(); len(got) > 0 {
		t.Errorf("reached after the end: %v", got)
	}
}

// TestEveryControlIsTried has an attempt for each control, and none for others.
func TestEveryControlIsTried(t *testing.T) {
	tried := map[Control]bool{}
	for _, a := range slices.Concat(insideAttempts(), hostAttempts(), fileAttempts(), callAttempts(), networkAttempts()) {
		tried[a.control] = true
	}
	for _, c := range Controls() {
		if !tried[c] {
			t.Errorf("nothing tries %q", c)
		}
		delete(tried, c)
	}
	if len(tried) > 0 {
		t.Errorf("unknown controls: %v", tried)
	}
}

func TestVerdict(t *testing.T) {
	answer := func(code byte, answers byte) []byte {
		return []byte{0, 7, 0x81, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0}
	}
	for _, c := range []struct {
		answer []byte
		out    bool
	}{{answer(0, 1), true}, {answer(0, 0), false}, {answer(3, 0), false}, {answer(5, 1), false}, {nil, false}} {
		if err := verdict(c.answer); (err == nil) != c.out {
			t.Errorf("%x: %v", c.answer, err)
		}
	}
}

func TestAnyOf(t *testing.T) {
	fail := func() error { return unix.ECONNREFUSED }
	if err := anyOf(fail, fail); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
	if err := anyOf(fail, func() error { return nil }, fail); err != nil {
		t.Errorf("one got out, and the answer is %v", err)
	}
}
