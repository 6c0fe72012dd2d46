package e2e

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// process is a scupper run that a test talks to while it goes on.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	lines  chan string // of standard output
	stderr bytes.Buffer
	audit  string
	ended  chan struct{}
}

// spawn starts a client under scupper run. It ends with the test at the latest.
func (w *world) spawn(c client) *process {
	w.t.Helper()
	return w.spawnWith(c, nil)
}

// spawnSaying starts a client whose input is lines; an empty one ends it.
func (w *world) spawnSaying(c client) (p *process, say func(line string)) {
	w.t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { out.Close() })
	p = w.spawnWith(c, in)
	in.Close()
	return p, func(line string) {
		if line == "" {
			out.Close()
			return
		}
		if _, err := io.WriteString(out, line+"\n"); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *world) spawnWith(c client, stdin *os.File) *process {
	w.t.Helper()
	argv, audit := w.runArgs(c)
	p := &process{t: w.t, cmd: w.command(context.Background(), argv, nil), lines: make(chan string, 100), audit: audit, ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	if stdin != nil {
		p.cmd.Stdin = stdin
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.lines <- lines.Text()
		}
		p.cmd.Wait()
	}()
	w.t.Cleanup(func() { p.cmd.Process.Kill(); <-p.ended })
	return p
}

// line waits for the next line.
func (p *process) line() string {
	p.t.Helper()
	select {
	case text := <-p.lines:
		return text
	case <-p.ended:
		p.t.Fatalf("ended before it said more: %v\n%s", p.cmd.ProcessState, &p.stderr)
	case <-time.After(patience):
		p.t.Fatal("said nothing")
	}
	return ""
}

// wantEnd waits for the end.
func (p *process) wantEnd(code int) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("did not end")
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d, want %d\n%s", got, code, &p.stderr)
	}
}
