package e2e

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInput passes standard input through to its end.
func TestInput(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	in := make([]byte, 3<<20+1)
	rand.Read(in)
	sum := sha256.Sum256(in)
	argv, _ := w.runArgs(command("sha256sum"))
	cmd := w.command(t.Context(), argv, nil)
	cmd.Stdin = bytes.NewReader(in)
	if out, err := cmd.Output(); err != nil || !strings.HasPrefix(string(out), hex.EncodeToString(sum[:])) {
		t.Errorf("%v: %q", err, out)
	}
	w.run(command("cat")).wantExit(0).farSideNothing() // from /dev/null
	t.Run("that the command does not read", func(t *testing.T) {
		argv, _ := w.runArgs(command("true"))
		cmd := w.command(t.Context(), argv, nil)
		never, mine, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer never.Close()
		defer mine.Close()
		cmd.Stdin = never
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// TestMuchOutput passes output through without holding it.
func TestMuchOutput(t *testing.T) {
	const size, most = 100 << 20, 150 << 20
	w := newWorld(t, ordinaryUser(t))
	argv, _ := w.runArgs(shell("head -c 104857600 /dev/zero"))
	cmd := w.command(t.Context(), argv, nil)
	count := counter(0)
	cmd.Stdout = &count
	if err := cmd.Run(); err != nil || count != size {
		t.Fatalf("%v: %d bytes, want %d", err, count, size)
	}
	// Kilobytes (getrusage(2)), of scupper and what it has waited for.
	if used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; used > most {
		t.Errorf("used %d bytes of memory, want at most %d", used, most)
	}
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// TestReaderThatGoesAway is what `| head -1` does to a command that would go on for ever.
func TestReaderThatGoesAway(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	argv, audit := w.runArgs(command("yes"))
	cmd := w.command(t.Context(), argv, nil)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	begin := time.Now()
	timer := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err = cmd.Wait()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v to end", took)
	}
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGPIPE) || strings.Contains(stderr.String(), "goroutine") {
		t.Errorf("%v, exit code %d: %s", err, code, &stderr)
	}
	if log := readLog(t, audit); len(log) == 0 || log[len(log)-1].Event != "run_ended" {
		t.Errorf("%v, %s: the log does not end: %s", err, &stderr, log)
	}
	wantNoPlaceholders(w)
}
