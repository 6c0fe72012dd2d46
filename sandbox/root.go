package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// stagedRoot is the root directory of the sandbox, as the child builds it: from nothing, so that what is not put there does not exist inside.
// bubblewrap binds it whole. It could build the same from options, in five times the time, and could not keep links from leading it astray.
const stagedRoot = staging + "/root"

// stageRoot puts the root together. Everything in it but devices is without set-user-id and devices; what is not a scratch directory or a writable
// folder is read-only.
func (p plan) stageRoot() error {
	if err := mountTmpfs(stagedRoot, "mode=0755,size=1048576"); err != nil {
		return err
	}
	for _, path := range system() {
		if err := stageSystem(path); err != nil {
			return fmt.Errorf("put %q into the root: %w", path, err)
		}
	}
	for _, s := range scratch() {
		if inside(s.dest, "/dev") {
			continue // comes with /dev
		}
		from := stagedScratch(s.name)
		if s.dest == "/var/tmp" && broken("files of the host") {
			from = s.dest
		}
		if err := p.place(from, s.dest, true); err != nil {
			return err
		}
	}
	for _, f := range p.Files {
		if err := p.placeText(f); err != nil {
			return err
		}
	}
	for i, f := range p.Folders {
		if err := p.place(stagedFolder(i), f.Path, f.Dir); err != nil {
			return err
		}
	}
	return p.finishRoot()
}

func (p plan) finishRoot() error {
	for _, dir := range []string{"/proc", "/var"} {
		if err := os.MkdirAll(stagedRoot+dir, 0o755); err != nil {
			return fmt.Errorf("make %q: %w", dir, err)
		}
	}
	if err := os.Symlink("/run", stagedRoot+"/var/run"); err != nil {
		return fmt.Errorf("make /var/run: %w", err)
	}
	if err := setMount(stagedRoot, true, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	if err := stageDev(stagedRoot + "/dev"); err != nil {
		return err
	}
	if broken("read-only root") {
		return nil
	}
	return setMount(stagedRoot, false, unix.MOUNT_ATTR_RDONLY)
}

// stageSystem takes over one of the host's directories, read-only, or the link that stands in its place.
func stageSystem(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(target, stagedRoot+path)
	}
	if err := os.Mkdir(stagedRoot+path, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(path, stagedRoot+path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return setMount(stagedRoot+path, true, unix.MOUNT_ATTR_RDONLY)
}

// place makes what stands at from appear at dest in the root.
func (p plan) place(from, dest string, dir bool) error {
	at, err := p.mountPoint(dest, dir)
	if err != nil {
		return fmt.Errorf("make mount point %q: %w", dest, err)
	}
	defer unix.Close(at)
	tree, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return fmt.Errorf("clone what belongs to %q: %w", dest, err)
	}
	defer unix.Close(tree)
	if err := unix.MoveMount(tree, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount %q: %w", dest, err)
	}
	return nil
}

func (p plan) placeText(f placedText) error {
	if err := p.place(stagedText(f.Text), f.Dest, false); err != nil {
		return err
	}
	return setMount(stagedRoot+f.Dest, false, unix.MOUNT_ATTR_RDONLY)
}

// mountPoint opens the place of a path in the root, without following a link, and makes it where it is ours to make. Inside a folder of the host it
// exists, or somebody has just changed that folder.
func (p plan) mountPoint(dest string, dir bool) (int, error) {
	fd, err := inRoot(dest)
	ofHost := slices.ContainsFunc(p.Folders, func(f folder) bool { return dest != f.Path && inside(dest, f.Path) })
	if !errors.Is(err, unix.ENOENT) || ofHost {
		return fd, err
	}
	if err := os.MkdirAll(filepath.Dir(stagedRoot+dest), 0o755); err != nil {
		return -1, err
	}
	if dir {
		err = os.Mkdir(stagedRoot+dest, 0o755)
	} else {
		err = os.WriteFile(stagedRoot+dest, nil, 0o644)
	}
	if err != nil {
		return -1, err
	}
	return inRoot(dest)
}

func inRoot(dest string) (int, error) {
	root, err := unix.Open(stagedRoot, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return openBelow(root, dest[1:])
}

// openBelow opens a path below a directory for mounting; a link on the way is an error, whatever another process makes of the path meanwhile.
func openBelow(dir int, rel string) (int, error) {
	return unix.Openat2(dir, rel, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
}

// setMount adds attributes to a mount, and to those below it.
func setMount(path string, recursive bool, attributes uint64) error {
	flags := uint(0)
	if recursive {
		flags = unix.AT_RECURSIVE
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: attributes}); err != nil {
		return fmt.Errorf("set attributes of %q: %w", path, err)
	}
	return nil
}
