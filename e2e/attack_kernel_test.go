package e2e

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelTrials call what seccomp refuses. They make the calls themselves, with
// arguments that would be right.
func kernelTrials() []trial {
	calls := func(name, want string, number uintptr, args ...uintptr) trial {
		return trial{name: name, want: want, try: func(scene) error {
			args := append(args, 0, 0, 0, 0, 0, 0)
			_, _, e := unix.Syscall6(number, args[0], args[1], args[2], args[3], args[4], args[5])
			return refusal(e)
		}}
	}
	return []trial{
		{name: "io_uring", try: ioUring, want: "ENOSYS"},
		calls("SBX-07 unshare user", "EPERM", unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		calls("SBX-07 unshare net", "EPERM", unix.SYS_UNSHARE, unix.CLONE_NEWNET),
		calls("SBX-07 unshare mount", "EPERM", unix.SYS_UNSHARE, unix.CLONE_NEWNS),
		calls("SBX-07 clone3", "ENOSYS", unix.SYS_CLONE3),
		{name: "SBX-07 clone", try: cloneUser, want: "EPERM"},
		{name: "SBX-07 setns", try: setns, want: "EPERM"},
		{name: "SBX-07 mount", try: func(scene) error { return unix.Mount("none", "/tmp", "tmpfs", 0, "") }, want: "EPERM"},
		{name: "SBX-07 remount", try: func(scene) error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") }, want: "EPERM"},
		{name: "SBX-07 umount", try: func(scene) error { return unix.Unmount("/etc/resolv.conf", unix.MNT_DETACH) }, want: "EPERM"},
		{name: "SBX-07 fsopen", try: func(scene) error { _, err := unix.Fsopen("tmpfs", 0); return err }, want: "EPERM"},
		{name: "SBX-07 open_tree", try: func(scene) error {
			_, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE)
			return err
		}, want: "EPERM"},
		{name: "SBX-07 chroot", try: func(scene) error { return unix.Chroot("/tmp") }, want: "EPERM"},
		{name: "SBX-17 name_to_handle_at", try: func(scene) error { _, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/", 0); return err }, want: "EPERM"},
		{name: "SBX-17 open_by_handle_at", try: openByHandle, want: "EPERM"},
		{name: "TIOCSTI", try: terminal(unix.TIOCSTI), want: "EPERM"},
		{name: "TIOCLINUX", try: terminal(unix.TIOCLINUX), want: "EPERM"},
		calls("keyctl", "EPERM", unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(2)),
		calls("bpf", "EPERM", unix.SYS_BPF),
		calls("userfaultfd", "EPERM", unix.SYS_USERFAULTFD, unix.O_CLOEXEC),
		calls("perf_event_open", "EPERM", unix.SYS_PERF_EVENT_OPEN),
		calls("a call of x32", "ENOSYS", 0x40000000|39),
		{name: "int 0x80", try: foreign, want: "ENOSYS"},
	}
}

func refusal(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func ioUring(scene) error {
	var params [120]byte
	fd, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&params)), 0)
	if e == 0 {
		unix.Close(int(fd))
	}
	return refusal(e)
}

func cloneUser(scene) error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET}
	return cmd.Run()
}

// setns goes to where this process already is: a right request.
func setns(scene) error {
	ns, err := os.Open("/proc/self/ns/net")
	if err != nil {
		return err
	}
	defer ns.Close()
	return unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
}

func openByHandle(scene) error {
	_, err := unix.OpenByHandleAt(unix.AT_FDCWD, unix.NewFileHandle(1, make([]byte, 8)), unix.O_RDONLY)
	return err
}

// terminal gives orders to a terminal of its own: what forbids them is not that it is
// another's.
func terminal(order uintptr) func(scene) error {
	return func(scene) error {
		master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		defer master.Close()
		text := []byte("\x02")
		_, _, e := unix.Syscall(unix.SYS_IOCTL, master.Fd(), order, uintptr(unsafe.Pointer(&text[0])))
		return refusal(e)
	}
}

// foreign makes a system call of i386: getpid by int 0x80. Machines of another kind have
// no such instruction.
func foreign(scene) error {
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
