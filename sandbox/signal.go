package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Signal forwards a signal to the command: INT, QUIT and HUP to its process group, as a terminal does, others to the process. A command that has ended
// or not started yet is no error.
func (c *Cage) Signal(s os.Signal) error {
	number, ok := s.(syscall.Signal)
	if !ok {
		return fmt.Errorf("forward signal %v: not a signal of this system", s)
	}
	pid := c.commandPID()
	if pid == 0 {
		return nil
	}
	if number == unix.SIGINT || number == unix.SIGQUIT || number == unix.SIGHUP {
		if group, err := unix.Getpgid(pid); err == nil && group > 1 {
			pid = -group
		}
	}
	if err := unix.Kill(pid, number); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("forward signal %v: %w", s, err)
	}
	return nil
}

// commandPID walks from bubblewrap over its inner first process to the command, or returns 0.
func (c *Cage) commandPID() int {
	select {
	case <-c.process.done:
		return 0
	default:
	}
	return onlyChild(onlyChild(c.process.handle.Pid))
}

// onlyChild returns the first child of a process (proc_pid_task(5), children), or 0.
func onlyChild(pid int) int {
	if pid == 0 {
		return 0
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0
	}
	for _, t := range tasks {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		if err != nil {
			continue
		}
		if first, _, ok := strings.Cut(string(b), " "); ok {
			child, err := strconv.Atoi(first)
			if err == nil {
				return child
			}
		}
	}
	return 0
}
