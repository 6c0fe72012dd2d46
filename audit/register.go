package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Names in the installation's record of heads: heads/<folder of logs>/<run> has the
// last head of a run, and open/<run> beside it that of a run that has not ended.
const (
	headsFolder = "heads"
	openFolder  = "open"
	whereFile   = "where" // which folder of logs it is
)

// register is the place of the heads of one folder of logs, under the installation's
// own. A log that was deleted or made anew is known by it.
func register(state, dir string) string { return registerAt(state, realPath(dir)) }

func registerAt(state, path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(state, headsFolder, hex.EncodeToString(sum[:8]))
}

// realPath is path, absolute and without links where it is there.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// entry of a run in the register; its lock is held as long as the run's writer lives.
type registered struct {
	file         *os.File
	open, closed string // its path, and the one that it will have
}

// enrol makes the entry of a run. Nothing of the log is there yet.
func enrol(state, dir, run string) (*registered, error) {
	base := register(state, dir)
	e := &registered{open: filepath.Join(base, openFolder, run), closed: filepath.Join(base, run)}
	var err error
	e.file, err = os.OpenFile(e.open, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = found(base, dir); err == nil {
			e.file, err = os.OpenFile(e.open, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("register the run: %w", err)
	}
	if err := unix.Flock(int(e.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the run's entry: %w", err), e.file.Close())
	}
	return e, nil
}

// found makes the register of a folder of logs.
func found(base, dir string) error {
	if err := os.MkdirAll(filepath.Join(base, openFolder), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(base, whereFile), []byte(realPath(dir)+"\n"), 0o600)
}

// errInUse means that the writer of a log lives.
var errInUse = errors.New("the run goes on")

// reopen takes the entry of a run whose writer may be dead, ended or not.
func reopen(state, dir, run string, ended bool) (*registered, error) {
	base := register(state, dir)
	e := &registered{open: filepath.Join(base, openFolder, run), closed: filepath.Join(base, run)}
	path := e.open
	if ended {
		path = e.closed
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the run's entry: %w", err)
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil, errors.Join(errInUse, f.Close())
	}
	// The one who had the lock may have moved it.
	now, err := os.Stat(path)
	was, err2 := f.Stat()
	if err != nil || err2 != nil || !os.SameFile(now, was) {
		return nil, errors.Join(errInUse, f.Close())
	}
	e.file = f
	return e, nil
}

// put writes a signed head over the one before, which was not longer, in one write(2):
// a process that is killed leaves the one or the other.
func (e *registered) put(signed []byte) error {
	if _, err := e.file.WriteAt(signed, 0); err != nil {
		return fmt.Errorf("register a head: %w", err)
	}
	return nil
}

// close moves the entry to the ended runs, if this one has, and lets go of its lock.
func (e *registered) close(ended bool) error {
	var err error
	if ended {
		err = os.Rename(e.open, e.closed)
	}
	return errors.Join(err, e.file.Close())
}

// entries finds the registered heads of a run: those of this folder of logs, else of
// whatever folder it was written in.
func entries(state, dir, run string) []string {
	base := register(state, dir)
	for _, pattern := range []string{escapeGlob(base), escapeGlob(filepath.Join(state, headsFolder)) + "/*"} {
		var all []string
		for _, p := range []string{pattern + "/" + run, pattern + "/" + openFolder + "/" + run} {
			paths, err := filepath.Glob(p)
			if err == nil {
				all = append(all, paths...)
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// registeredRuns are the runs that have a log under dir by the installation's record.
func registeredRuns(state, dir string) (runs []string, err error) {
	if state == "" {
		return nil, nil
	}
	bases := []string{register(state, dir)}
	// A link may have been put in the place of the folder that the runs were written in.
	if abs, err := filepath.Abs(dir); err == nil && abs != realPath(dir) {
		bases = append(bases, registerAt(state, abs))
	}
	var folders []string
	for _, base := range bases {
		folders = append(folders, base, filepath.Join(base, openFolder))
	}
	for _, folder := range folders {
		more, err := runsIn(folder, false)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}
