package probe

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// callAttempts make calls that lead out of namespaces or into parts of the kernel that
// know none.
func callAttempts() []attempt {
	family := func(name string, domain, kind, protocol int) attempt {
		return attempt{SystemCalls, name, func(Scene) error {
			fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC, protocol)
			if err != nil {
				return err
			}
			return unix.Close(fd)
		}}
	}
	return []attempt{
		family("AF_VSOCK, the hypervisor", unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		family("AF_PACKET, frames", unix.AF_PACKET, unix.SOCK_RAW, 0),
		family("AF_ALG, the kernel's ciphers", unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		family("AF_NETLINK, other than routes", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT),
		family("raw IPv4", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW),
		family("raw IPv6", unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_RAW),
		family("ICMP", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP),
		family("ICMPv6", unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_ICMPV6),
		{SystemCalls, "io_uring", ioUring},
		{SystemCalls, "unshare user and network", func(Scene) error {
			return onThread(func() error { return unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_NEWNET) })
		}},
		{SystemCalls, "unshare mounts", func(Scene) error { return onThread(func() error { return unix.Unshare(unix.CLONE_NEWNS) }) }},
		{SystemCalls, "mount", func(Scene) error {
			if err := unix.Mount("none", "/tmp", "tmpfs", 0, ""); err != nil {
				return err
			}
			return unix.Unmount("/tmp", unix.MNT_DETACH)
		}},
		{SystemCalls, "a keyring", func(Scene) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false); return err }},
		{SystemCalls, "TIOCSTI, typing into a terminal", typeAhead},
		{SystemCalls, "int 0x80, calls of another architecture", foreignCall},
	}
}

func errno(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func ioUring(Scene) error {
	var params [120]byte
	fd, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&params)), 0)
	if e == 0 {
		return unix.Close(int(fd))
	}
	return e
}

// onThread makes a call that changes its thread on one that ends with it.
func onThread(call func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- call()
	}()
	return <-result
}

// typeAhead types into a terminal of its own: what forbids it must not depend on whose
// it is.
func typeAhead(Scene) error {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer master.Close()
	key := byte('x')
	_, _, e := unix.Syscall(unix.SYS_IOCTL, master.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&key)))
	return errno(e)
}

// foreignCall makes a system call of i386: getpid by int 0x80. Machines of another kind
// have no such instruction.
func foreignCall(Scene) error {
	if runtime.GOARCH != "amd64" {
		return unix.ENOSYS
	}
	code, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	defer unix.Munmap(code)
	copy(code, "\xb8\x14\x00\x00\x00\xcd\x80\xc3") // mov eax,20; int 0x80; ret
	entry := &code[0]
	closure := &entry // a func value is a pointer to a word that holds the code's address
	call := *(*func() int32)(unsafe.Pointer(&closure))
	if got := call(); got < 0 {
		return syscall.Errno(-got)
	}
	return nil
}
