package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// idMapping returns a user namespace in which the owner of a folder is the spare user of the host. The kernel takes mappings only in the form of
// a namespace, and a namespace only from a process in it: a child that is stopped before its first instruction and killed.
func idMapping(uid, gid, spare int) (*os.File, error) {
	// Only the tracing thread may wait for the child's stop.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: spare, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: spare, Size: 1}},
		Ptrace:      true,
		Pdeathsig:   unix.SIGKILL,
	}
	if err := cmd.Start(); err != nil {
		return nil, namespaceError(err)
	}
	defer func() {
		// Both fail only for a child that is gone already.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", cmd.Process.Pid))
	if err != nil {
		return nil, fmt.Errorf("open user namespace: %w", err)
	}
	return f, nil
}
