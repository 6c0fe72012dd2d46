package files

import (
	"crypto/rand"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// replace puts a file with this text in the place, whole or not at all. A file that was
// there keeps its mode and owner. With fresh, something that is there meanwhile stays.
func (w *Workspace) replace(p *place, text []byte, fresh bool) error {
	name := ".scupper-" + rand.Text() + ".tmp"
	fd, err := unix.Openat(p.dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	err = fill(f, p, text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = p.rename(name, fresh)
	}
	if err != nil {
		return errors.Join(err, unix.Unlinkat(p.dir, name, 0))
	}
	if err := unix.Fsync(p.dir); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

func fill(f *os.File, p *place, text []byte) error {
	if err := dress(f, p); err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// dress gives a new file the owner and mode of the old one, never a setuid bit.
func dress(f *os.File, p *place) error {
	fd := int(f.Fd())
	if p.old == nil {
		return inherit(fd, p.dir)
	}
	if unix.Geteuid() == 0 {
		if err := unix.Fchown(fd, int(p.old.stat.Uid), int(p.old.stat.Gid)); err != nil {
			return err
		}
	}
	return unix.Fchmod(fd, p.old.stat.Mode&0o777)
}

// rename puts the file of that name in the place.
func (p *place) rename(name string, fresh bool) error {
	if p.old == nil || fresh {
		err := unix.Renameat2(p.dir, name, p.dir, p.base(), unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
			return err
		}
		// A file system without it: a second name for the file cannot replace anything either.
		if err := unix.Linkat(p.dir, name, p.dir, p.base(), 0); err != nil {
			return err
		}
		return unix.Unlinkat(p.dir, name, 0)
	}
	if !p.unchanged() {
		return refuse(Conflict, "the file was changed by somebody else while it was being replaced; read it again")
	}
	return unix.Renameat(p.dir, name, p.dir, p.base())
}

// unchanged reports whether the name is still that of the old file, and nobody has
// written to it.
func (p *place) unchanged() bool {
	var now unix.Stat_t
	old := p.old.stat
	err := unix.Fstatat(p.dir, p.base(), &now, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && now.Dev == old.Dev && now.Ino == old.Ino && now.Size == old.Size && now.Mtim == old.Mtim
}

// content reads the old file whole, if it has at most limit bytes.
func (p *place) content(asked string, limit int64) ([]byte, error) {
	if p.old.stat.Size > limit {
		return nil, refuse(TooLarge, "%s has %d bytes, more than the %d that are read whole", quote(asked), p.old.stat.Size, limit)
	}
	f, err := p.old.reader()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, refuse(TooLarge, "%s has more than %d bytes", quote(asked), limit)
	}
	return text, nil
}
