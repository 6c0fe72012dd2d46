package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// apply sets the resource limits of this process, which all of the sandbox inherits. The limit of processes counts per user namespace, so that two
// sandboxes of one user do not take each other's.
func (l Limits) apply() error {
	limits := []struct {
		name  string
		which int
		value uint64
	}{
		{"core size", unix.RLIMIT_CORE, 0},
		{"open files", unix.RLIMIT_NOFILE, l.OpenFiles},
		{"processes", unix.RLIMIT_NPROC, l.Processes},
		{"file size", unix.RLIMIT_FSIZE, l.FileBytes},
	}
	for _, r := range limits {
		if r.which == unix.RLIMIT_FSIZE && r.value == 0 {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(r.which, &now); err != nil {
			return fmt.Errorf("read limit of %s: %w", r.name, err)
		}
		value := min(r.value, now.Max)
		if err := unix.Setrlimit(r.which, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("set limit of %s to %d: %w", r.name, value, err)
		}
	}
	return nil
}
