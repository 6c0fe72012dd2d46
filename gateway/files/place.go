package files

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/gateway"
)

// place is where a file is, or is to be: a directory that is open, and a name in it.
type place struct {
	dir int
	rel string // in the workspace, without links
	old *found // what is there; nil: nothing
}

func (p *place) base() string { return path.Base(p.rel) }

func (p *place) close() error {
	err := unix.Close(p.dir)
	if p.old != nil {
		err = errors.Join(err, p.old.close())
	}
	return err
}

// enter finds where a file is to be written, and says no where the caller may not write.
// With create, missing directories are made. The caller closes the place.
func (w *Workspace) enter(ctx context.Context, c *gateway.Call, asked string, create bool) (*place, error) {
	rel, err := w.relative(asked)
	if err != nil {
		return nil, err
	}
	if rel == "." {
		return nil, notFile(asked, unix.S_IFDIR)
	}
	for range attempts {
		var p *place
		if p, err = w.tryEnter(ctx, c, asked, rel, create); err == nil {
			return p, nil
		}
		if !errors.Is(err, unix.EAGAIN) {
			break
		}
	}
	return nil, w.refusal(asked, err)
}

func (w *Workspace) tryEnter(ctx context.Context, c *gateway.Call, asked, rel string, create bool) (*place, error) {
	old, err := w.findFile(asked)
	if r := (*Refusal)(nil); errors.As(err, &r) && r.Reason == Missing {
		return w.newPlace(ctx, c, asked, rel, create)
	} else if err != nil {
		return nil, err
	}
	dir, real, err := w.parent(old)
	if err != nil {
		return nil, errors.Join(err, old.close())
	}
	p := &place{dir: dir, rel: real, old: old}
	if err := w.mayWrite(ctx, c, asked, rel, real); err != nil {
		return nil, errors.Join(err, p.close())
	}
	if old.stat.Nlink > 1 && !w.bornHere(old.fd) {
		return nil, errors.Join(refuse(Linked, "%s has %d names (hard links) and is older than this session; it may also be a file elsewhere. "+
			"Remove it and write a new one, or write under another name", quote(asked), old.stat.Nlink), p.close())
	}
	return p, nil
}

// mayWrite looks for a grant for each protected name that a path falls under.
func (w *Workspace) mayWrite(ctx context.Context, c *gateway.Call, asked string, rels ...string) error {
	for _, name := range w.protects(rels...) {
		if w.config.MayWrite == nil || !w.config.MayWrite(ctx, c.Role, name) {
			return refuse(Protected, "%s is protected (%s) and needs a grant of its own to be written", quote(asked), name)
		}
	}
	return nil
}

// bornHere reports whether a file was created since the session began. The kernel
// keeps the time of birth; nobody can set it.
func (w *Workspace) bornHere(fd int) bool {
	var st unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st)
	return err == nil && st.Mask&unix.STATX_BTIME != 0 && !time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)).Before(w.config.Began)
}

// newPlace is the place of a file that does not exist.
func (w *Workspace) newPlace(ctx context.Context, c *gateway.Call, asked, rel string, create bool) (*place, error) {
	if strings.HasSuffix(rel, "/") {
		return nil, refuse(Kind, "%s ends in a slash; a file is to be written, not a directory", quote(asked))
	}
	dir, tail, err := w.deepest(rel)
	if err != nil {
		return nil, err
	}
	p := &place{dir: dir}
	if err := w.checkNew(ctx, c, asked, rel, p, tail, create); err != nil {
		return nil, errors.Join(err, p.close())
	}
	for len(tail) > 1 {
		if err := w.descend(p, tail[0]); err != nil {
			return nil, errors.Join(err, p.close())
		}
		tail = tail[1:]
	}
	return p, nil
}

// deepest opens the last directory on the way to rel that exists, and returns what
// follows it.
func (w *Workspace) deepest(rel string) (dir int, tail []string, err error) {
	parts := strings.Split(rel, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		at := "."
		if i > 0 {
			at = strings.Join(parts[:i], "/")
		}
		dir, err = w.open(w.fd(), at, unix.O_RDONLY|unix.O_DIRECTORY, true)
		if err == nil {
			return dir, parts[i:], nil
		}
		if !errors.Is(err, unix.ENOENT) {
			break
		}
	}
	return -1, nil, err
}

// checkNew says whether the caller may create what tail names in the directory of p.
func (w *Workspace) checkNew(ctx context.Context, c *gateway.Call, asked, rel string, p *place, tail []string, create bool) error {
	at, err := w.within(p.dir)
	if err != nil {
		return err
	}
	p.rel = path.Join(at, path.Join(tail...))
	var st unix.Stat_t
	switch err := unix.Fstatat(p.dir, tail[0], &st, unix.AT_SYMLINK_NOFOLLOW); {
	case slices.Contains(tail, ".."):
		return refuse(Missing, "%s does not exist, and is not created by way of \"..\"", quote(asked))
	case err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return refuse(Missing, "%s is a symbolic link, or leads through one, to something that does not exist; nothing is created through a link", quote(asked))
	case err == nil:
		return unix.EAGAIN // created meanwhile
	case !errors.Is(err, unix.ENOENT):
		return err
	}
	if err := w.mayWrite(ctx, c, asked, rel, p.rel); err != nil {
		return err
	}
	if !create {
		return refuse(Missing, "%s does not exist", quote(asked))
	}
	return nil
}

// descend makes a directory in that of p and goes into it.
func (w *Workspace) descend(p *place, name string) error {
	err := unix.Mkdirat(p.dir, name, 0o777)
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	made := err == nil
	dir, err := w.open(p.dir, name, unix.O_RDONLY|unix.O_DIRECTORY, false)
	if err != nil {
		return unmoved(err)
	}
	if made {
		err = inherit(dir, p.dir)
	}
	old := p.dir
	p.dir = dir
	return errors.Join(err, unix.Close(old))
}

// inherit gives a new file or directory the owner of the directory that it is in, since
// what root creates would be out of reach for whoever works in the folder.
func inherit(fd, dir int) error {
	if unix.Geteuid() != 0 {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return err
	}
	return unix.Fchown(fd, int(st.Uid), int(st.Gid))
}
