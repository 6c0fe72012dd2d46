package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"

	"golang.org/x/sys/unix"
)

// stdio are the pipes that stand for descriptors 0 to 2 inside. The sandbox never holds the caller's own: a terminal takes orders (TIOCSTI), and a
// file could be reopened for writing.
type stdio struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	child          [3]*os.File
	ours           [3]*os.File
	stopInput      [2]*os.File // closing the second makes a waiting input copy end
	copies         sync.WaitGroup
	input          sync.WaitGroup
	tail           tail
	allowance      *allowance
	terminal       *terminal // nil: there are pipes only
	together       bool      // output and errors are one pipe, in the order in which they were printed
}

// same reports whether both streams go to one writer.
func same(stdout, stderr io.Writer) bool {
	return stdout != nil && reflect.TypeOf(stdout).Comparable() && stdout == stderr
}

func (c *CageConfig) newStdio(uid int) (*stdio, error) {
	a := newAllowance(c.Limits.Output)
	s := &stdio{stdin: c.Stdin, stdout: a.writer(c.Stdout), stderr: a.writer(c.Stderr), allowance: a}
	var err error
	if s.terminal, err = c.terminal(); err != nil {
		return s, err
	}
	s.together = s.terminal == nil && same(c.Stdout, c.Stderr)
	for i := range s.child {
		if i == 2 && s.together {
			s.child[i] = s.child[1]
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			return s, fmt.Errorf("create pipe: %w", err)
		}
		s.child[i], s.ours[i] = w, r
		if i == 0 {
			s.child[i], s.ours[i] = r, w
		}
		// A program may open /dev/stderr, which is the pipe anew, with the rights of its own user.
		if os.Geteuid() == 0 {
			if err := s.child[i].Chown(uid, uid); err != nil {
				return s, fmt.Errorf("give pipe to the sandbox's user: %w", err)
			}
		}
	}
	s.stopInput[0], s.stopInput[1], err = os.Pipe()
	return s, err
}

// childStarted closes the child's ends and starts to collect its output: what it prints before the command runs is wanted too.
func (s *stdio) childStarted() {
	for _, f := range s.child {
		f.Close()
	}
	if s.together {
		s.copies.Go(func() { drain(io.MultiWriter(&s.tail, s.stdout), s.ours[1]) })
		return
	}
	s.copies.Go(func() { drain(s.stdout, s.ours[1]) })
	s.copies.Go(func() { drain(io.MultiWriter(&s.tail, s.stderr), s.ours[2]) })
}

// adopt takes over the terminal and starts to collect what it shows.
func (s *stdio) adopt(oob []byte) error {
	if err := s.terminal.adopt(oob); err != nil {
		return err
	}
	s.copies.Go(func() { show(io.MultiWriter(&s.tail, s.stdout), s.terminal.master) })
	return nil
}

// endOfInput is what a terminal takes for it (Ctrl-D).
const endOfInput = "\x04"

// feed starts to copy the input.
func (s *stdio) feed() error {
	if s.terminal == nil || !s.terminal.streams[0] {
		s.input.Go(func() {
			defer s.ours[0].Close()
			s.copyInput(s.ours[0])
		})
		return nil
	}
	if err := s.terminal.attach(); err != nil {
		return err
	}
	s.input.Go(func() {
		s.copyInput(s.terminal.master)
		// A terminal that the sandbox has left takes no more.
		_, _ = s.terminal.master.WriteString(endOfInput)
	})
	return nil
}

func (s *stdio) copyInput(w io.Writer) {
	switch in := s.stdin.(type) {
	case nil:
	case *os.File:
		copyFile(w, in, s.stopInput[0])
	default:
		io.Copy(w, in)
	}
}

// drain copies until the sandbox has closed its end. Where nobody takes the output any more, the sandbox's pipe breaks too: `| head -1` ends a command
// that would go on for ever, as it does without a sandbox.
func drain(w io.Writer, r io.ReadCloser) {
	if _, err := io.Copy(w, r); err != nil {
		r.Close()
	}
}

// show is drain for a terminal, which cannot break.
func show(w io.Writer, r io.Reader) {
	if _, err := io.Copy(w, r); err != nil {
		io.Copy(io.Discard, r)
	}
}

// copyFile copies until the end of in, or until stop becomes readable: a terminal may never say anything again.
func copyFile(w io.Writer, in, stop *os.File) {
	buffer := make([]byte, 32<<10)
	for {
		poll := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}, {Fd: int32(stop.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if poll[1].Revents != 0 {
			return
		}
		if poll[0].Revents == 0 {
			continue
		}
		n, err := in.Read(buffer)
		if _, werr := w.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}

// finish waits for the output, which ends with the last process inside, and ends the input. An input that is no file is left to its reader.
func (s *stdio) finish() {
	s.copies.Wait()
	s.stopInput[1].Close()
	s.terminal.detach()
	s.ours[0].Close()
	if _, file := s.stdin.(*os.File); file || s.stdin == nil {
		s.input.Wait()
	}
}

func (s *stdio) close() {
	s.terminal.detach()
	for _, f := range append(append(s.child[:], s.ours[:]...), s.stopInput[:]...) {
		if f != nil {
			f.Close()
		}
	}
}

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailSize = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	t.last = t.last[max(0, len(t.last)-tailSize):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}
