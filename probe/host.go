package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// insideAttempts look at what this process was given.
func insideAttempts() []attempt {
	return []attempt{
		{Descriptors, "a descriptor that was inherited", inherited},
		{Environment, "a secret in the environment", secretInEnvironment},
	}
}

// inherited finds a descriptor whose file has the secret's name.
func inherited(s Scene) error {
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(names) == 0 {
		return errors.New("no descriptors to look at")
	}
	for _, name := range names {
		if to, err := os.Readlink(name); err == nil && s.Secret != "" && strings.Contains(to, s.Secret) {
			return nil
		}
	}
	return unix.EBADF
}

func secretInEnvironment(s Scene) error {
	if got, ok := os.LookupEnv(s.Variable); !ok || got != s.Secret {
		return errNothing
	}
	return nil
}

// hostAttempts look for processes and users of the host.
func hostAttempts() []attempt {
	return []attempt{
		{Processes, "a process of the host in /proc", processOutside},
		{Identity, "a file that only root may read", func(Scene) error {
			f, err := os.Open("/etc/shadow")
			if err != nil {
				return err
			}
			return f.Close()
		}},
		{Capabilities, "a call that needs a capability", func(Scene) error {
			// Drops one capability from what may be gained: harmless, and needs CAP_SETPCAP.
			return unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_BOOT, 0, 0, 0)
		}},
	}
}

// processOutside reads the name of a process outside; the number alone may be that of
// one inside.
func processOutside(s Scene) error {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.PID), "comm"))
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(text)) != s.Command {
		return errNothing
	}
	return nil
}

// fileAttempts reach for files and sockets of the host and for what must not be written.
func fileAttempts() []attempt {
	return []attempt{
		{HostFiles, "a file of the host", func(s Scene) error { _, err := os.ReadFile(s.File); return err }},
		{HostFiles, "a unix socket of the host", func(s Scene) error { return unixConnects(s.Sockets) }},
		{HostFiles, "docker, ssh-agent, D-Bus", func(s Scene) error { return unixConnects(s.Services) }},
		{HostFiles, "a device of the host", devices},
		{ReadOnlyRoot, "a file beside the root's", func(Scene) error { return create("/scupper-probe") }},
		{ReadOnlyRoot, "a file among the host's programs", func(Scene) error { return create("/usr/scupper-probe") }},
		{Identity, "a setting of the kernel", func(Scene) error { return write("/proc/sys/kernel/core_pattern") }},
	}
}

func unixConnects(paths []string) error {
	var tries []func() error
	for _, p := range paths {
		tries = append(tries, func() error { return unixConnect(p) })
	}
	if len(tries) == 0 {
		return errNothing
	}
	return anyOf(tries...)
}

// devices opens memory, disks, hypervisors and tunnels.
func devices(Scene) error {
	names := []string{"/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/net/tun", "/dev/vsock", "/dev/fuse", "/dev/loop-control", "/dev/sda", "/dev/vda", "/dev/console", "/dev/snapshot"}
	var tries []func() error
	for _, name := range names {
		tries = append(tries, func() error {
			f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
			if err != nil {
				return err
			}
			return f.Close()
		})
	}
	return anyOf(tries...)
}

func create(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Remove(path)); err != nil {
		// It was created all the same, which is what counts.
		fmt.Fprintln(os.Stderr, err)
	}
	return nil
}

// write opens a file for writing and writes nothing.
func write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
