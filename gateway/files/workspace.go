package files

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/gateway"
)

// Config says in which folder the tools work, and by which rules.
type Config struct {
	// Folder is the workspace. Its own path may go through links.
	Folder string

	// Protected are the names that need a grant of their own to be written, as in
	// DefaultProtected. Nil: those.
	Protected []string

	// MayWrite says whether the caller of this context has the grant for a name of
	// Protected. Nil: nobody has one.
	MayWrite func(ctx context.Context, role, name string) bool

	// Began is when the session began: a file with several names that is older is not
	// written. Zero: now.
	Began time.Time

	// Rest is where the tool read finds what trimming left out of results. Nil: nowhere.
	Rest gateway.Rest

	rootOnly bool // as on a kernel without openat2
}

// Workspace is the folder that the tools work in. Its methods may be called concurrently.
type Workspace struct {
	folder    string   // its real path
	spellings []string // other absolute paths of it
	root      *os.Root
	dir       *os.File // the same directory
	device    uint64
	mount     int
	escapes   error // what os.Root answers for a path that leads out; nil with openat2
	protected []protectedName
	config    Config
	seed      maphash.Seed
	writing   [64]sync.Mutex // by path: between reading a file and replacing it
}

// Open opens the workspace. The caller closes it.
func Open(c Config) (*Workspace, error) {
	w := &Workspace{config: c, seed: maphash.MakeSeed()}
	if c.Began.IsZero() {
		w.config.Began = time.Now()
	}
	if c.Protected == nil {
		c.Protected = DefaultProtected()
	}
	for _, name := range c.Protected {
		p, err := newProtectedName(name)
		if err != nil {
			return nil, err
		}
		w.protected = append(w.protected, p)
	}
	if err := w.openFolder(c.Folder); err != nil {
		return nil, errors.Join(fmt.Errorf("open workspace %q: %w", c.Folder, err), w.Close())
	}
	return w, nil
}

func (w *Workspace) openFolder(folder string) error {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if w.root, err = os.OpenRoot(absolute); err != nil {
		return err
	}
	if w.dir, err = w.root.Open("."); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(w.fd(), &st); err != nil {
		return err
	}
	w.device = st.Dev
	if w.folder, err = pathOf(w.fd()); err != nil {
		return fmt.Errorf("this needs /proc: %w", err)
	}
	if w.mount, err = mountOf(w.fd()); err != nil {
		return fmt.Errorf("this needs /proc: %w", err)
	}
	if absolute != w.folder {
		w.spellings = append(w.spellings, absolute)
	}
	return w.chooseOpener()
}

// chooseOpener finds out whether the kernel has openat2, which a sandbox may hide.
func (w *Workspace) chooseOpener() error {
	fd, err := unix.Openat2(w.fd(), ".", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve})
	if err == nil && !w.config.rootOnly {
		return unix.Close(fd)
	}
	if err == nil {
		err = unix.Close(fd)
	}
	if err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("openat2: %w", err)
	}
	_, err = w.root.Stat("..")
	failed := (*os.PathError)(nil)
	if !errors.As(err, &failed) {
		return fmt.Errorf("os.Root let the path \"..\" pass (%w)", err)
	}
	w.escapes = failed.Err
	return nil
}

// Close closes the workspace; calls under way fail.
func (w *Workspace) Close() error {
	var all []error
	if w.dir != nil {
		all = append(all, w.dir.Close())
	}
	if w.root != nil {
		all = append(all, w.root.Close())
	}
	return errors.Join(all...)
}

func (w *Workspace) fd() int { return int(w.dir.Fd()) }

// lock keeps other calls that write a file away from it until unlock is called. By
// another spelling they get through, and find that it has changed.
func (w *Workspace) lock(asked string) (unlock func()) {
	if rel, err := w.relative(asked); err == nil {
		asked = path.Clean(rel)
	}
	m := &w.writing[maphash.String(w.seed, asked)%uint64(len(w.writing))]
	m.Lock()
	return m.Unlock
}

// relative takes a path as the caller wrote it and makes it relative to the workspace.
// Components are compared, not characters; ".." is left for the kernel.
func (w *Workspace) relative(asked string) (string, error) {
	switch {
	case asked == "":
		return "", refuse(Malformed, "the path is empty; \".\" is the workspace")
	case strings.ContainsRune(asked, 0):
		return "", refuse(Malformed, "%s: a path has no NUL", quote(asked))
	case len(asked) >= unix.PathMax:
		return "", refuse(Malformed, "the path is longer than %d bytes", unix.PathMax-1)
	case strings.HasPrefix(asked, gateway.RestScheme):
		return "", refuse(Missing, "%s: there is no such result; a file of that name is ./%s", quote(asked), escape(asked, ""))
	case !strings.HasPrefix(asked, "/"):
		return tidy(asked), nil
	}
	for _, folder := range append([]string{w.folder}, w.spellings...) {
		if rest, ok := below(asked, folder); ok {
			return rest, nil
		}
	}
	return "", w.outside(asked)
}

// below is what follows the components of folder in an absolute path.
func below(path, folder string) (rest string, ok bool) {
	rest = path
	for part := range strings.SplitSeq(folder, "/") {
		if part == "" {
			continue
		}
		first, after, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		if first != part {
			return "", false
		}
		rest = "/" + after
	}
	return tidy(rest), true
}

// tidy leaves out empty components and ".", and keeps a slash at the end, since it says
// that a directory is meant.
func tidy(path string) string {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "."
	}
	rel := strings.Join(parts, "/")
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.") {
		rel += "/"
	}
	return rel
}
