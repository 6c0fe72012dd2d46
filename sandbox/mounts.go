package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// stageMounts builds the root of the sandbox under one directory of the child's own mount namespace: it must not depend on paths that the sandbox's user
// cannot walk, and the protected paths must be in place before anything runs.
func (p plan) stageMounts(passed []int) error {
	// Taken before the staging directory covers one of them.
	trees, err := p.takeFolders(passed)
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", staging, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount staging directory: %w", err)
	}
	for i, f := range p.Folders {
		if err := f.stage(trees[i], stagedFolder(i)); err != nil {
			return err
		}
	}
	if err := p.stageTexts(); err != nil {
		return err
	}
	if err := p.stageScratch(); err != nil {
		return err
	}
	return p.stageRoot()
}

// ownProc mounts the process table of this process's own namespace: bubblewrap looks up its child by the number it has there. Where that is
// forbidden, bubblewrap could not give the sandbox one either.
func ownProc() error {
	// Nothing mounted from here on may reach the host.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if broken("processes of the host") {
		return nil
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return environment("mount a fresh /proc", err, hintProc)
	}
	return nil
}

// stageTexts writes the files of ours.
func (p plan) stageTexts() error {
	from := os.NewFile(textsFD, "texts")
	defer from.Close()
	for i, size := range p.Texts {
		to, err := os.Create(stagedText(i))
		if err != nil {
			return fmt.Errorf("create file: %w", err)
		}
		_, err = io.CopyN(to, from, int64(size))
		if err := errors.Join(err, to.Close()); err != nil {
			return fmt.Errorf("write file: %w", err)
		}
	}
	return nil
}

func (p plan) stageScratch() error {
	options := fmt.Sprintf("mode=0755,size=%d,nr_inodes=%d", p.Limits.Scratch, max(p.Limits.Scratch>>12, 1024))
	if err := mountTmpfs(filepath.Clean(stagedScratch("")), options); err != nil {
		return err
	}
	for _, s := range scratch() {
		if err := errors.Join(os.Mkdir(stagedScratch(s.name), 0o700), os.Chmod(stagedScratch(s.name), s.mode)); err != nil {
			return fmt.Errorf("make scratch directory %q: %w", s.dest, err)
		}
	}
	return nil
}

// takeFolders returns one detached mount for each folder: the next of those that the supervisor passed, or one of the child's own making.
func (p plan) takeFolders(passed []int) ([]int, error) {
	trees := make([]int, len(p.Folders))
	for i, f := range p.Folders {
		if f.Mounted {
			if len(passed) == 0 {
				return nil, fmt.Errorf("the mount of %q was not passed", f.Path)
			}
			trees[i], passed = passed[0], passed[1:]
			continue
		}
		tree, err := unix.OpenTree(unix.AT_FDCWD, f.Path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
		if err != nil {
			return nil, &Error{Code: ExitUsage, Doing: fmt.Sprintf("open %q", f.Path), Err: err, Hint: "use a folder that you can read yourself"}
		}
		trees[i] = tree
	}
	return trees, nil
}

// stage attaches a tree and lays its overlays.
func (f folder) stage(tree int, at string) error {
	var st unix.Stat_t
	if err := unix.Fstat(tree, &st); err != nil {
		return fmt.Errorf("look at %q: %w", f.Path, err)
	}
	if st.Dev != f.Dev || st.Ino != f.Ino {
		return fmt.Errorf("%q was replaced while the run was prepared", f.Path)
	}
	if err := f.makeMountPoint(at); err != nil {
		return err
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("attach %q: %w", f.Path, err)
	}
	for _, o := range f.Overlays {
		if err := o.mount(at); err != nil {
			return fmt.Errorf("protect %q: %w", filepath.Join(f.Path, o.Rel), err)
		}
	}
	if f.Writable {
		return nil
	}
	return setMount(at, true, unix.MOUNT_ATTR_RDONLY)
}

func (f folder) makeMountPoint(at string) error {
	if f.Dir {
		return os.Mkdir(at, 0o755)
	}
	return os.WriteFile(at, nil, 0o644)
}

// mount covers a path with itself.
func (o overlay) mount(folder string) error {
	root, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	at, err := openBelow(root, o.Rel)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	tree, err := unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	if o.ReadOnly {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
			return err
		}
	}
	return unix.MoveMount(tree, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// idMapped returns a detached mount of the folder in which its owner is the sandbox's user. Only root can make one.
func (f folder) idMapped(spare int) (*os.File, error) {
	tree, err := unix.OpenTree(unix.AT_FDCWD, f.Path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return nil, environment(fmt.Sprintf("clone the mount of %q", f.Path), err, hintIDMap)
	}
	mounted := os.NewFile(uintptr(tree), f.Path)
	userns, err := idMapping(int(f.UID), int(f.GID), spare)
	if err != nil {
		return nil, errors.Join(err, mounted.Close())
	}
	defer userns.Close()
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(userns.Fd())}
	err = unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr)
	if err != nil && (f.Writable || !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EOPNOTSUPP)) {
		return nil, errors.Join(environment(fmt.Sprintf("map the owner of %q to the sandbox's user", f.Path), err, hintIDMap), mounted.Close())
	}
	return mounted, nil
}
