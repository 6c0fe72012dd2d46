package sandbox

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/bpf"
)

// auditArch is what the kernel says of a call of this architecture (linux/audit.h).
func auditArch() uint32 {
	if runtime.GOARCH == "arm64" {
		return unix.AUDIT_ARCH_AARCH64
	}
	return unix.AUDIT_ARCH_X86_64
}

// answer is what the kernel makes of the filter's result: 0 lets the call through,
// another number is its errno.
func answer(t *testing.T, p bpf.Program, arch, nr uint32, args [6]uint64) unix.Errno {
	data := make([]byte, 0, 64) // struct seccomp_data
	data = binary.NativeEndian.AppendUint32(data, nr)
	data = binary.NativeEndian.AppendUint32(data, arch)
	data = binary.NativeEndian.AppendUint64(data, 0)
	for _, a := range args {
		data = binary.NativeEndian.AppendUint64(data, a)
	}
	result, err := bpf.Exec[bpf.NativeEndian](p, bpf.Input(data))
	if err != nil {
		t.Fatal(err)
	}
	switch result & unix.SECCOMP_RET_ACTION_FULL {
	case unix.SECCOMP_RET_ALLOW:
		return 0
	case unix.SECCOMP_RET_ERRNO:
		return unix.Errno(result & unix.SECCOMP_RET_DATA)
	}
	t.Fatalf("the filter answers %#x", result)
	return 0
}

// FuzzSeccomp: the encoded filter answers any call as the rules say, whatever stands in
// the upper halves of registers.
func FuzzSeccomp(f *testing.F) {
	code, err := filterProgram()
	if err != nil {
		f.Fatal(err)
	}
	instructions, err := bpf.ParseBytecode(code)
	if err != nil {
		f.Fatal(err)
	}
	program, err := bpf.Compile(instructions, false)
	if err != nil {
		f.Fatal(err)
	}
	known := knownSyscalls()
	f.Fuzz(func(t *testing.T, foreign bool, nr uint32, a0, a1, a2 uint64) {
		arch, args := auditArch(), [6]uint64{a0, a1, a2}
		if foreign {
			arch++
		}
		got := answer(t, program, arch, nr, args)
		listed := func(calls []uintptr) bool { return slices.Contains(calls, uintptr(nr)) }
		refusal := unix.Errno(0)
		for _, d := range deniedCalls(false) {
			if listed(d.calls) {
				refusal = d.answer
			}
		}
		conditional := slices.ContainsFunc(conditionalRules(false), func(c conditional) bool { return listed(c.calls) })
		switch {
		case foreign:
			refusal, conditional = absent, false
		case refusal == 0 && !listed(known):
			refusal = absent
		}
		if !conditional && got != refusal {
			t.Errorf("call %d %x: got %d, want %d", nr, args, got, refusal)
		}
		switch {
		case foreign || got != 0:
		case nr == unix.SYS_UNSHARE && a0&namespaceFlags != 0:
			t.Errorf("unshare(%#x) passes", a0)
		case nr == unix.SYS_SOCKET && !plainSocket(uint32(a0), uint32(a1), uint32(a2)):
			t.Errorf("socket(%d, %d, %d) passes", uint32(a0), uint32(a1), uint32(a2))
		case nr == unix.SYS_SOCKETPAIR && uint32(a0) != unix.AF_UNIX:
			t.Errorf("socketpair(%d) passes", uint32(a0))
		case nr == unix.SYS_IOCTL && (uint32(a1) == unix.TIOCSTI || uint32(a1) == unix.TIOCLINUX):
			t.Errorf("ioctl %#x passes", uint32(a1))
		case nr == unix.SYS_FCHMOD && a1&(unix.S_ISUID|unix.S_ISGID) != 0:
			t.Errorf("fchmod to %#o passes", a1)
		}
	})
}

// plainSocket is what socketRule says in other words.
func plainSocket(family, kind, protocol uint32) bool {
	kind &^= unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	switch family {
	case unix.AF_UNIX:
		return true
	case unix.AF_NETLINK:
		return protocol == unix.NETLINK_ROUTE
	case unix.AF_INET, unix.AF_INET6:
		return kind == unix.SOCK_STREAM && (protocol == 0 || protocol == unix.IPPROTO_TCP) ||
			kind == unix.SOCK_DGRAM && (protocol == 0 || protocol == unix.IPPROTO_UDP)
	}
	return false
}
