package netns

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// ordinaryUser is a uid that no machine's accounts use.
const ordinaryUser = 54321

const stageWord, roleEnv, keepEnv, oldKernelEnv = "netns-test-stage", "NETNS_TEST_ROLE", "NETNS_TEST_KEEP", "NETNS_TEST_NO_IPV6"

// TestMain runs every test in an outer network namespace without exit: once as root, where there is root, and once as an ordinary user.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == stageWord:
		fmt.Fprintln(os.Stderr, stage(os.Args[2:]))
		os.Exit(1)
	case os.Getenv(roleEnv) != "" || fuzzing():
		os.Exit(m.Run())
	}
	code := 0
	for _, role := range []string{"root", "user"} {
		if err := again(role); err != nil {
			fmt.Fprintf(os.Stderr, "as %s: %v\n", role, err)
			code = 1
		}
	}
	os.Exit(code)
}

// fuzzing processes talk over inherited descriptors and need no namespace.
func fuzzing() bool {
	return slices.ContainsFunc(os.Args, func(a string) bool {
		return strings.HasPrefix(a, "-test.fuzz=") || strings.HasPrefix(a, "-test.fuzzworker")
	})
}

func again(role string) error {
	// The ordinary user cannot write the go command's own files.
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return strings.HasPrefix(a, "-test.testlogfile") })
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: unix.SIGKILL}
	if os.Geteuid() != 0 {
		if role == "root" {
			return nil
		}
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	} else if role == "user" {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}
	}
	return cmd.Run()
}

// stage is the child: it sets the namespace up, hands the sockets over, waits for the word, drops everything and becomes the attacker.
func stage(args []string) error {
	if file := os.Getenv(oldKernelEnv); file != "" {
		if err := withoutIPv6(file); err != nil {
			return err
		}
	}
	made, err := Setup(Config{Ports: []uint16{80, 443, 8443}})
	if err != nil {
		return err
	}
	if err := made.Send(3); err != nil {
		return err
	}
	if _, err := unix.Read(3, make([]byte, 8)); err != nil {
		return err
	}
	for c := uintptr(0); os.Getenv(keepEnv) == "" && c <= unix.CAP_LAST_CAP; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("drop CAP %d: %w", c, err)
		}
	}
	return syscall.Exec("/usr/bin/python3", append([]string{"python3"}, args...), []string{"PATH=/usr/bin:/bin"})
}

// withoutIPv6 makes disable_ipv6 read 1 and refuse to change, as in a container with a read-only /proc/sys.
func withoutIPv6(file string) error {
	const sysctl = "/proc/sys/net/ipv6/conf/all/disable_ipv6"
	if err := unix.Mount(file, sysctl, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return unix.Mount("", sysctl, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}
