package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// listeners are two processes of one group that say which signals they get. USR2 ends
// the first.
const listeners = `
import os, signal, sys
parent = os.getpid()
os.fork()
role = "parent" if os.getpid() == parent else "child"
def say(n, _):
    os.write(1, f"{role} {signal.Signals(n).name}\n".encode())
    if n == signal.SIGUSR2: os._exit(7)
for n in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2: signal.signal(n, say)
os.write(1, f"{role} ready\n".encode())
while True: signal.pause()
`

// TestSignals forwards INT, QUIT and HUP to the group, as a terminal does, and others to
// the command.
func TestSignals(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			p := w.spawn(python(listeners, false))
			wantLines(p, "parent ready", "child ready")
			for _, s := range []struct {
				signal syscall.Signal
				want   []string
			}{
				{syscall.SIGUSR1, []string{"parent SIGUSR1"}},
				{syscall.SIGINT, []string{"child SIGINT", "parent SIGINT"}},
				{syscall.SIGTERM, []string{"parent SIGTERM"}},
				{syscall.SIGHUP, []string{"child SIGHUP", "parent SIGHUP"}},
				{syscall.SIGQUIT, []string{"child SIGQUIT", "parent SIGQUIT"}},
			} {
				if err := p.cmd.Process.Signal(s.signal); err != nil {
					t.Fatal(err)
				}
				wantLines(p, s.want...)
			}
			p.cmd.Process.Signal(syscall.SIGUSR2)
			wantLines(p, "parent SIGUSR2")
			p.wantEnd(7)
			readLog(t, p.audit)
		})
	}
}

// wantLines waits for these lines, in any order.
func wantLines(p *process, want ...string) {
	p.t.Helper()
	var got []string
	for range want {
		got = append(got, p.line())
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Fatalf("other lines (-want +got):\n%s", diff)
	}
}

// TestSignalThatEndsTheCommand is what Ctrl-C and a supervisor's TERM do.
func TestSignalThatEndsTheCommand(t *testing.T) {
	for s, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(s.String(), func(t *testing.T) {
			w := newWorld(t, ordinaryUser(t))
			p := w.spawn(shell("echo ready; exec sleep 1000"))
			wantLines(p, "ready")
			p.cmd.Process.Signal(s)
			p.wantEnd(code)
			wantNoPlaceholders(w)
		})
	}
}

// TestKilled kills scupper itself: the sandbox dies with it, and the next run cleans up.
func TestKilled(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			mark := fmt.Sprintf("1000.%d%d", os.Getpid(), u.uid)
			before := leftovers(t, w, mark)
			p := w.spawn(shell("readlink /proc/self/ns/net; sleep " + mark + " & exec sleep " + mark))
			namespace := p.line()
			if !namespaceLives(t, namespace) || len(marked(t, mark)) == 0 {
				t.Fatal("control: the sandbox does not live")
			}
			if _, err := os.Lstat(w.at("work/.git")); err != nil {
				t.Fatalf("control: no placeholder: %v", err)
			}
			p.cmd.Process.Kill()
			<-p.ended
			for until := time.Now().Add(5 * time.Second); len(marked(t, mark)) > 0 || namespaceLives(t, namespace); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("5 s later: %v, namespace: %v", marked(t, mark), namespaceLives(t, namespace))
				}
			}
			readLog(t, p.audit)
			w.run(shell("true")).wantExit(0).farSideNothing()
			wantNoPlaceholders(w)
			known := func(s string) bool { return strings.HasPrefix(s, w.at("home")) } // the state directory came into being
			if diff := cmp.Diff(slices.DeleteFunc(before, known), slices.DeleteFunc(leftovers(t, w, mark), known)); diff != "" {
				t.Errorf("left behind (-before +after):\n%s", diff)
			}
		})
	}
}

// namespaceLives looks for processes in a network namespace.
func namespaceLives(t *testing.T, name string) bool {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(path string) bool { to, _ := os.Readlink(path); return to == name })
}
