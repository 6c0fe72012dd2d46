package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TerminalUse says when the command gets a terminal of its own in the place of pipes.
type TerminalUse string

// What a command's terminal depends on. The zero value is TerminalNever.
const (
	TerminalNever  TerminalUse = "never"
	TerminalAuto   TerminalUse = "auto"   // there is one where the caller's input and output are a terminal with this process in its foreground
	TerminalAlways TerminalUse = "always" // input, output and errors are one
)

// terminal is a pseudo-terminal between the caller and the sandbox, as ssh and docker have it. The slave is made inside, by a file system of the
// sandbox's own; the master is here. The caller's terminal, which takes orders from who has it, stays outside and is raw meanwhile: what is typed,
// Ctrl-C too, means something to the inner terminal only.
type terminal struct {
	streams [3]bool  // which of the command's standard descriptors are it
	caller  *os.File // nil: the caller's input is no terminal
	modes   *unix.Termios
	master  *os.File
	keeper  *exec.Cmd
	alive   *os.File // the keeper waits for its end
	resized chan os.Signal
	sizes   sync.WaitGroup
	closing sync.Once
}

// terminal decides whether the command gets one; nil if not.
func (c *CageConfig) terminal() (*terminal, error) {
	in, inOK := terminalFile(c.Stdin)
	_, outOK := terminalFile(c.Stdout)
	_, errOK := terminalFile(c.Stderr)
	t := &terminal{resized: make(chan os.Signal, 1)}
	switch {
	case c.Terminal == TerminalAlways:
		t.streams = [3]bool{true, true, true}
	case c.Terminal == TerminalAuto && inOK && outOK && foreground(in):
		t.streams = [3]bool{true, true, errOK}
	default:
		return nil, nil
	}
	if !inOK {
		return t, nil
	}
	t.caller = in
	var err error
	if t.modes, err = unix.IoctlGetTermios(int(in.Fd()), unix.TCGETS); err != nil {
		return nil, fmt.Errorf("read the terminal's modes: %w", err)
	}
	return t, nil
}

func terminalFile(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	if !ok {
		return nil, false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return f, err == nil
}

// foreground reports whether this process may change a terminal's modes without being stopped for it.
func foreground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// adopt takes over the master, and gives the inner terminal the modes and the size of the caller's.
func (t *terminal) adopt(oob []byte) error {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) != 1 {
		return fmt.Errorf("receive the terminal: %d messages: %w", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return fmt.Errorf("receive the terminal: %d descriptors: %w", len(fds), err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return errors.Join(fmt.Errorf("prepare the terminal: %w", err), unix.Close(fds[0]))
	}
	if t.modes != nil {
		if err := unix.IoctlSetTermios(fds[0], unix.TCSETS, t.modes); err != nil {
			return errors.Join(fmt.Errorf("set the terminal's modes: %w", err), unix.Close(fds[0]))
		}
	}
	t.master = os.NewFile(uintptr(fds[0]), "terminal")
	return t.resize()
}

func (t *terminal) resize() error {
	size := &unix.Winsize{Row: 24, Col: 80}
	if t.caller != nil {
		var err error
		if size, err = unix.IoctlGetWinsize(int(t.caller.Fd()), unix.TIOCGWINSZ); err != nil {
			return fmt.Errorf("read the terminal's size: %w", err)
		}
	}
	return t.control(func(fd int) error { return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size) })
}

// control runs f on the master, which stays non-blocking.
func (t *terminal) control(f func(fd int) error) error {
	raw, err := t.master.SyscallConn()
	if err != nil {
		return fmt.Errorf("use the terminal: %w", err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = f(int(fd)) })
	return errors.Join(err, failed)
}

// attach makes the caller's terminal raw. A process of its own gives it its modes back, whatever becomes of this one.
func (t *terminal) attach() error {
	if t.caller == nil {
		return nil
	}
	if err := t.startKeeper(); err != nil {
		return fmt.Errorf("keep the terminal's modes: %w", err)
	}
	if err := unix.IoctlSetTermios(int(t.caller.Fd()), unix.TCSETS, raw(*t.modes)); err != nil {
		return fmt.Errorf("make the terminal raw: %w", err)
	}
	signal.Notify(t.resized, unix.SIGWINCH)
	t.sizes.Go(func() {
		for range t.resized {
			// The terminal is gone, or will tell its size again.
			_ = t.resize()
		}
	})
	return nil
}

// raw are modes in which everything that is typed comes through as it is, and so does what is shown (termios(3), cfmakeraw).
func raw(modes unix.Termios) *unix.Termios {
	modes.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	modes.Oflag &^= unix.OPOST
	modes.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	modes.Cflag = modes.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	return &modes
}

// keeperWord is the hidden first argument of the keeper.
const keeperWord = "__scupper-terminal"

func (t *terminal) startKeeper() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	t.keeper = exec.Command("/proc/self/exe", keeperWord)
	t.keeper.Env = []string{"GOMAXPROCS=1"}
	t.keeper.Stdin, t.keeper.ExtraFiles = t.caller, []*os.File{r}
	// Out of reach of the terminal's signals, and not stopped when it changes modes.
	t.keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := t.keeper.Start(); err != nil {
		t.keeper = nil
		return errors.Join(err, w.Close())
	}
	t.alive = w
	_, err = w.Write(unsafe.Slice((*byte)(unsafe.Pointer(t.modes)), unsafe.Sizeof(*t.modes)))
	return err
}

// keep is the keeper: it waits for the end of its supervisor and gives the terminal its modes back.
func keep() error {
	var modes unix.Termios
	all, err := io.ReadAll(os.NewFile(3, "alive"))
	if err != nil || copy(unsafe.Slice((*byte)(unsafe.Pointer(&modes)), unsafe.Sizeof(modes)), all) != int(unsafe.Sizeof(modes)) {
		return errors.Join(err, io.ErrUnexpectedEOF)
	}
	return unix.IoctlSetTermios(0, unix.TCSETSW, &modes)
}

// detach gives the caller's terminal back. It may be called again.
func (t *terminal) detach() {
	if t == nil {
		return
	}
	t.closing.Do(func() {
		signal.Stop(t.resized)
		close(t.resized)
		t.sizes.Wait()
		if t.keeper != nil {
			t.alive.Close()
			// It fails only when the terminal is gone.
			_ = t.keeper.Wait()
		}
		if t.master != nil {
			t.master.Close()
		}
	})
}
