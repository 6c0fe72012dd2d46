package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// journal says which placeholders a run has made or relies on, and which control groups it has. A run holds a lock on its journal while it lives; a journal whose lock is free belongs to
// a run that died, and the next run removes what it left.
type journal struct {
	dir          string
	file         *os.File
	Placeholders []placeholder
	Groups       []string // directories
}

// openJournal begins the journal of a run with the control groups that it is going to have.
func openJournal(stateDir string, groups []string) (*journal, error) {
	j := &journal{dir: filepath.Join(stateDir, "placeholders"), Groups: groups}
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return nil, fmt.Errorf("create state directory: %w", err)
	}
	if err := j.locked(j.create); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *journal) create() error {
	f, err := os.CreateTemp(j.dir, "run-")
	if err != nil {
		return fmt.Errorf("create journal: %w", err)
	}
	j.file = f
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("lock journal %q: %w", f.Name(), err)
	}
	return j.save()
}

// place cleans up after dead runs, asks which placeholders are wanted, writes them down and makes them, all under one lock per state directory. The
// function is told what live runs rely on: that exists, but only as long as they do.
func (j *journal) place(wanted func(live []placeholder) ([]placeholder, error)) error {
	return j.locked(func() error {
		live, err := j.sweep()
		if err != nil {
			return err
		}
		if j.Placeholders, err = wanted(live); err != nil {
			return err
		}
		return j.make()
	})
}

// make records what will be made before it is made: whatever happens in between, the next run finds it.
func (j *journal) make() error {
	if err := j.save(); err != nil {
		return err
	}
	for i := range j.Placeholders {
		if err := j.Placeholders[i].make(); err != nil {
			return err
		}
	}
	return j.save()
}

func (j *journal) save() error {
	b, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("encode journal: %w", err)
	}
	if _, err := j.file.WriteAt(b, 0); err != nil {
		return fmt.Errorf("write journal %q: %w", j.file.Name(), err)
	}
	return nil
}

// Close removes what this run made, unless another live run relies on it, and the journal.
func (j *journal) Close() error {
	if j == nil || j.file == nil {
		return nil
	}
	return j.locked(func() error {
		f := j.file
		j.file = nil
		// Removed first, so that the sweep does not take this run for a live or a dead one.
		errs := []error{os.Remove(f.Name()), f.Close()}
		live, err := j.sweep()
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		return errors.Join(append(errs, removeAll(j.Placeholders, live))...)
	})
}

// sweep removes the placeholders and control groups of dead runs and returns the placeholders that live runs rely on.
func (j *journal) sweep() ([]placeholder, error) {
	names, err := filepath.Glob(filepath.Join(j.dir, "run-*"))
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var live, dead []placeholder
	var dying, groups []string
	for _, name := range names {
		held, lives, err := readJournal(name)
		if err != nil {
			return nil, err
		}
		if lives {
			live = append(live, held.Placeholders...)
			continue
		}
		dead = append(dead, held.Placeholders...)
		groups = append(groups, held.Groups...)
		dying = append(dying, name)
	}
	errs := []error{removeAll(dead, live), removeGroups(groups)}
	for _, name := range dying {
		errs = append(errs, os.Remove(name))
	}
	return live, errors.Join(errs...)
}

func readJournal(name string) (held journal, lives bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return held, false, fmt.Errorf("open journal: %w", err)
	}
	defer f.Close()
	lives = errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
	// One that a kill cut short before the first placeholder was made is empty.
	if err := json.NewDecoder(f).Decode(&held); err != nil && lives {
		return held, true, fmt.Errorf("read journal %q: %w", name, err)
	}
	return held, lives, nil
}

// locked runs f while no other run changes placeholders.
func (j *journal) locked(f func() error) error {
	lock, err := os.OpenFile(filepath.Join(j.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open lock: %w", err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %q: %w", lock.Name(), err)
	}
	return f()
}

// make creates the placeholder; one that is there already, from another run, is taken as it is.
func (p *placeholder) make() error {
	err := p.create()
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return environment(fmt.Sprintf("make placeholder for protected path %q", p.Path), err, "make the folder writable for yourself, or run without it")
	}
	var st unix.Stat_t
	if err := unix.Lstat(p.Path, &st); err != nil {
		return fmt.Errorf("look at placeholder %q: %w", p.Path, err)
	}
	if (st.Mode&unix.S_IFMT == unix.S_IFDIR) != p.Dir || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return usage("remove "+p.Path, "%q is protected and changed its kind while the run was prepared", p.Path)
	}
	p.Dev, p.Ino = st.Dev, st.Ino
	return nil
}

func (p *placeholder) create() error {
	if p.Dir {
		if err := os.Mkdir(p.Path, 0o755); err != nil {
			return err
		}
	} else if err := p.createFile(); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(p.Path, int(p.UID), int(p.GID))
}

func (p *placeholder) createFile() error {
	f, err := os.OpenFile(p.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(p.Text)
	return errors.Join(err, f.Close())
}

// removeAll removes placeholders that are as they were made and that no live run relies on.
func removeAll(placeholders, live []placeholder) error {
	var errs []error
	for _, p := range slices.Backward(placeholders) {
		relied := slices.ContainsFunc(live, func(l placeholder) bool { return l.Path == p.Path })
		if !relied && p.untouched() {
			errs = append(errs, os.Remove(p.Path))
		}
	}
	return errors.Join(errs...)
}

// untouched reports whether the path is still what a run made of it. A record without an inode comes from a run that was killed in the moment of making.
func (p *placeholder) untouched() bool {
	var st unix.Stat_t
	if unix.Lstat(p.Path, &st) != nil || p.Ino != 0 && (st.Ino != p.Ino || st.Dev != p.Dev) {
		return false
	}
	if p.Dir {
		entries, err := os.ReadDir(p.Path)
		return st.Mode&unix.S_IFMT == unix.S_IFDIR && err == nil && len(entries) == 0
	}
	return st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size == int64(len(p.Text))
}
