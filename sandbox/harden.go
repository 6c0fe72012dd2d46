package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// harden takes from the supervisor, once the sandbox is set up, what serving it does not need: capabilities, what an exec could gain, and that other
// processes of its user read its memory, where the run's keys and the credentials are.
//
// Ending the sandbox needs no capability: its user namespace is this user's, who has every one in it (user_namespaces(7)). What root has made in
// folders that it may not write as their owner, such as somebody else's and the root of a control group hierarchy, it removes only with
// CAP_DAC_OVERRIDE: where there is such, that one stays permitted, and is in effect only while it is needed. A process that is still user 0 can write
// what belongs to root; that much is left.
//
// In a binary that was built with cgo the capabilities of root stay, since Go cannot reach every thread to drop them; the run's first record says so.
func (c *Cage) harden() error {
	c.kept = c.keptCapabilities()
	if err := closeUp(); err != nil {
		return err
	}
	if ownCapabilities() == 0 {
		return nil
	}
	header, sets := capabilities(c.kept, 0)
	err := everyThread(unix.SYS_CAPSET, uintptr(unsafe.Pointer(header)), uintptr(unsafe.Pointer(sets)), 0)
	if err != nil && !errors.Is(err, errCgo) {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// closeUp keeps other processes of this user out of this one's memory, and execs from gaining privileges.
func closeUp() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	if err := dumpable(false); err != nil {
		return fmt.Errorf("forbid reading this process: %w", err)
	}
	if err := noNewPrivileges(); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	return nil
}

func dumpable(yes bool) error {
	value := uintptr(0)
	if yes {
		value = 1
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, value, 0, 0, 0)
}

func capabilities(permitted, effective uint64) (*unix.CapUserHeader, *[2]unix.CapUserData) {
	return &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &[2]unix.CapUserData{
		{Permitted: uint32(permitted), Effective: uint32(effective)}, {Permitted: uint32(permitted >> 32), Effective: uint32(effective >> 32)},
	}
}

// withKept runs f with what harden has kept in effect.
func (c *Cage) withKept(f func() error) error {
	if c.kept == 0 {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	header, sets := capabilities(c.kept, c.kept)
	if err := unix.Capset(header, &sets[0]); err != nil {
		return fmt.Errorf("take up capabilities: %w", err)
	}
	err := f()
	header, sets = capabilities(c.kept, 0)
	return errors.Join(err, unix.Capset(header, &sets[0]))
}

// noNewPrivileges sets no_new_privs on every thread, those of C included: a filter that is loaded for all threads brings it along (seccomp(2),
// SECCOMP_FILTER_FLAG_TSYNC). The filter itself allows everything.
func noNewPrivileges() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	allow := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
	program := unix.SockFprog{Len: uint16(len(allow)), Filter: &allow[0]}
	stuck, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	if stuck != 0 {
		return fmt.Errorf("thread %d has a filter of its own", stuck)
	}
	return nil
}

// reachable is errCgo where Go cannot reach every thread.
func reachable() error { return everyThread(unix.SYS_GETPID, 0, 0, 0) }

// keptCapabilities are those that removing what the run has made will need.
func (c *Cage) keptCapabilities() uint64 {
	dirs := []string{c.journal.dir}
	for _, dir := range c.group.marks() {
		dirs = append(dirs, filepath.Dir(dir))
	}
	for _, p := range c.journal.Placeholders {
		dirs = append(dirs, filepath.Dir(p.Path))
	}
	for _, dir := range dirs {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil || int(st.Uid) != os.Geteuid() || st.Mode&unix.S_IWUSR == 0 {
			return 1 << unix.CAP_DAC_OVERRIDE & ownCapabilities()
		}
	}
	return 0
}

// ownCapabilities are those that this process has.
func ownCapabilities() uint64 {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return 0
	}
	return uint64(sets[1].Permitted)<<32 | uint64(sets[0].Permitted)
}

// supervisor is the control that harden puts in force.
func (c *Cage) supervisor() Control {
	if ownCapabilities() == 0 {
		return Control{"supervisor", true, "not readable by its user, no new privileges, no capabilities"}
	}
	if err := reachable(); err != nil {
		return Control{"supervisor", false, "not readable by its user, no new privileges, but root's capabilities: " + err.Error()}
	}
	if c.keptCapabilities() != 0 {
		return Control{"supervisor", true, "not readable by its user, no new privileges, no capability in effect; CAP_DAC_OVERRIDE at the end, to remove what the run has made"}
	}
	return Control{"supervisor", true, "not readable by its user, no new privileges, no capabilities"}
}

// errCgo is about a binary that has threads of C. Building with CGO_ENABLED=0 avoids it.
var errCgo = errors.New("this binary was built with cgo, whose threads Go cannot reach")

// everyThread makes a system call on every thread; those to come inherit what it changes. It fails where there may be threads that Go does not know.
//
//go:uintptrescapes
func everyThread(call, a, b, c uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall(call, a, b, c)
	switch errno {
	case 0:
		return nil
	case unix.ENOTSUP:
		return errCgo
	default:
		return errno
	}
}
