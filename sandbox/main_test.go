package sandbox

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

// roleEnv is set in the processes that run the tests; its value is "root" or "user".
const roleEnv = "SANDBOX_TEST_ROLE"

// TestMain runs every test in an outer network namespace without exit: once as root, where there is root, and once as an ordinary user. In the process
// that a test kills, and in its children, the test binary is something else.
func TestMain(m *testing.M) {
	if IsStage(os.Args) {
		if err := Stage(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	if os.Getenv(victimEnv) != "" {
		os.Exit(victim())
	}
	if os.Getenv(roleEnv) != "" {
		os.Exit(m.Run())
	}
	code := 0
	for _, role := range roles() {
		if err := again(role); err != nil {
			fmt.Fprintf(os.Stderr, "as %s: %v\n", role, err)
			code = 1
		}
	}
	os.Exit(code)
}

// roles are whom the tests run as. A checked-in file is rewritten once, as the caller, whose cache fuzzing needs, too.
func roles() []string {
	if os.Geteuid() != 0 {
		return []string{"user"}
	}
	fuzzing := slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(a, "-test.fuzz=") })
	if fuzzing || slices.Contains(os.Args, "-update") || slices.Contains(os.Args, "-test.update") {
		return []string{"root"}
	}
	return []string{"root", "user"}
}

func again(role string) error {
	home, err := os.MkdirTemp("", "sandbox-"+role)
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	// The ordinary user cannot write the go command's own files.
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return strings.HasPrefix(a, "-test.testlogfile") })
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "HOME="+home+"/home", "TMPDIR="+home+"/tmp")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: unix.SIGKILL}
	uid := os.Geteuid()
	if uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	} else if role == "user" {
		uid = ordinaryUser
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}
	}
	// 0700 and root's: what the sandbox's user cannot walk must work all the same.
	for _, dir := range []string{home, home + "/home", home + "/tmp"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := os.Chown(dir, uid, -1); err != nil {
			return err
		}
	}
	return cmd.Run()
}
