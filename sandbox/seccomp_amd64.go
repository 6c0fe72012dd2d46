package sandbox

import (
	"encoding/hex"
	"fmt"

	"golang.org/x/sys/unix"
)

// filterProgram decodes the checked-in filter.
func filterProgram() ([]byte, error) {
	b, err := hex.DecodeString(compiledFilter)
	if err != nil {
		return nil, fmt.Errorf("decode seccomp filter: %w", err)
	}
	return b, nil
}

// knownSyscalls are the calls of Linux 6.14, from arch/x86/entry/syscalls/syscall_64.tbl. The next one, 467, is part of the mount API.
func knownSyscalls() []uintptr {
	var all []uintptr
	for n := uintptr(0); n <= unix.SYS_RSEQ; n++ {
		all = append(all, n)
	}
	for n := uintptr(unix.SYS_PIDFD_SEND_SIGNAL); n <= 466; n++ {
		all = append(all, n)
	}
	return all
}

func archDenied() []denied {
	return []denied{{[]uintptr{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB}, notPermitted}}
}

// archConditional covers the older calls that newer architectures do not have.
func archConditional() []conditional {
	return []conditional{
		{[]uintptr{unix.SYS_CHMOD, unix.SYS_CREAT, unix.SYS_MKNOD}, modeRule(1), errno(notPermitted)},
		{[]uintptr{unix.SYS_OPEN}, createRule(1), errno(notPermitted)},
	}
}
