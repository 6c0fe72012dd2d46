package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/seccomp"
)

// victimEnv holds what a re-executed test binary does, and on which room.
const victimEnv, victimDir = "SANDBOX_TEST_VICTIM", "SANDBOX_TEST_DIR"

// victim is a supervisor of its own: it runs a cage and is killed, or it runs where a part of the machine is missing and tells the exit code.
func victim() int {
	dir := os.Getenv(victimDir)
	if os.Geteuid() == 0 && os.Getenv(victimEnv) != "marked" && os.Getenv(victimEnv) != "no idmap" {
		// Root of a user namespace may map owners only on a file system of that namespace.
		if err := privateRoom(dir); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	config := CageConfig{Command: []string{"sleep", "1000"}, Workdir: dir + "/work", StateDir: dir + "/state", Stdout: os.Stdout, Stderr: os.Stderr}
	switch os.Getenv(victimEnv) {
	case "no namespaces":
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			fmt.Println(err)
			return 1
		}
	case "masked proc": // as containers have it
		if err := unix.Mount("/dev/null", "/proc/timer_list", "", unix.MS_BIND, ""); err != nil {
			fmt.Println(err)
			return 1
		}
	case "resolved": // resolv.conf leads to a place that the sandbox does not have
		config.Command = []string{"cat", "/etc/resolv.conf"}
		if err := resolvedEtc(dir + "/etc"); err != nil {
			fmt.Println(err)
			return 1
		}
	case "no nftables":
		if err := hideNetfilter(); err != nil {
			fmt.Println(err)
			return 1
		}
	case "no idmap":
		if err := unix.Mount("ramfs", config.Workdir, "ramfs", 0, ""); err != nil {
			fmt.Println(err)
			return 1
		}
	case "no bwrap":
		os.Setenv("PATH", dir)
	case "marked":
		config.Command = []string{"sh", "-c", "echo ready; exec sleep " + os.Getenv("SANDBOX_TEST_MARK")}
	}
	cage, err := Prepare(context.Background(), config)
	var known *Error
	if errors.As(err, &known) {
		fmt.Printf("%v; hint: %s\n", err, known.Hint)
		return known.Code
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer cage.Close()
	if err := cage.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	code, err := cage.Wait()
	fmt.Println(code, err)
	return 0
}

// hideNetfilter makes this process and its children live on a kernel without nfnetlink.
func hideNetfilter() error {
	socket := map[uintptr]seccomp.SyscallRule{unix.SYS_SOCKET: seccomp.PerArg{word(unix.AF_NETLINK), seccomp.AnyValue{}, word(unix.NETLINK_NETFILTER)}}
	program := seccomp.Program{RuleSets: []seccomp.RuleSet{{Rules: seccomp.MakeSyscallRules(socket), Action: errno(unix.EPROTONOSUPPORT)}},
		Options: seccomp.ProgramOptions{DefaultAction: allowed, BadArchAction: allowed}}
	instructions, _, err := program.Build()
	if err != nil {
		return err
	}
	return seccomp.SetFilter(instructions)
}

// resolvedEtc covers /etc by one whose resolv.conf is a link, as systemd-resolved has it.
func resolvedEtc(etc string) error {
	errs := []error{os.Mkdir(etc, 0o755), os.Symlink("../run/systemd/resolve/stub-resolv.conf", etc+"/resolv.conf")}
	for _, name := range []string{"passwd", "group", "hosts", "nsswitch.conf"} {
		errs = append(errs, os.WriteFile(filepath.Join(etc, name), nil, 0o644))
	}
	return errors.Join(append(errs, unix.Mount(etc, "/etc", "", unix.MS_BIND, ""))...)
}

func privateRoom(dir string) error {
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755")
	return errors.Join(err, os.Mkdir(dir+"/work", 0o755), os.Mkdir(dir+"/state", 0o755))
}

func (r *room) victim(what string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), victimEnv+"="+what, victimDir+"="+filepath.Dir(r.config.Workdir))
	return cmd
}

