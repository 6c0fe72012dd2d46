package files

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// openInRoot is open without openat2: os.Root stays below the folder, and what was
// opened must be on its mount, which a look at /proc shows for bind mounts too.
func (w *Workspace) openInRoot(dir int, rel string, flags int, links bool) (int, error) {
	fd, err := w.openUnchecked(dir, rel, flags, links)
	if errors.Is(err, unix.ENOENT) && dir == w.fd() {
		return -1, w.missingInRoot(rel)
	}
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	mount, err := mountOf(fd)
	if err == nil {
		err = unix.Fstat(fd, &st)
	}
	if err == nil && (mount != w.mount || st.Dev != w.device) {
		err = unix.EXDEV
	}
	if err == nil && !links && dir == w.fd() {
		var at string
		if at, err = w.within(fd); err == nil && at != rel {
			err = unix.ELOOP
		}
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// missingInRoot is the error for a path to nothing: what is missing on another mount
// is outside, as what is there is.
func (w *Workspace) missingInRoot(rel string) error {
	i := strings.LastIndexByte(strings.TrimRight(rel, "/"), '/')
	if i < 0 {
		return unix.ENOENT
	}
	fd, err := w.openInRoot(w.fd(), rel[:i], unix.O_PATH|unix.O_DIRECTORY, true)
	switch {
	case errors.Is(err, unix.EXDEV):
		return unix.EXDEV
	case err == nil:
		return errors.Join(unix.ENOENT, unix.Close(fd))
	}
	return unix.ENOENT
}

// openName opens a name in a directory, unless it is that of a link.
func openName(dir int, name string, flags int) (int, error) {
	fd, err := unix.Openat(dir, name, flags|never|unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = unix.ELOOP // O_PATH opens the link itself
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

func (w *Workspace) openUnchecked(dir int, rel string, flags int, links bool) (int, error) {
	if !links && !strings.Contains(rel, "/") && rel != ".." {
		return openName(dir, rel, flags)
	}
	if dir != w.fd() {
		return -1, unix.EXDEV
	}
	// os.Root would take a link that O_PATH has opened for the file itself; so what is
	// there is looked at first, since opening a device can have effects.
	info, err := w.root.Stat(rel)
	if err != nil {
		return -1, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return -1, odd(info.Mode())
	}
	f, err := w.root.OpenFile(rel, flags&^unix.O_PATH|never, 0)
	if err != nil {
		return -1, err
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	return fd, errors.Join(err, f.Close())
}

// odd is a refusal without a path, for openInRoot; find says the path.
type odd os.FileMode

func (o odd) Error() string { return "neither a file nor a directory" }

// mode is what stat would have in st_mode.
func (o odd) mode() uint32 {
	switch m := os.FileMode(o); {
	case m&os.ModeNamedPipe != 0:
		return unix.S_IFIFO
	case m&os.ModeSocket != 0:
		return unix.S_IFSOCK
	case m&os.ModeDevice != 0:
		return unix.S_IFCHR
	case m&os.ModeSymlink != 0:
		return unix.S_IFLNK
	}
	return 0
}
