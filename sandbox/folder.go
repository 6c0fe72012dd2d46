package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is one path of the host that the sandbox sees, at the same place.
type folder struct {
	Path     string // absolute, without symlinks
	Dir      bool
	Writable bool
	Dev, Ino uint64 // what Path was when it was checked
	UID, GID uint32
	Overlays []overlay
	Mounted  bool // the supervisor passes a detached mount, because the child could not reach or use the path itself
}

// CheckFolders is an error when a folder that was asked for is one that no sandbox gets.
func (c *CageConfig) CheckFolders() error {
	_, err := c.folders(c.forbidden())
	return err
}

// folders resolves and checks every path that the caller asked for, parents before children.
func (c *CageConfig) folders(forbidden []place) ([]folder, error) {
	var all []folder
	add := func(flag, path string, writable bool) error {
		f, err := newFolder(flag, path, writable)
		if err != nil {
			return err
		}
		if err := refuse(flag, path, f, forbidden); err != nil {
			return err
		}
		all = append(all, f)
		return nil
	}
	errs := []error{add("--workdir", c.Workdir, true)}
	for _, p := range c.RW {
		errs = append(errs, add("--rw", p, true))
	}
	for _, p := range c.RO {
		errs = append(errs, add("--ro", p, false))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if !all[0].Dir {
		return nil, usage("name a directory", "--workdir %q is not a directory", c.Workdir)
	}
	return inOrder(all)
}

func newFolder(flag, path string, writable bool) (folder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return folder{}, fmt.Errorf("find current directory: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return folder{}, usage("mkdir -p "+path, "%s %q does not exist", flag, path)
	}
	if err != nil {
		return folder{}, &Error{Code: ExitUsage, Doing: fmt.Sprintf("look at %s %q", flag, path), Err: err}
	}
	var st unix.Stat_t
	if err := unix.Lstat(real, &st); err != nil {
		return folder{}, fmt.Errorf("look at %q: %w", real, err)
	}
	kind := st.Mode & unix.S_IFMT
	if kind != unix.S_IFDIR && kind != unix.S_IFREG {
		return folder{}, usage("name a file or a directory", "%s %q is neither a file nor a directory", flag, path)
	}
	return folder{Path: real, Dir: kind == unix.S_IFDIR, Writable: writable, Dev: st.Dev, Ino: st.Ino, UID: st.Uid, GID: st.Gid}, nil
}

// inOrder puts parents before children, so that a child is not covered, and refuses one path with two meanings.
func inOrder(all []folder) ([]folder, error) {
	slices.SortStableFunc(all, func(a, b folder) int { return strings.Compare(a.Path+"/", b.Path+"/") })
	var kept []folder
	for i, f := range all {
		if i > 0 && all[i-1].Path == f.Path {
			if all[i-1].Writable != f.Writable {
				return nil, usage("keep one of the two", "%q is asked for both writable and read-only", f.Path)
			}
			continue
		}
		kept = append(kept, f)
	}
	return kept, nil
}

// inside reports whether path is dir or lies below it; both are clean and absolute.
func inside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// system are the host's directories that every sandbox sees, read-only.
func system() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"}
}

// visible reports whether the path, which exists on the host, exists inside as well.
func visible(path string, folders []folder) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for _, s := range system() {
		if inside(real, s) {
			return true
		}
	}
	return slices.ContainsFunc(folders, func(f folder) bool { return inside(real, f.Path) })
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
