package sandbox

import (
	"slices"
	"strconv"
	"strings"
)

// bwrapArgs are bubblewrap's options. They go through a memory file, so that no other user of the host reads the environment in the process list.
func bwrapArgs(env []string, workdir string, terminal bool) []string {
	args := slices.Concat([]string{
		"--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup",
		"--uid", innerID, "--gid", innerID, "--hostname", hostname,
		"--die-with-parent",
		// For devices; attributes that a mount has, such as nodev and read-only, stay.
		"--dev-bind", stagedRoot, "/", "--chdir", workdir,
		"--json-status-fd", strconv.Itoa(statusFD),
		"--clearenv",
	},
		options("processes of the host", []string{"--unshare-pid", "--proc", "/proc"}, "--bind", "/proc", "/proc"),
		options("capabilities", []string{"--cap-drop", "ALL"}, "--cap-add", "ALL"),
		options("system calls", []string{"--seccomp", strconv.Itoa(seccompFD)}),
	)
	if !terminal {
		args = append(args, "--new-session") // it has one with its terminal, and would lose that
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		args = append(args, "--setenv", name, value)
	}
	return args
}

// options are those of a control, or what stands in their place where a test leaves the control out.
func options(control string, held []string, broke ...string) []string {
	if broken(control) {
		return broke
	}
	return held
}

// encodeArgs joins options as bwrap's --args wants them.
func encodeArgs(args []string) []byte {
	return []byte(strings.Join(args, "\x00") + "\x00")
}
