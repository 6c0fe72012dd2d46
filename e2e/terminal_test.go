package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// screen is a terminal that tmux plays, with a plain shell in it.
type screen struct {
	w *world
}

func newScreen(w *world) *screen {
	w.t.Helper()
	s := &screen{w}
	w.t.Cleanup(func() {
		// The test's own context has ended by now.
		if out, err := s.command(context.Background(), "kill-server").CombinedOutput(); err != nil {
			w.t.Errorf("end tmux: %v: %s", err, out)
		}
	})
	w.env = append(w.env, "TMUX_TMPDIR="+w.at("home"), "SHELL=/bin/sh", "ENV=", "PS1=outside> ")
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "sh")
	s.await("outside> ")
	return s
}

func (s *screen) command(ctx context.Context, args ...string) *exec.Cmd {
	return s.w.command(ctx, append([]string{"tmux", "-L", "e2e"}, args...), nil)
}

func (s *screen) tmux(args ...string) string {
	s.w.t.Helper()
	out, err := s.command(s.w.t.Context(), args...).CombinedOutput()
	if err != nil {
		s.w.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// keys types what tmux calls by these names: "C-c", "Enter", or text.
func (s *screen) keys(keys ...string) *screen {
	s.w.t.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
	return s
}

// line types a line on an empty screen.
func (s *screen) line(text string) *screen {
	s.w.t.Helper()
	s.tmux("send-keys", "-R", ";", "clear-history")
	return s.keys(text, "Enter")
}

// await waits until the screen, with its colours, has a text.
func (s *screen) await(text string) *screen {
	s.w.t.Helper()
	var shown string
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		shown = s.tmux("capture-pane", "-p", "-e", "-J")
		if strings.Contains(shown, text) {
			return s
		}
	}
	s.w.t.Fatalf("%q does not appear on the screen:\n%s", text, strings.TrimRight(shown, "\n"))
	return s
}

// scupper starts a command in a sandbox from the screen's shell.
func (s *screen) scupper(flags string, c client) *screen {
	s.w.t.Helper()
	argv, _ := s.w.runArgs(c)
	for i, a := range argv {
		argv[i] = "'" + a + "'"
	}
	line := strings.Join(argv, " ")
	return s.line(strings.Replace(line, "'run'", "run "+flags, 1))
}

// part runs a part of a test that goes on with the same screen.
func (s *screen) part(t *testing.T, name string, f func()) {
	t.Run(name, func(t *testing.T) {
		whole := s.w.t
		defer func() { s.w.t = whole }()
		s.w.t = t
		f()
	})
}

// TestTerminal drives an interactive shell in a sandbox.
func TestTerminal(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			s := newScreen(w)
			s.line("stty -g >before; echo written").await("\nwritten")
			s.scupper("--env PS1='inside> '", command("bash", "--norc", "--noprofile")).await("inside> ")
			s.part(t, "terminal", func() {
				s.line("tty; stty size").await("/dev/pts/0\n30 100")
				s.line("test -t 0 && test -t 1 && test -t 2 && echo all $((40+2))").await("all 42")
			})
			s.part(t, "colour", func() { s.line("ls --color=auto -d /usr").await("\x1b[34m/usr") })
			s.part(t, "resize", func() {
				s.tmux("resize-window", "-x", "120", "-y", "40")
				s.line("stty size; echo width $COLUMNS").await("40 120\nwidth 120")
			})
			s.part(t, "Ctrl-C", func() {
				s.line("sleep 100").await("sleep 100").keys("C-c").await("^C\ninside> ")
				s.line("echo was $?").await("was 130")
			})
			s.part(t, "job control", func() {
				s.line("sleep 100").await("sleep 100").keys("C-z").await("Stopped")
				s.line("bg; jobs").await("Running")
				s.line("fg").await("\nsleep 100").keys("C-c").await("^C\ninside> ")
			})
			s.part(t, "injection", func() {
				s.line(`python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b"x")' 2>&1 | tail -n 1`).await("Operation not permitted")
			})
			s.part(t, "exit code", func() { s.line("exit 7").await("outside> ").line("echo was $?").await("was 7") })
			s.part(t, "modes", func() { s.line("stty -g | cmp - before && echo same modes").await("\nsame modes") })
		})
	}
}

// TestTerminalOfKilledRun: also a supervisor that cannot clean up leaves a terminal that works.
func TestTerminalOfKilledRun(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	s := newScreen(w)
	s.line("stty -g >before; echo written").await("\nwritten")
	mark := fmt.Sprintf("mark=%d", os.Getpid())
	s.scupper("", shell("stty -g >inside; echo running; sleep 100; : "+mark)).await("\nrunning")
	s.killSupervisor(mark)
	s.await("Killed")
	s.line("stty -g | cmp - before && echo same modes").await("\nsame modes")
}

func (s *screen) killSupervisor(mark string) {
	s.w.t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.w.t.Fatal(err)
	}
	for _, path := range processes {
		text, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(text, []byte(prepared("scupper")+"\x00run")) && bytes.Contains(text, []byte(mark)) {
			s.w.direct(shell("kill -KILL " + filepath.Base(filepath.Dir(path)))).wantExit(0)
			return
		}
	}
	s.w.t.Fatal("the supervisor is not there")
}

func TestTerminalPaste(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	s := newScreen(w)
	var text bytes.Buffer
	for i := range 1024 {
		fmt.Fprintf(&text, "line %04d %s\n", i, strings.Repeat("x", 53))
	}
	paste := w.user.file(t, w.at("home/paste"), text.Bytes())
	s.scupper("", shell("stty -echo; echo ready; cat >pasted; sha256sum <pasted")).await("\nready")
	s.tmux("load-buffer", paste, ";", "paste-buffer", "-r")
	s.keys("C-d").await(fmt.Sprintf("%x", sha256.Sum256(text.Bytes())))
}

// TestTerminalIsNotForPipes: where the output is piped the command sees pipes, unless it is asked for a terminal.
func TestTerminalIsNotForPipes(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	s := newScreen(w)
	look := shell("for i in 0 1 2; do test -t $i && echo $i is; done; echo seen")
	s.scupper("", look).await("0 is\n1 is\n2 is\nseen").await("outside> ")
	s.scupper("--tty=never", look).await("\nseen")
	if shown := s.tmux("capture-pane", "-p"); strings.Contains(shown, "\n0 is") {
		t.Errorf("a terminal although none was asked for:\n%s", shown)
	}
	if a := w.run(look); strings.Contains(a.stdout, " is") {
		t.Errorf("pipes are terminals: %q", a.stdout)
	}
	if a := w.runWith(look, "--tty=always"); a.stdout != "0 is\r\n1 is\r\n2 is\r\nseen\r\n" {
		t.Errorf("asked for a terminal: %q", a.stdout)
	}
}
