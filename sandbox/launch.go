package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"scupper.dev/scupper/netns"
)

// Foresee does at leisure what the first start of a process would have to wait for: package os starts one of its own to learn what the kernel can.
func Foresee() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Release()
	}
}

// launch collects what the child inherits.
type launch struct {
	uid      int
	io       *stdio
	group    *group
	starting *readable
	// In the order of the descriptors after the control socket: those that the supervisor keeps as well, then those that only the child needs.
	inherited, files []*os.File
}

func (l *launch) close() error {
	var errs []error
	for _, f := range l.files {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// process is the child that becomes bubblewrap.
type process struct {
	control *os.File
	handle  *os.Process
	done    chan struct{} // closed when it has been waited for
	state   *os.ProcessState
	waitErr error
}

func (l *launch) start() (*process, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("create control socket: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "control")
	defer theirs.Close()
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare control socket: %w", err), unix.Close(fds[0]))
	}
	p := &process{control: os.NewFile(uintptr(fds[0]), "control"), done: make(chan struct{})}
	cmd := l.command(theirs)
	group, err := l.group.open()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the sandbox's control group: %w", err), p.control.Close())
	}
	if group != nil {
		defer group.Close()
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(group.Fd())
	}
	started := make(chan error)
	go func() {
		// The child is killed when the thread that started it ends, so this one waits with it. It is never unlocked: a goroutine that ends
		// locked takes its thread along.
		runtime.LockOSThread()
		err := l.starting.during(func() error { return l.group.start(cmd) })
		started <- err
		if err == nil {
			p.waitErr = cmd.Wait()
			p.state = cmd.ProcessState
		}
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(namespaceError(err), p.control.Close())
	}
	p.handle = cmd.Process
	l.io.childStarted()
	return p, nil
}

// tellReady says that the files hold what to set up, and passes the detached mounts.
func (p *process) tellReady(mounts []*os.File) error {
	fds := make([]int, len(mounts))
	for i, f := range mounts {
		fds[i] = int(f.Fd())
	}
	raw, err := p.control.SyscallConn()
	if err != nil {
		return fmt.Errorf("tell the sandbox what to set up: %w", err)
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = unix.Sendmsg(int(fd), []byte(planReady), unix.UnixRights(fds...), nil, 0)
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("tell the sandbox what to set up: %w", err)
	}
	return nil
}

func (l *launch) command(control *os.File) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", stageWord)
	// For the Go runtime of the child, which lives for milliseconds: two threads of work, no collector. bubblewrap gets an empty environment.
	cmd.Env = append([]string{"GOMAXPROCS=2", "GOGC=off"}, brokenForChild()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = l.io.child[0], l.io.child[1], l.io.child[2]
	cmd.ExtraFiles = slices.Concat([]*os.File{control}, l.inherited, l.files)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  namespaces(),
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: l.uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: l.gid(), Size: 1}},
		Pdeathsig:   unix.SIGKILL,
		Setpgid:     l.io.terminal == nil,
		Setsid:      l.io.terminal != nil,
	}
	if os.Geteuid() == 0 {
		// Sets uid, gid and an empty list of supplementary groups; an ordinary user cannot drop groups.
		cmd.SysProcAttr.Credential, cmd.SysProcAttr.GidMappingsEnableSetgroups = &syscall.Credential{}, true
	}
	return cmd
}

// namespaces are the child's own. Those of IPC, host name and control groups bubblewrap makes, beside a further one of users, processes and mounts.
func namespaces() uintptr {
	flags := uintptr(unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID)
	if broken("network") {
		flags &^= unix.CLONE_NEWNET
	}
	if broken("processes of the host") {
		flags &^= unix.CLONE_NEWPID
	}
	return flags
}

func (l *launch) gid() int {
	if os.Geteuid() == 0 {
		return l.uid
	}
	return os.Getegid()
}

// connect waits for the child's sockets, or for its error.
func (c *Cage) connect(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { c.process.control.SetReadDeadline(time.Now()) })
	defer stop()
	if err := c.receiveMessage(ctx); err != nil || c.io.terminal == nil {
		return err
	}
	return c.receiveMessage(ctx)
}

// receiveMessage takes one message of the child: the terminal, if there is one, before the sockets.
func (c *Cage) receiveMessage(ctx context.Context) error {
	message, oob, flags, err := c.process.receive()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	if len(message) > 0 && message[0] == '{' {
		told := &Error{}
		if err := json.Unmarshal(message, told); err != nil {
			return fmt.Errorf("decode the child's error: %w", err)
		}
		return told
	}
	if broken("network") {
		return nil
	}
	if string(message) == terminalMessage && c.io.terminal != nil {
		return c.io.adopt(oob)
	}
	c.sockets, err = netns.Parse(message, oob, flags)
	return err
}

func (p *process) receive() (message, oob []byte, flags int, err error) {
	message, oob = make([]byte, 1<<16), make([]byte, 1024)
	raw, err := p.control.SyscallConn()
	if err != nil {
		return nil, nil, 0, fmt.Errorf("read control socket: %w", err)
	}
	var n, oobn int
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, oobn, flags, _, failed = unix.Recvmsg(int(fd), message, oob, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, nil, 0, fmt.Errorf("read control socket: %w", err)
	}
	if n == 0 {
		return nil, nil, 0, &Error{Code: ExitSandbox, Doing: "set up the sandbox", Err: io.ErrUnexpectedEOF, Hint: "look above for what the child printed"}
	}
	return message[:n], oob[:oobn], flags, nil
}
