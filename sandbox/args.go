package sandbox

import (
	"os"
	"strconv"
	"strings"
)

// bwrapArgs are bubblewrap's options. They go through a memory file, so that no other user of the host reads the environment in the process list.
//
// The texts of the files are collected on the way. The root is built from nothing: what is not named here does not exist inside.
func bwrapArgs(folders []folder, files []stagedFile, texts *texts, env []string, workdir string) []string {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup",
		"--uid", innerID, "--gid", innerID, "--hostname", hostname,
		"--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--clearenv",
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		args = append(args, "--setenv", name, value)
	}
	args = append(args, systemArgs()...)
	args = append(args, "--proc", "/proc", "--dev-bind", stagedDev, "/dev")
	for _, s := range scratch() {
		if inside(s.dest, "/dev") {
			continue // it came with /dev
		}
		args = append(args, "--bind", stagedScratch(s.name), s.dest)
	}
	args = append(args, "--symlink", "/run", "/var/run")
	for _, f := range files {
		args = append(args, "--ro-bind", stagedText(texts.index(f.Text)), f.Dest)
	}
	for i, f := range folders {
		args = append(args, map[bool]string{true: "--bind", false: "--ro-bind"}[f.Writable], stagedFolder(i), f.Path)
	}
	// Last, since everything above makes mount points there.
	return append(args, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", workdir,
		"--seccomp", strconv.Itoa(seccompFD), "--json-status-fd", strconv.Itoa(statusFD))
}

func systemArgs() []string {
	var args []string
	for _, path := range system() {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if info.Mode()&os.ModeSymlink == 0 {
			args = append(args, "--ro-bind", path, path)
		} else if target, err := os.Readlink(path); err == nil {
			args = append(args, "--symlink", target, path)
		}
	}
	return args
}

// encodeArgs joins options as bwrap's --args wants them.
func encodeArgs(args []string) []byte {
	return []byte(strings.Join(args, "\x00") + "\x00")
}
