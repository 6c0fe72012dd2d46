package sandbox

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Exit codes of scupper that an Error carries.
const (
	ExitUsage       = 2   // a path or option that cannot be accepted
	ExitEnvironment = 3   // privileges, kernel, missing tool
	ExitSandbox     = 125 // the sandbox itself failed
	ExitNotRunnable = 126 // the command is there and cannot be executed
	ExitNotFound    = 127 // the command is not there, or the sandbox cannot see it
)

// Error is a failure that a person can do something about.
type Error struct {
	Code  int    // the exit code of scupper
	Doing string // what was being done, to what
	Err   error  // the cause; may be nil
	Hint  string // the next thing to type or to change; may be empty
}

// Error returns what was being done and the cause, without the hint.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Doing
	}
	return e.Doing + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func usage(hint, format string, args ...any) error {
	return &Error{Code: ExitUsage, Doing: fmt.Sprintf(format, args...), Hint: hint}
}

func environment(doing string, err error, hint string) error {
	return &Error{Code: ExitEnvironment, Doing: doing, Err: err, Hint: hint}
}

// Hints for what machines most often lack.
const (
	hintBwrap     = "install bubblewrap: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora)"
	hintNftables  = "scupper needs nftables with tproxy in the kernel: modprobe nft_tproxy nft_reject_inet nft_log nfnetlink_log"
	hintProc      = "inside a container, start the container with --security-opt systempaths=unconfined"
	hintLog       = "free space where the log is, or name another place with --audit DIR"
	hintIDMap     = "put the folder on ext4, xfs, btrfs or tmpfs, or run scupper as the ordinary user who owns it"
	hintKernel    = "scupper needs Linux 5.12 or newer (mount_setattr, openat2); uname -r shows yours"
	hintGroups1   = "run scupper as root: this machine's control groups are of version 1, which belong to root; or set best_effort = true in the policy"
	hintGroups2   = "systemd-run --user --scope -p Delegate=yes scupper run ... (root: without --user); or set best_effort = true in the policy"
	hintNamespace = "allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000; " +
		"on Ubuntu: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; in a container: --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
)

// namespaceError explains why the first child could not be started.
func namespaceError(err error) error {
	for _, known := range []error{unix.EPERM, unix.EACCES, unix.ENOSPC, unix.EUSERS, unix.EINVAL, fs.ErrPermission} {
		if errors.Is(err, known) {
			return environment("create user and network namespaces", err, hintNamespace)
		}
	}
	return &Error{Code: ExitSandbox, Doing: "start the sandbox", Err: err}
}
