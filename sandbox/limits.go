package sandbox

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// withDefaults fills in what was not asked for. total is the memory that there is, in bytes.
func (l Limits) withDefaults(total uint64) Limits {
	if l.Processes == 0 {
		l.Processes = 4096
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = 16384
	}
	if l.Memory == 0 {
		l.Memory = total / 5 * 4
	}
	// More would end the sandbox for want of memory before it could be told that its disk is full.
	if l.Scratch == 0 {
		l.Scratch = min(2<<30, l.Memory/2)
	}
	return l
}

// tasks is the limit of processes as control groups count: bubblewrap's two are among them.
func (l Limits) tasks() string { return strconv.FormatUint(l.Processes+2, 10) }

// size writes bytes for a person.
func size(n uint64) string {
	value, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	return strconv.FormatFloat(value, 'g', 4, 64) + " " + unit
}

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
		if r.which != unix.RLIMIT_CORE && r.value == 0 {
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
