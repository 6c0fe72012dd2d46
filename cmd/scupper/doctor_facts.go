package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/sandbox"
)

// fact is one thing that this machine has or lacks.
type fact struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Needed bool   `json:"needed"` // without it nothing runs
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"` // the command that gives it
}

// facts examines the machine. Where a thing can be tried it is tried: what a file or a
// version says is only what stands beside it.
func (a *App) facts() []fact {
	facts := []fact{kernel(), bubblewrap(), userNamespaces(), seccomp(), controlGroups(), ipv6(), rootCertificates(), a.stateFact(), a.folderFact()}
	for i := range facts {
		if facts[i].OK {
			facts[i].Remedy = ""
		}
	}
	return facts
}

// kernel looks at the version: mount_setattr(2) came with 5.12.
func kernel() fact {
	var u unix.Utsname
	f := fact{Name: "kernel", Needed: true, Remedy: "use Linux 5.12 or newer; uname -r shows yours"}
	if err := unix.Uname(&u); err != nil {
		f.Detail = err.Error()
		return f
	}
	release := unix.ByteSliceToString(u.Release[:])
	var major, minor int
	fmt.Sscanf(release, "%d.%d", &major, &minor)
	f.OK, f.Detail = major > 5 || major == 5 && minor >= 12, "Linux "+release
	return f
}

func bubblewrap() fact {
	f := fact{Name: "bubblewrap", Needed: true, Remedy: "apt-get install bubblewrap, dnf install bubblewrap or apk add bubblewrap"}
	text, err := exec.Command("bwrap", "--version").Output()
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.OK, f.Detail = true, strings.TrimSpace(string(text))
	return f
}

// userNamespaces makes one, with a network of its own.
func userNamespaces() fact {
	f := fact{Name: "user namespaces", Needed: true, Remedy: "sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000 kernel.apparmor_restrict_unprivileged_userns=0"}
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if err := cmd.Run(); err != nil {
		f.Detail = err.Error()
		return f
	}
	f.OK, f.Detail = true, "made one, with a network and processes of its own"
	return f
}

func seccomp() fact {
	f := fact{Name: "seccomp", Needed: true, Remedy: "use a kernel with CONFIG_SECCOMP_FILTER"}
	text, err := os.ReadFile("/proc/sys/kernel/seccomp/actions_avail")
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.OK, f.Detail = strings.Contains(string(text), "errno"), strings.TrimSpace(string(text))
	return f
}

// controlGroups looks for the hierarchies that hold memory, processors and processes.
func controlGroups() fact {
	f := fact{Name: "control groups", Remedy: "systemd-run --user --scope -p Delegate=yes scupper run ... (version 2), or run scupper as root"}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	const unified = "/sys/fs/cgroup"
	if text, err := os.ReadFile(unified + "/cgroup.controllers"); err == nil {
		_, group, _ := strings.Cut(string(own), "::")
		group = filepath.Join(unified, strings.TrimSpace(group))
		f.OK = unix.Access(group, unix.W_OK) == nil
		f.Detail = fmt.Sprintf("version 2 with %s; %s", strings.TrimSpace(string(text)), delegated(f.OK, "this group"))
		return f
	}
	var there []string
	for _, name := range []string{"memory", "cpu", "pids"} {
		if strings.Contains(string(own), name) {
			there = append(there, name)
		}
	}
	f.OK = len(there) == 3 && os.Geteuid() == 0
	f.Detail = fmt.Sprintf("version 1 with %s; %s", strings.Join(there, " "), delegated(f.OK, "the hierarchies"))
	return f
}

func delegated(yes bool, what string) string {
	if yes {
		return what + " can be written: memory and processors are held"
	}
	return what + " cannot be written here: processes are held by resource limits, memory and processors are not"
}

func ipv6() fact {
	f := fact{Name: "IPv6", Detail: "on", Remedy: "sysctl -w net.ipv6.conf.all.disable_ipv6=0, if sandboxes are to have it"}
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		f.Detail = "off: sandboxes have IPv4 alone"
		return f
	}
	f.OK = unix.Close(fd) == nil
	return f
}

func rootCertificates() fact {
	f := fact{Name: "root certificates", Needed: true, Remedy: "apt-get install ca-certificates"}
	// Debian, Alpine, Fedora and SUSE.
	for _, path := range []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"} {
		if text, err := os.ReadFile(path); err == nil {
			n := bytes.Count(text, []byte("BEGIN CERTIFICATE"))
			f.OK, f.Detail = n > 0, fmt.Sprintf("%d in %s", n, path)
			return f
		}
	}
	f.Detail = "no bundle at any of the usual places"
	return f
}

// stateFact writes where logs and accepted policies go.
func (a *App) stateFact() fact {
	f := fact{Name: "state directory", Needed: true, Remedy: "set XDG_STATE_HOME to a directory that you can write"}
	dir, err := a.stateDir()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	var probe *os.File
	if err == nil {
		probe, err = os.CreateTemp(dir, "doctor-")
	}
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.OK, f.Detail = true, dir
	return f
}

// folderFact prepares a sandbox for the current folder, as run does, and lets it go: for
// root that needs a file system with idmapped mounts.
func (a *App) folderFact() fact {
	detail := "can be the writable folder of a sandbox"
	if os.Geteuid() == 0 {
		detail += ", mapped to its user (idmapped mount)"
	}
	return step(a.prepareHere(), "this folder", "", detail)
}

// trialFacts are what a sandbox that was tried, with this error, needed.
func trialFacts(err error) []fact {
	return []fact{
		step(err, "nftables", "set up the network namespace", "rules are in force in a namespace of its own: tproxy, reject, log (NFLOG)"),
		step(err, "fresh /proc", "mount a fresh /proc", "can be mounted in a namespace of its own"),
		step(err, "a sandbox", "", "it starts and ends, and the probes ran in it"),
	}
}

// step is one step of making a sandbox. The step that failed is known by what was being
// done; of those behind it nothing is known. A folder that may not be a sandbox's is no
// fault of the machine.
func step(err error, name, doing, detail string) fact {
	f := fact{Name: name, OK: err == nil, Needed: err == nil, Detail: detail}
	if err == nil {
		return f
	}
	f.Detail = "not tried: the sandbox was not built that far"
	if strings.Contains(err.Error(), doing) {
		f.Detail, f.Needed = err.Error(), true
		var known *sandbox.Error
		if errors.As(err, &known) {
			f.Remedy, f.Needed = known.Hint, known.Code != sandbox.ExitUsage
		}
	}
	return f
}

func (a *App) prepareHere() error {
	state, err := os.MkdirTemp("", "scupper-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cage, err := sandbox.Prepare(ctx, sandbox.CageConfig{Command: []string{"true"}, Workdir: ".", StateDir: state, LookupEnv: a.Env})
	if err != nil {
		return err
	}
	return cage.Close()
}
