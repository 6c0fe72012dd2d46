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

// overlay is a mount inside a writable folder. A read-only one protects; a writable one of the same directory keeps that directory from being
// renamed, since `mv .git x; mkdir .git` would otherwise leave a protected path behind under another name.
type overlay struct {
	Rel      string // below the folder, never "."
	ReadOnly bool
}

// guarded is a path that must stay as it is.
type guarded struct {
	path string
	dir  bool   // what a placeholder is, if the path does not exist
	text string // what a placeholder file contains
}

// placeholder is a file or directory that has to be made before a run, so that it cannot be made during the run.
type placeholder struct {
	Path     string
	Dir      bool
	Text     string
	UID, GID uint32 // its owner, the folder's
	Dev, Ino uint64 // once made
}

// protect plans the overlays of every writable folder and returns the placeholders that they need.
func (c *CageConfig) protect(folders []folder, live []placeholder) ([]placeholder, error) {
	var made []placeholder
	for i := range folders {
		f := &folders[i]
		if !f.Writable || !f.Dir {
			if err := c.refuseWritableFile(*f); err != nil {
				return nil, err
			}
			continue
		}
		if readOnlyFileSystem(f.Path) {
			continue
		}
		all, err := gitGuarded(f.Path, f.Path)
		if err != nil {
			return nil, err
		}
		for _, p := range c.Protect {
			all = append(all, guarded{path: p})
		}
		for _, other := range folders {
			if !other.Writable && other.Path != f.Path && inside(other.Path, f.Path) {
				all = append(all, guarded{path: other.Path})
			}
		}
		p := protection{folder: f, overlays: map[string]bool{}, live: live}
		for _, g := range all {
			if err := p.add(g); err != nil {
				return nil, err
			}
		}
		f.Overlays = p.sorted()
		made = append(made, p.placeholders...)
	}
	return made, nil
}

func (c *CageConfig) refuseWritableFile(f folder) error {
	for _, p := range c.Protect {
		if f.Writable && realPath(absolute(p)) == f.Path {
			return usage("leave out --rw "+f.Path, "%q decides what the sandbox may do and cannot be writable", f.Path)
		}
	}
	return nil
}

// protection collects the overlays of one folder.
type protection struct {
	folder       *folder
	overlays     map[string]bool // relative path -> read-only
	placeholders []placeholder
	live         []placeholder
}

func (p *protection) add(g guarded) error {
	rel, ok := below(absolute(g.path), p.folder.Path)
	if !ok {
		return nil
	}
	if rel == "." {
		return usage("use a folder that does not decide anything", "%q is protected and cannot be writable", p.folder.Path)
	}
	parts := strings.Split(rel, "/")
	for i := range parts {
		at := strings.Join(parts[:i+1], "/")
		if p.overlays[at] {
			return nil
		}
		last := i == len(parts)-1
		found, err := look(filepath.Join(p.folder.Path, at), last)
		if err != nil {
			return err
		}
		found = found && !slices.ContainsFunc(p.live, func(l placeholder) bool { return l.Path == filepath.Join(p.folder.Path, at) })
		if !found {
			p.placeholders = append(p.placeholders, placeholder{Path: filepath.Join(p.folder.Path, at), Dir: g.dir || !last, Text: g.text,
				UID: p.folder.UID, GID: p.folder.GID})
		}
		p.overlays[at] = last || !found
		if p.overlays[at] {
			return nil
		}
	}
	return nil
}

// look examines one path on the way to a protected one, or that one itself.
func look(path string, last bool) (found bool, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); errors.Is(err, unix.ENOENT) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("look at protected path %q: %w", path, err)
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK:
		return false, usage("replace the link with what it points to: cp --remove-destination \"$(readlink -f "+path+")\" "+path,
			"%q is a symbolic link and lies on the way to a protected path; what it names could be swapped", path)
	case kind == unix.S_IFREG && !last:
		return false, usage("remove the file", "%q is a file, but a protected path lies below it", path)
	case kind == unix.S_IFREG && st.Nlink > 1:
		return false, usage("give it an inode of its own: cp "+path+" "+path+".new && mv "+path+".new "+path,
			"%q is protected and has %d names (hard links); it could be written through another one", path, st.Nlink)
	case kind != unix.S_IFREG && kind != unix.S_IFDIR:
		return false, usage("remove it", "%q is protected and neither a file nor a directory", path)
	}
	return true, nil
}

// sorted returns the overlays, parents before children; what lies below a read-only one is already protected by it.
func (p *protection) sorted() []overlay {
	var all []overlay
	for rel, readOnly := range p.overlays {
		all = append(all, overlay{rel, readOnly})
	}
	slices.SortFunc(all, func(a, b overlay) int { return strings.Compare(a.Rel+"/", b.Rel+"/") })
	return slices.DeleteFunc(all, func(o overlay) bool { return p.coveredByParent(o.Rel) })
}

func (p *protection) coveredByParent(rel string) bool {
	for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
		if p.overlays[dir] {
			return true
		}
	}
	return false
}

// below returns path relative to dir, which is real. The part of path above dir may go through symlinks; the part below is taken as written, so
// that a link there is found and refused. Where several parts of path lead to dir, that is the first: the others are links inside it.
func below(path, dir string) (string, bool) {
	first := ""
	for at := path; at != "/"; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil && real == dir {
			first = at
		}
	}
	if first != "" {
		rel, err := filepath.Rel(first, path)
		return rel, err == nil
	}
	if real := realPath(path); inside(real, dir) {
		rel, err := filepath.Rel(dir, real)
		return rel, err == nil
	}
	return "", false
}

func readOnlyFileSystem(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.ST_RDONLY != 0
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	return abs
}

// gitGuarded lists what git executes, or what can point git elsewhere, for the work tree at dir. The contents of a .git file are followed as far as
// they stay inside the folder.
func gitGuarded(dir, folder string) ([]guarded, error) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Lstat(dotGit)
	if errors.Is(err, fs.ErrNotExist) {
		return []guarded{{path: dotGit, dir: true}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at %q: %w", dotGit, err)
	}
	if info.IsDir() {
		return gitDirGuarded(dotGit), nil
	}
	all := []guarded{{path: dotGit}}
	if !info.Mode().IsRegular() {
		return all, nil
	}
	text, err := os.ReadFile(dotGit)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", dotGit, err)
	}
	target := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	if real := realPath(target); inside(real, folder) {
		all = append(all, gitDirGuarded(real)...)
	}
	return all, nil
}

func gitDirGuarded(dir string) []guarded {
	all := []guarded{
		{path: filepath.Join(dir, "hooks"), dir: true},
		{path: filepath.Join(dir, "config")},
		{path: filepath.Join(dir, "config.worktree")},
		// A commondir file makes git take configuration and hooks from where it says; "." is where they are anyway.
		{path: filepath.Join(dir, "commondir"), text: "."},
	}
	for _, name := range []string{"modules", "worktrees"} {
		if exists(filepath.Join(dir, name)) {
			all = append(all, guarded{path: filepath.Join(dir, name), dir: true})
		}
	}
	return all
}
