package sandbox

import (
	"strconv"
	"strings"
)

// bwrapArgs are bubblewrap's options. They go through a memory file, so that no other user of the host reads the environment in the process list.
func bwrapArgs(env []string, workdir string) []string {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup",
		"--uid", innerID, "--gid", innerID, "--hostname", hostname,
		"--die-with-parent", "--new-session", "--cap-drop", "ALL",
		// For devices; attributes that a mount has, such as nodev and read-only, stay.
		"--dev-bind", stagedRoot, "/", "--proc", "/proc", "--chdir", workdir,
		"--seccomp", strconv.Itoa(seccompFD), "--json-status-fd", strconv.Itoa(statusFD),
		"--clearenv",
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		args = append(args, "--setenv", name, value)
	}
	return args
}

// encodeArgs joins options as bwrap's --args wants them.
func encodeArgs(args []string) []byte {
	return []byte(strings.Join(args, "\x00") + "\x00")
}
