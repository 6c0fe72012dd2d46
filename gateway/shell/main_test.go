package shell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/sandbox"
)

// Users of the host that only these tests have: what is left of a sandbox is told by them.
const (
	ordinaryUser = 54323
	spareUser    = 165637
)

const (
	roleEnv   = "SHELL_TEST_ROLE"   // "root" or "user", in the processes that run the tests
	readyEnv  = "SHELL_TEST_READY"  // in those that have a network of their own, and no privileges but root's
	victimEnv = "SHELL_TEST_VICTIM" // a folder, in the one that a test kills
)

// TestMain runs every test in an outer network namespace without exit: once as root, where
// there is root, and once as an ordinary user.
func TestMain(m *testing.M) {
	if sandbox.IsStage(os.Args) {
		if err := sandbox.Stage(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	if dir := os.Getenv(victimEnv); dir != "" {
		os.Exit(victim(dir))
	}
	fuzzing := slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(a, "-test.fuzz=") })
	if role := os.Getenv(roleEnv); role != "" && os.Getenv(readyEnv) == "" {
		fmt.Fprintln(os.Stderr, prepare(role))
		os.Exit(1)
	}
	if os.Getenv(roleEnv) != "" || fuzzing {
		os.Exit(m.Run())
	}
	roles := []string{"user"}
	if os.Geteuid() == 0 {
		roles = []string{"root", "user"}
	}
	code := 0
	for _, role := range roles {
		if err := again(role); err != nil {
			fmt.Fprintf(os.Stderr, "as %s: %v\n", role, err)
			code = 1
		}
	}
	os.Exit(code)
}

func again(role string) error {
	home, err := os.MkdirTemp("", "shell-"+role)
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	// The ordinary user cannot write the go command's own files.
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return strings.HasPrefix(a, "-test.testlogfile") })
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "HOME="+home+"/home", "TMPDIR="+home+"/tmp")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: unix.SIGKILL}
	uid := os.Geteuid()
	if uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	} else if role == "user" {
		uid = ordinaryUser
	}
	for _, dir := range []string{home, home + "/home", home + "/tmp"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := os.Chown(dir, uid, -1); err != nil {
			return err
		}
	}
	return cmd.Run()
}

// prepare brings up lo in this process's own network namespace, becomes who runs the tests
// and starts them.
func prepare(role string) error {
	runtime.LockOSThread()
	if err := raiseLoopback(); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			return err
		}
	} else if role == "user" {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(ordinaryUser), syscall.Setuid(ordinaryUser)); err != nil {
			return err
		}
	}
	return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), readyEnv+"=1"))
}

// raiseLoopback brings up lo, in a namespace that is the test's own.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
