package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	"scupper.dev/scupper/netns"
)

// stageWord is the hidden first argument of the child.
const stageWord = "__scupper-stage"

// The supervisor's messages.
const (
	planReady = "plan" // the files hold what to set up; detached mounts come with it
	goAhead   = "go"   // become the sandbox
)

// IsStage reports whether this process is a child of a cage. Main asks before it does anything else.
func IsStage(args []string) bool {
	return len(args) == 2 && (args[1] == stageWord || args[1] == keeperWord)
}

// Stage is the child: it is in fresh namespaces, sets up the network and the mounts, hands the sockets to the supervisor, waits for its word and
// becomes bubblewrap. It returns only when something went wrong; an error is one that the supervisor could not be told.
//
// It is the keeper of the caller's terminal, too, which returns nil when its work is done.
func Stage() error {
	if os.Args[1] == keeperWord {
		return keep()
	}
	// The signal at the supervisor's death belongs to one thread, and exec keeps that of the thread that calls it.
	runtime.LockOSThread()
	p, err := setUp()
	if err != nil {
		return tell(err)
	}
	if err := waitForWord(); err != nil {
		return err
	}
	err = unix.Exec(p.Bwrap, append([]string{"bwrap", "--args", fmt.Sprint(argsFD), "--"}, p.Command...), []string{})
	return fmt.Errorf("exec %q: %w", p.Bwrap, err)
}

func setUp() (plan, error) {
	mounts, err := waitForPlan()
	if err != nil {
		return plan{}, err
	}
	p, err := readPlan()
	if err != nil {
		return plan{}, err
	}
	if err := ownProc(); err != nil {
		return plan{}, err
	}
	// The two halves take about as long and have nothing in common.
	var made *netns.Made
	var group errgroup.Group
	group.Go(func() (err error) {
		if broken("network") {
			return nil
		}
		made, err = netns.Setup(netns.Config{Ports: p.Ports})
		return networkError(err)
	})
	group.Go(func() error { return p.stageMounts(mounts) })
	if err := group.Wait(); err != nil {
		return plan{}, err
	}
	if err := p.Limits.apply(); err != nil {
		return plan{}, err
	}
	boundUserNamespaces(p.Nested)
	if err := closeOnExec(); err != nil {
		return plan{}, err
	}
	if broken("network") {
		return p, unix.Send(controlFD, []byte("none"), 0)
	}
	if err := p.stageTerminal(); err != nil {
		return plan{}, err
	}
	return p, made.Send(controlFD)
}

func networkError(err error) error {
	if err == nil {
		return nil
	}
	return environment("set up the network namespace", err, hintNftables)
}

var errGone = errors.New("wait for the supervisor: it is gone")

// waitForPlan returns the detached mounts that come with the plan, in the order of the folders.
func waitForPlan() ([]int, error) {
	message, oob := make([]byte, len(planReady)), make([]byte, unix.CmsgSpace(4*maxFolders))
	n, oobn, flags, _, err := unix.Recvmsg(controlFD, message, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wait for the supervisor: %w", err)
	}
	if string(message[:n]) != planReady {
		return nil, errGone
	}
	if oobn == 0 {
		return nil, nil
	}
	controls, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(controls) != 1 || flags&unix.MSG_CTRUNC != 0 {
		return nil, fmt.Errorf("take the folders' mounts: %d messages, %w", len(controls), err)
	}
	return unix.ParseUnixRights(&controls[0])
}

// waitForWord blocks until the supervisor says go; a supervisor that is gone is an error.
func waitForWord() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("ask for a signal at the supervisor's death: %w", err)
	}
	return waitFor(goAhead)
}

func waitFor(message string) error {
	buffer := make([]byte, len(message))
	n, err := unix.Read(controlFD, buffer)
	if err != nil {
		return fmt.Errorf("wait for the supervisor: %w", err)
	}
	if string(buffer[:n]) != message {
		return errGone
	}
	return nil
}

// tell sends an error to the supervisor; it stands in the place of the sockets.
func tell(err error) error {
	message := Error{Code: ExitSandbox}
	var known *Error
	switch {
	case errors.As(err, &known):
		message.Code, message.Hint = known.Code, known.Hint
	case errors.Is(err, unix.ENOSYS):
		message.Code, message.Hint = ExitEnvironment, hintKernel
	}
	message.Doing = err.Error()
	b, encodeErr := json.Marshal(message)
	sendErr := unix.Send(controlFD, b, 0)
	if encodeErr != nil || sendErr != nil {
		return errors.Join(err, encodeErr, sendErr)
	}
	return nil
}

// closeOnExec leaves bubblewrap only the standard descriptors and those that its options name.
func closeOnExec() error {
	if broken("descriptors") {
		return nil
	}
	if err := unix.CloseRange(3, ^uint(0)>>1&0xffffffff, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("mark descriptors: %w", err)
	}
	for _, fd := range []uintptr{argsFD, seccompFD, statusFD} {
		if _, err := unix.FcntlInt(fd, unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("keep descriptor %d: %w", fd, err)
		}
	}
	return nil
}

// boundUserNamespaces leaves room for the one that bubblewrap makes and none beyond, unless sandboxes may be nested. Seccomp forbids the calls as well;
// /proc/sys may be read-only.
func boundUserNamespaces(nested bool) {
	most := "1"
	if nested {
		most = "256"
	}
	_ = os.WriteFile("/proc/sys/user/max_user_namespaces", []byte(most), 0)
}
