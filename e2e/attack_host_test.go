package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// hostTrials look for services and processes of the host. The names of the sockets are
// known only outside, so that there is one trial for each of several.
func hostTrials() []trial {
	services := []string{
		"SBX-01 /run/docker.sock", "SBX-01 docker.sock in the home", "SBX-01 ssh-agent in /tmp", "SBX-01 a socket in /var/tmp",
		"SBX-02 the session bus", "SBX-03 an abstract socket",
	}
	var all []trial
	for i, name := range services {
		want := "ENOENT"
		if i == len(services)-1 {
			want = "ECONNREFUSED"
		}
		all = append(all, trial{name: name, want: want, outside: true, try: func(s scene) error {
			c, err := net.DialTimeout("unix", s.Sockets[i], trialLimit)
			if err == nil {
				c.Close()
			}
			return err
		}})
	}
	return append(all,
		trial{name: "SBX-02 variables that name services", try: serviceVariables, want: "ENOENT", outside: true},
		trial{name: "SBX-04 inherited descriptors", try: inherited, want: "EBADF", outside: true},
		trial{name: "SBX-04 host's environments", try: environments, want: "ENOENT", outside: true},
		trial{name: "the tests in /proc", try: func(s scene) error { return stat(fmt.Sprintf("/proc/%d/status", s.PID)) }, want: "ENOENT", outside: true},
		trial{name: "the tests by signal", try: func(s scene) error { return unix.Kill(s.PID, 0) }, want: "ESRCH"},
		trial{name: "the tests by ptrace", try: func(s scene) error { return unix.PtraceAttach(s.PID) }, want: "ESRCH"},
		trial{name: "the tests by pidfd", try: func(s scene) error { _, err := unix.PidfdOpen(s.PID, 0); return err }, want: "ESRCH", outside: true},
		trial{name: "the tests' memory", try: func(s scene) error {
			b := make([]byte, 8)
			local, remote := []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}
			_, err := unix.ProcessVMReadv(s.PID, local, remote, 0)
			return err
		}, want: "ESRCH"},
		trial{name: "the first process by ptrace", try: func(scene) error { return unix.PtraceAttach(1) }, want: "EPERM"},
	)
}

func stat(path string) error {
	_, err := os.Lstat(path)
	return err
}

func serviceVariables(scene) error {
	for _, name := range []string{"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DOCKER_HOST"} {
		if os.Getenv(name) != "" {
			return nil
		}
	}
	return unix.ENOENT
}

// inherited succeeds where a descriptor of any process in sight leads to a socket or to
// a file that has the secret.
func inherited(s scene) error {
	for _, to := range links() {
		if strings.HasPrefix(to, "socket:") || strings.Contains(to, s.Secret) {
			return nil
		}
	}
	return unix.EBADF
}

// environments succeeds where the environment of any process in sight has the secret.
func environments(s scene) error {
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(names) == 0 {
		return fmt.Errorf("%d processes: %w", len(names), err)
	}
	for _, name := range names {
		b, _ := os.ReadFile(name)
		if bytes.Contains(b, []byte("SCUPPER_E2E_SECRET="+s.Secret)) {
			return nil
		}
	}
	return unix.ENOENT
}

// fileTrials write where nothing may be written and read what is secret.
func fileTrials() []trial {
	writes := func(name, path, want string) trial {
		return trial{name: name, want: want, try: func(scene) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
			if err == nil {
				f.Close()
			}
			return err
		}}
	}
	reads := func(name, path, want string) trial {
		return trial{name: name, want: want, try: func(scene) error { _, err := os.ReadFile(path); return err }}
	}
	return []trial{
		writes("write /usr", "/usr/bin/scupper-e2e", "EROFS EACCES"),
		writes("write /etc", "/etc/scupper-e2e", "EROFS EACCES"),
		writes("write /", "/scupper-e2e", "EROFS"),
		writes("write resolv.conf", "/etc/resolv.conf", "EROFS EACCES"),
		writes("write the authority", "/scupper/ca.pem", "EROFS EACCES"),
		writes("write /dev", "/dev/scupper-e2e", "EROFS"),
		writes("write /proc/sys", "/proc/sys/kernel/core_pattern", "EROFS EACCES"),
		writes("write another /proc/sys", "/proc/sys/net/ipv4/ip_unprivileged_port_start", "EROFS EACCES"),
		writes("write sysrq", "/proc/sysrq-trigger", "EROFS EACCES ENOENT"),
		reads("read shadow", "/etc/shadow", "EACCES"),
		reads("read kernel memory", "/proc/kcore", "EACCES EPERM ENOENT"),
		reads("read /sys", "/sys/kernel/uevent_seqnum", "ENOENT"),
		reads("read a disk", "/dev/sda", "ENOENT"),
		{name: "SBX-18 the authority's key", try: privateKey, want: "ENOENT"},
		{name: "setuid file", try: setuidFile, want: "EPERM"},
	}
}

// privateKey succeeds where any file of this run holds a private key. It first makes
// sure that it looks at the right place: the certificate is there.
func privateKey(scene) error {
	found, certificates := false, 0
	work, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, root := range []string{"/scupper", "/tmp", "/var/tmp", "/run", "/dev/shm", "/home", work} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Base(path) == "attacker" {
				return nil
			}
			b, _ := os.ReadFile(path)
			found = found || bytes.Contains(b, []byte("PRIVATE KEY"))
			if bytes.Contains(b, []byte("BEGIN CERTIFICATE")) {
				certificates++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if certificates == 0 {
		return errors.New("the certificate is not there either")
	}
	if found {
		return nil
	}
	return unix.ENOENT
}

func setuidFile(scene) error {
	name := fmt.Sprintf("setuid-%d", time.Now().UnixNano())
	if err := os.WriteFile(name, nil, 0o755); err != nil {
		return err
	}
	defer os.Remove(name)
	return unix.Chmod(name, 0o4755)
}
