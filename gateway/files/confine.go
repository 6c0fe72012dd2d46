package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// resolve is how the kernel resolves every path: below the folder, on its mount, and
// through no link of /proc (openat2(2)).
const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS

// never are flags of every open: neither waiting for the other end of a FIFO, nor a
// terminal of ours, nor a descriptor that a child inherits.
const never = unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// attempts bounds how often a path is resolved anew because somebody renames what it
// goes through.
const attempts = 128

// open resolves rel below the directory dir, which is the workspace or a directory that
// open has opened in it. Without links, a link anywhere in rel is an error. This is the
// only place where a name becomes a descriptor.
func (w *Workspace) open(dir int, rel string, flags int, links bool) (int, error) {
	if w.escapes != nil {
		return w.openInRoot(dir, rel, flags, links)
	}
	how := unix.OpenHow{Flags: uint64(flags | never), Resolve: resolve}
	if flags&unix.O_PATH != 0 {
		how.Flags = uint64(flags | unix.O_CLOEXEC) // openat2 refuses what has no meaning
	}
	if !links {
		how.Resolve |= unix.RESOLVE_NO_SYMLINKS
	}
	var err error
	for range attempts {
		var fd int
		if fd, err = unix.Openat2(dir, rel, &how); err == nil {
			return fd, nil
		}
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return -1, err
}

// found is something in the workspace that a path led to: a regular file or a directory,
// opened with O_PATH.
type found struct {
	fd   int
	stat unix.Stat_t
}

func (f *found) close() error { return unix.Close(f.fd) }

func (f *found) isDir() bool { return f.stat.Mode&unix.S_IFMT == unix.S_IFDIR }

// find opens what a path leads to, through links inside, and says no to everything but
// regular files and directories. The caller closes it.
func (w *Workspace) find(asked string) (*found, error) {
	rel, err := w.relative(asked)
	if err != nil {
		return nil, err
	}
	fd, err := w.open(w.fd(), rel, unix.O_PATH, true)
	if err != nil {
		return nil, w.refusal(asked, err)
	}
	f := &found{fd: fd}
	if err := f.check(asked); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *found) check(asked string) error {
	if err := unix.Fstat(f.fd, &f.stat); err != nil {
		return fmt.Errorf("stat %s: %w", quote(asked), err)
	}
	switch f.stat.Mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFDIR:
		return nil
	}
	return notFile(asked, f.stat.Mode)
}

// findFile is find for a regular file.
func (w *Workspace) findFile(asked string) (*found, error) {
	f, err := w.find(asked)
	if err != nil {
		return nil, err
	}
	if f.isDir() {
		return nil, errors.Join(notFile(asked, f.stat.Mode), f.close())
	}
	return f, nil
}

// findFolder is find for a directory.
func (w *Workspace) findFolder(asked string) (*found, error) {
	f, err := w.find(asked)
	if err != nil {
		return nil, err
	}
	if !f.isDir() {
		return nil, errors.Join(refuse(Kind, "%s is a file, not a directory", quote(asked)), f.close())
	}
	return f, nil
}

// reader opens for reading what was found: that object, whatever its name leads to now.
func (f *found) reader() (*os.File, error) {
	fd, err := unix.Open(procPath(f.fd), unix.O_RDONLY|never, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), ""), nil
}

// within is the path of an opened file or directory, relative to the workspace and without
// links.
func (w *Workspace) within(fd int) (string, error) {
	at, err := pathOf(fd)
	if err != nil {
		return "", err
	}
	if at == w.folder {
		return ".", nil
	}
	prefix := strings.TrimSuffix(w.folder, "/") + "/"
	rel, ok := strings.CutPrefix(at, prefix)
	if !ok {
		return "", unix.EXDEV // moved away, or the folder itself was
	}
	return rel, nil
}

// parent opens the directory of what was found and returns its name there, having
// checked that the name is that of what was found.
func (w *Workspace) parent(f *found) (dir int, rel string, err error) {
	rel, err = w.within(f.fd)
	if err != nil {
		return -1, "", err
	}
	dir, err = w.open(w.fd(), path.Dir(rel), unix.O_RDONLY|unix.O_DIRECTORY, false)
	if err != nil {
		return -1, "", unmoved(err)
	}
	if !names(dir, path.Base(rel), &f.stat) {
		return -1, "", errors.Join(unix.EAGAIN, unix.Close(dir))
	}
	return dir, rel, nil
}

// unmoved is EAGAIN for what can only happen when something was renamed meanwhile.
func unmoved(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return unix.EAGAIN
	}
	return err
}

// names reports whether the name in dir is that of the file.
func names(dir int, name string, file *unix.Stat_t) bool {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Dev == file.Dev && st.Ino == file.Ino
}

func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// pathOf is the path of a descriptor as the kernel knows it.
func pathOf(fd int) (string, error) { return os.Readlink(procPath(fd)) }

// mountOf is the id of the mount that a descriptor is on (proc_pid_fdinfo(5)).
func mountOf(fd int) (int, error) {
	text, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if id, ok := bytes.CutPrefix(line, []byte("mnt_id:")); ok {
			return strconv.Atoi(string(bytes.TrimSpace(id)))
		}
	}
	return 0, errors.New("/proc/self/fdinfo has no mnt_id")
}
