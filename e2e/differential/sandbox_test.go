package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const (
	builtVar  = "SCUPPER_DIFFERENTIAL_BUILT"  // the folder that scupper was built into
	clientVar = "SCUPPER_DIFFERENTIAL_CLIENT" // makes this program the client in a sandbox
)

// build builds scupper while there is a network for what Go may lack.
func build() (string, error) {
	dir, err := os.MkdirTemp("", "scupper-differential-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return dir, err
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "scupper"), "scupper.dev/scupper/cmd/scupper")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("build scupper: %w\n%s", err, out)
	}
	return dir, nil
}

// wire is a sample on its way into a sandbox; JSON would mend bytes that are no text.
type wire struct {
	Way   way
	Parts [][]byte
}

// clientMain plays the samples on its standard input.
func clientMain() int {
	var samples []wire
	if err := json.NewDecoder(os.Stdin).Decode(&samples); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	p := &player{host: granted, client: clientTLS(nil, "http/1.1"), client2: clientTLS(nil, "h2")}
	for _, w := range samples {
		s := sample{way: w.Way}
		for _, part := range w.Parts {
			s.parts = append(s.parts, string(part))
		}
		if _, err := p.send(s); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// TestSandbox plays samples from inside scupper run: what holds for the proxy alone
// holds for the whole.
func TestSandbox(t *testing.T) {
	k := makeKeys(t, t.TempDir())
	o := goOrigin(t, k)
	g := newGenerator(setting(t, seedVar, 1), 1<<32)
	var samples []wire
	sent := map[string]bool{}
	asked := 0
	for asked < 300 {
		s, n := g.sample()
		if s.way.explicit() { // there is no such front in a sandbox
			continue
		}
		asked += n
		maps.Copy(sent, bodies(s))
		w := wire{Way: s.way}
		for _, part := range s.parts {
			w.Parts = append(w.Parts, []byte(part))
		}
		samples = append(samples, w)
	}
	log := runSandboxed(t, k, o, samples)
	grants, tally, torn, err := readLog(bytes.NewReader(log))
	if err != nil || len(torn) > 0 {
		t.Fatalf("the log ends in %q: %v", torn, err)
	}
	for i := range grants {
		grants[i].sent = sent
	}
	got := o.take(netip.MustParseAddr("127.0.0.1"), len(completed(grants)), time.Now().Add(10*time.Second))
	left, found := match(true, grants, got)
	for _, f := range found {
		t.Error(f)
	}
	for _, f := range completed(left) {
		t.Errorf("not received: %s", f)
	}
	t.Logf("%d requests, %d allowed, %d denied with names and ends, %d received", asked, tally.allowed, tally.denied, len(got))
	if 5*tally.allowed < int64(asked) {
		t.Error("fewer than 20 % of the requests are allowed")
	}
}

// runSandboxed plays samples in a sandbox and returns the log.
func runSandboxed(t *testing.T, k keys, o *origin, samples []wire) []byte {
	t.Helper()
	dir, err := os.MkdirTemp("", "scupper-differential-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, sub := range []string{"work", "audit"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "work/client"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "policy.hcl"), []byte(policyFile()))
	input, err := json.Marshal(samples)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "--policy", filepath.Join(dir, "policy.hcl"), "--audit", filepath.Join(dir, "audit"), "--workdir", filepath.Join(dir, "work"), "--upstream-ca", k.cert, "--env", clientVar + "=1"}
	for _, host := range []string{granted, other} {
		args = append(args, "--resolve", fmt.Sprintf("%s:80:%s", host, o.plain), "--resolve", fmt.Sprintf("%s:443:%s", host, o.secure))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(os.Getenv(builtVar), "scupper"), append(args, "--", "./client")...)
	cmd.Stdin, cmd.Dir = bytes.NewReader(input), filepath.Join(dir, "work")
	cmd.Env = append(os.Environ(), "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("run the client in a sandbox: %v\n%.4000s", err, out)
	}
	segments, err := filepath.Glob(filepath.Join(dir, "audit", "*", "*.jsonl"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("logs: %v, %v", segments, err)
	}
	log, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	return log
}
