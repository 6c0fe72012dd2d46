package replay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// sealedVar tells a sealed copy how far it is: "from MOUNTNS" before the
// network is prepared, "ready PID FD" afterwards, where FD is the packet socket.
// The process id keeps children from taking it for their own.
const sealedVar = "SCUPPER_SEALED"

// Sealed runs the function in a copy of this program, started with the same
// arguments in namespaces without exit, and returns what the function returned;
// in the first process it never calls the function. Root gets new network and
// mount namespaces; an ordinary user also a user namespace in which the user id
// stays the same and nothing has capabilities, so that programs started from
// there see an ordinary user. The copy dies with this process.
//
// An error means that the kernel did not allow it (see user_namespaces(7)).
func Sealed(ctx context.Context, run func() int) (int, error) {
	if _, ready := sealedSocket(); ready {
		return run(), nil
	}
	if outside, ok := strings.CutPrefix(os.Getenv(sealedVar), "from "); ok {
		return 0, fmt.Errorf("prepare the network of the pretend Internet: %w", furnish(outside))
	}
	cmd, err := sealedCopy(ctx)
	if err != nil {
		return 0, err
	}
	err = cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return 0, fmt.Errorf("start in a network namespace without exit: %w", err)
	}
	return exitCode(cmd.ProcessState), nil
}

func sealedCopy(ctx context.Context) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	outside, err := os.Readlink(mountNamespace)
	if err != nil {
		return nil, fmt.Errorf("read mount namespace: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), sealedVar+"=from "+outside)
	cmd.SysProcAttr = newNamespaces(os.Geteuid(), os.Getegid())
	return cmd, nil
}

const mountNamespace = "/proc/self/ns/mnt"

// sealedSocket is the packet socket that furnish left to this very process.
func sealedSocket() (int, bool) {
	var pid, fd int
	n, _ := fmt.Sscanf(os.Getenv(sealedVar), "ready %d %d", &pid, &fd)
	return fd, n == 2 && pid == os.Getpid()
}

// exitCode is 128+n for signal n, as in a shell.
func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}

func newNamespaces(uid, gid int) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid == 0 {
		return attr
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_SYS_ADMIN}
	return attr
}

// furnish makes every address local, hides the host's name services, which are
// reached through files and would answer from outside, and starts this program
// once more: a Go program can drop capabilities for all its threads only so.
// It returns only with an error.
func furnish(outside string) error {
	if inside, err := os.Readlink(mountNamespace); err != nil || inside == outside {
		return fmt.Errorf("still in the mount namespace %s of the parent process", outside)
	}
	if err := onlyLoopback(); err != nil {
		return err
	}
	if err := everyAddressLocal(); err != nil {
		return err
	}
	if err := hideNameServices(); err != nil {
		return err
	}
	fd, err := packetSocket()
	if err != nil {
		return fmt.Errorf("watch packets: %w", err)
	}
	return startAgain(fd)
}

// onlyLoopback refuses a namespace that could lead anywhere.
func onlyLoopback() error {
	links, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list interfaces: %w", err)
	}
	for _, link := range links {
		// A new network namespace also holds down tunnel devices (sit0, tunl0 ...)
		// where the kernel was built with them; up, they would be an exit.
		if link.Flags&net.FlagLoopback == 0 && link.Flags&net.FlagUp != 0 {
			return fmt.Errorf("interface %q is up: the pretend Internet runs only in a namespace without exit", link.Name)
		}
	}
	return nil
}

// hideNameServices covers /run, where nscd and systemd-resolved listen, and
// puts a resolv.conf without search list in place: any server address does.
func hideNameServices() error {
	const conf = "/etc/resolv.conf"
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("run", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("cover /run: %w", err)
	}
	const ours = "/run/resolv.conf"
	if err := os.WriteFile(ours, []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		return fmt.Errorf("write resolver configuration: %w", err)
	}
	if target, err := os.Readlink(conf); err == nil && strings.Contains(target, "run/") {
		return linkResolver(filepath.Join("/run", target[strings.LastIndex(target, "run/")+len("run/"):]), ours)
	}
	if _, err := os.Stat(conf); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := unix.Mount(ours, conf, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("cover %s: %w", conf, err)
	}
	return nil
}

func linkResolver(path, ours string) error {
	if path == ours {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make folder of %s: %w", path, err)
	}
	return os.Symlink(ours, path)
}

// startAgain keeps the process id, the namespaces and fd. An ordinary user's
// copy has no capability (capabilities(7), ambient set).
func startAgain(fd int) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
		return fmt.Errorf("keep packet socket open: %w", err)
	}
	if err := os.Setenv(sealedVar, fmt.Sprintf("ready %d %d", os.Getpid(), fd)); err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	return syscall.Exec(self, os.Args, os.Environ())
}
