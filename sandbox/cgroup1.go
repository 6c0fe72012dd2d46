package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// cpuPeriod is the time, in microseconds, over which processor time is counted out.
const cpuPeriod = 100_000

// write1 sets one limit (kernel: Documentation/admin-guide/cgroup-v1).
func (h hierarchy) write1(limit string, l Limits) error {
	switch limit {
	case "memory":
		bytes := strconv.FormatUint(l.Memory, 10)
		if err := h.write([2]string{"memory.limit_in_bytes", bytes}); err != nil {
			return err
		}
		// Memory and swap together; a kernel without swap accounts has no such file.
		if err := h.write([2]string{"memory.memsw.limit_in_bytes", bytes}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	case "cpus":
		return h.write([2]string{"cpu.cfs_period_us", strconv.Itoa(cpuPeriod)}, [2]string{"cpu.cfs_quota_us", quota(l.CPUs)})
	default:
		return h.write([2]string{"pids.max", l.tasks()})
	}
}

// start starts a process in the groups of version 1. The thread must be locked.
func (g *group) start(cmd *exec.Cmd) error {
	if err := g.enter(); err != nil {
		return errors.Join(err, g.leave())
	}
	err := cmd.Start()
	return errors.Join(err, g.leave())
}

// enter moves this thread, which must be locked, into the groups of version 1, so that what it starts is there from its first instruction. To move a
// process later would make the kernel wait for some 20 ms; a thread that moves itself is the exception (cgroup_procs_write_start in kernel/cgroup).
func (g *group) enter() error {
	for _, h := range g.at {
		if h.version != 1 {
			continue
		}
		if err := put(filepath.Join(h.dir, "tasks"), "0"); err != nil {
			return fmt.Errorf("enter the sandbox's control group: %w", err)
		}
	}
	return nil
}

// leave moves this thread back.
func (g *group) leave() error {
	var errs []error
	for _, h := range g.at {
		if h.version == 1 {
			errs = append(errs, put(filepath.Join(filepath.Dir(h.dir), "tasks"), "0"))
		}
	}
	return errors.Join(errs...)
}

// quota is the time that a number of processors gives in one period.
func quota(cpus float64) string { return strconv.Itoa(int(cpus * cpuPeriod)) }

// watchMemory returns a file that becomes readable when a process of the group is about to be killed for want of memory (cgroup-v1/memory.rst, 9 and
// 10): version 1 kills only that one, and what is left of the sandbox would not know.
func (h hierarchy) watchMemory() (*os.File, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch memory: %w", err)
	}
	event := os.NewFile(uintptr(fd), "memory event")
	control, err := os.Open(filepath.Join(h.dir, "memory.oom_control"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("watch memory: %w", err), event.Close())
	}
	defer control.Close()
	if err := h.write([2]string{"cgroup.event_control", fmt.Sprintf("%d %d", fd, control.Fd())}); err != nil {
		return nil, errors.Join(fmt.Errorf("watch memory: %w", err), event.Close())
	}
	return event, nil
}

// onMemory calls f once when the memory is used up. It returns when the file is closed.
func onMemory(event *os.File, f func()) {
	if _, err := event.Read(make([]byte, 8)); err == nil {
		f()
	}
}
