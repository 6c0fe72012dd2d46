package sandbox

import (
	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/seccomp"
)

type denied struct {
	calls  []uintptr
	answer unix.Errno
}

// deniedCalls are refused whatever their arguments; where a conditional rule lets some uses through, this is for the rest.
func deniedCalls(nested bool) []denied {
	return append(append(archDenied(), namespaceCalls(nested)...),
		denied{[]uintptr{ // Ways round the file system's permissions, and kernel parts with a record of faults.
			unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF,
			unix.SYS_USERFAULTFD, unix.SYS_PERF_EVENT_OPEN, unix.SYS_FANOTIFY_INIT, unix.SYS_SYSLOG,
		}, notPermitted},
		denied{[]uintptr{ // The machine.
			unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT,
			unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
			unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL,
		}, notPermitted},
		// Their arguments lie in memory, where a filter cannot look: io_uring opens sockets, clone3 makes namespaces, openat2 makes setuid files.
		denied{[]uintptr{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3, unix.SYS_OPENAT2}, absent},
		denied{[]uintptr{unix.SYS_SOCKET}, unix.EAFNOSUPPORT},
		// A socket pair of another family than UNIX does not exist, but the family's module would be loaded.
		denied{[]uintptr{unix.SYS_SOCKETPAIR}, unix.EOPNOTSUPP},
	)
}

// namespaceCalls make namespaces and mounts. Where sandboxes may be nested, a program can make a user namespace, in which it has every capability over
// what belongs to that namespace, and over nothing of this sandbox: what is mounted here stays locked in there, and its network namespace has no way out.
// The newer mount calls, other namespaces by descriptor, and what is not asked for with a flag stay refused.
func namespaceCalls(nested bool) []denied {
	calls := []uintptr{
		unix.SYS_SETNS, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	}
	if !nested {
		calls = append(calls, unix.SYS_CLONE, unix.SYS_UNSHARE, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT)
	}
	return []denied{{calls, notPermitted}}
}

type conditional struct {
	calls  []uintptr
	rule   seccomp.SyscallRule
	action seccomp.Action
}

const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// conditionalRules look at arguments, in the width that the kernel uses: the rest of a register may hold anything.
func conditionalRules(nested bool) []conditional {
	with := func(calls ...uintptr) []uintptr { return calls }
	rules := []conditional{
		{with(unix.SYS_SOCKET), socketRule(), allowed},
		{with(unix.SYS_SOCKET), internetRule(), errno(unix.EPROTONOSUPPORT)},
		{with(unix.SYS_SOCKETPAIR), seccomp.PerArg{word(unix.AF_UNIX)}, allowed},
		{with(unix.SYS_IOCTL), seccomp.Or{
			seccomp.PerArg{seccomp.AnyValue{}, word(unix.TIOCSTI)},
			seccomp.PerArg{seccomp.AnyValue{}, word(unix.TIOCLINUX)},
		}, errno(notPermitted)},
		{with(unix.SYS_FCHMOD), modeRule(1), errno(notPermitted)},
		{with(unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_MKNODAT), modeRule(2), errno(notPermitted)},
		{with(unix.SYS_OPENAT), createRule(2), errno(notPermitted)},
		// Debuggers work, but not on the first process inside, which is bubblewrap's: who stops that one stops the end of the run.
		{with(unix.SYS_PTRACE), seccomp.PerArg{seccomp.AnyValue{}, word(1)}, errno(notPermitted)},
		{with(unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV), seccomp.PerArg{word(1)}, errno(notPermitted)},
	}
	if !nested {
		rules = append(rules,
			conditional{with(unix.SYS_CLONE), seccomp.PerArg{seccomp.MaskedEqual(namespaceFlags, 0)}, allowed},
			conditional{with(unix.SYS_UNSHARE), seccomp.PerArg{seccomp.MaskedEqual(namespaceFlags|unix.CLONE_NEWTIME, 0)}, allowed})
	}
	return append(rules, archConditional()...)
}

// word matches an argument that the kernel takes as 32 bits.
func word(v uintptr) seccomp.ValueMatcher { return seccomp.MaskedEqual(0xffffffff, v) }

// socketRule lets through UNIX sockets, TCP and UDP, and netlink's routing part, which resolvers ask for addresses. AF_VSOCK, not bound to a network
// namespace, is the reason that this is a list of what may be.
func socketRule() seccomp.SyscallRule {
	rules := seccomp.Or{
		seccomp.PerArg{word(unix.AF_UNIX)},
		seccomp.PerArg{word(unix.AF_NETLINK), seccomp.AnyValue{}, word(unix.NETLINK_ROUTE)},
	}
	const flags = unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	for _, family := range []uintptr{unix.AF_INET, unix.AF_INET6} {
		for _, transport := range [][2]uintptr{{unix.SOCK_STREAM, unix.IPPROTO_TCP}, {unix.SOCK_DGRAM, unix.IPPROTO_UDP}} {
			kind := seccomp.MaskedEqual(0xffffffff&^flags, transport[0])
			rules = append(rules, seccomp.PerArg{word(family), kind, word(0)}, seccomp.PerArg{word(family), kind, word(transport[1])})
		}
	}
	return rules
}

// internetRule matches what is left of the internet families: MPTCP, SCTP, raw sockets. Programs know this answer and fall back to TCP.
func internetRule() seccomp.SyscallRule {
	return seccomp.Or{seccomp.PerArg{word(unix.AF_INET)}, seccomp.PerArg{word(unix.AF_INET6)}}
}

// specialBits are what a file on the host must not get from inside.
func specialBits() []uintptr { return []uintptr{unix.S_ISUID, unix.S_ISGID} }

// modeRule matches a file mode with setuid or setgid in one argument.
func modeRule(argument int) seccomp.SyscallRule {
	var rules seccomp.Or
	for _, bit := range specialBits() {
		rules = append(rules, arguments(map[int]seccomp.ValueMatcher{argument: seccomp.MaskedEqual(bit, bit)}))
	}
	return rules
}

// createRule matches an open that makes a file with such a mode; without O_CREAT or O_TMPFILE the mode argument means nothing.
func createRule(flags int) seccomp.SyscallRule {
	var rules seccomp.Or
	for _, bit := range specialBits() {
		for _, creating := range []uintptr{unix.O_CREAT, unix.O_TMPFILE &^ unix.O_DIRECTORY} {
			rules = append(rules, arguments(map[int]seccomp.ValueMatcher{
				flags: seccomp.MaskedEqual(creating, creating), flags + 1: seccomp.MaskedEqual(bit, bit)}))
		}
	}
	return rules
}

// arguments is a rule about the given arguments only.
func arguments(values map[int]seccomp.ValueMatcher) seccomp.PerArg {
	var rule seccomp.PerArg
	for i := range rule {
		rule[i] = seccomp.AnyValue{}
		if v, ok := values[i]; ok {
			rule[i] = v
		}
	}
	return rule
}