// privateMounts starts a process that may mount things and change the number of namespaces, without effect on others.
func privateMounts() *syscall.SysProcAttr {
	id := syscall.SysProcIDMap{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}
	if os.Geteuid() == 0 {
		id.Size = 1 << 20 // the spare user too
	}
	return &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS, UidMappings: []syscall.SysProcIDMap{id}, GidMappings: []syscall.SysProcIDMap{id},
		GidMappingsEnableSetgroups: os.Geteuid() == 0,
		AmbientCaps:                []uintptr{unix.CAP_SYS_RESOURCE, unix.CAP_SYS_ADMIN}}
}

func TestResolverConfigurationBehindALink(t *testing.T) {
	r := newRoom(t)
	cmd := r.victim("resolved")
	cmd.SysProcAttr = privateMounts()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "nameserver 100.64.0.1\n") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestMissingParts(t *testing.T) {
	r := newRoom(t)
	cases := map[string]string{"no bwrap": "apt-get install bubblewrap", "no namespaces": "sysctl -w", "masked proc": "systempaths=unconfined", "no nftables": "modprobe nft_tproxy"}
	for what, hint := range cases {
		t.Run("SBX-05 "+what, func(t *testing.T) {
			cmd := r.victim(what)
			cmd.SysProcAttr = privateMounts()
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != ExitEnvironment || !strings.Contains(string(out), hint) {
				t.Errorf("%v: %s; want exit code %d and a hint with %q", err, out, ExitEnvironment, hint)
			}
			if exists(r.path(".git")) {
				t.Error("a placeholder is left")
			}
		})
	}
}

// TestFolderThatCannotBeMapped is about root: an ordinary user needs no mapping.
func TestFolderThatCannotBeMapped(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	cmd := newRoom(t).victim("no idmap")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != ExitEnvironment || !strings.Contains(string(out), "run scupper as the ordinary user") {
		t.Errorf("%v: %s", err, out)
	}
}

// alive counts the processes of the host whose command line has the mark.
func alive(t *testing.T, mark string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range all {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), mark) {
			n++
		}
	}
	return n
}

func TestKilledSupervisor(t *testing.T) {
	r := newRoom(t)
	mark := fmt.Sprintf("1000.%d", os.Getpid())
	cmd := r.victim("marked")
	cmd.Env = append(cmd.Env, "SANDBOX_TEST_MARK="+mark)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatalf("control: the sandbox did not start: %v", err)
	}
	if alive(t, mark) == 0 || !exists(r.path(".git")) {
		t.Fatal("control: no process or no placeholder while the run lives")
	}
	left := r.journalled()
	if len(left) == 0 && os.Geteuid() == 0 {
		t.Error("control: no control group while the run lives")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The victim's pipe ends with the last process that holds it.
	cmd.Wait()
	for deadline := time.Now().Add(5 * time.Second); alive(t, mark) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d processes are left", alive(t, mark))
		}
	}
	r.shell("true")
	if exists(r.path(".git")) {
		t.Error("the next run did not remove what the killed one left")
	}
	for _, dir := range left {
		if exists(dir) {
			t.Errorf("the next run did not remove the control group %s", dir)
		}
	}
	journals, err := filepath.Glob(r.config.StateDir + "/placeholders/run-*")
	if err != nil || len(journals) > 0 {
		t.Errorf("journals left: %v, %v", journals, err)
	}
}

// journalled are the control groups of this room's runs that exist.
func (r *room) journalled() []string {
	r.t.Helper()
	journals, err := filepath.Glob(r.config.StateDir + "/placeholders/run-*")
	if err != nil {
		r.t.Fatal(err)
	}
	var all []string
	for _, name := range journals {
		held, _, err := readJournal(name)
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, held.Groups...)
	}
	return slices.DeleteFunc(all, func(dir string) bool { return !exists(dir) })
}
