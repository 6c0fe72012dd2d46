package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// stageDev makes a /dev of six harmless devices, pseudo-terminals of its own and shared memory. bubblewrap
// could make one, but only with a second user namespace and many more mounts.
func stageDev(at string) error {
	if err := mountTmpfs(at, "mode=0755,size=65536"); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := bindFile("/dev/"+name, filepath.Join(at, name)); err != nil {
			return fmt.Errorf("make device %q: %w", name, err)
		}
	}
	links := map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(at, name)); err != nil {
			return fmt.Errorf("make /dev: %w", err)
		}
	}
	pts, shm := filepath.Join(at, "pts"), filepath.Join(at, "shm")
	if err := errors.Join(os.Mkdir(pts, 0o755), os.Mkdir(shm, 0o755)); err != nil {
		return fmt.Errorf("make /dev: %w", err)
	}
	if err := unix.Mount("devpts", pts, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return fmt.Errorf("mount pseudo-terminals: %w", err)
	}
	if err := unix.Mount(stagedScratch("shm"), shm, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount shared memory: %w", err)
	}
	return setMount(at, false, unix.MOUNT_ATTR_RDONLY)
}

// bindFile makes a file appear at another place.
func bindFile(from, to string) error {
	if err := os.WriteFile(to, nil, 0o644); err != nil {
		return err
	}
	return unix.Mount(from, to, "", unix.MS_BIND, "")
}

func mountTmpfs(at, options string) error {
	if err := os.Mkdir(at, 0o755); err != nil {
		return fmt.Errorf("make %q: %w", at, err)
	}
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount %q: %w", at, err)
	}
	return nil
}
