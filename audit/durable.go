package audit

import (
	"errors"
	"fmt"
	"time"
)

// Durability is when a record is on the disk. In the log, where every process sees it
// and where it survives the end of this one, it is before its effect in any case.
type Durability string

// The two of them.
const (
	Commit Durability = "commit" // within syncEvery of its effect: a power cut can lose as much
	Fsync  Durability = "fsync"  // before its effect
)

const (
	syncEvery = 20 * time.Millisecond  // between syncs
	syncAgain = 100 * time.Millisecond // after one that failed
)

// keepDurable syncs what was written, until the writer has ended. Under Fsync the
// writer does so itself; then there is something to do after a failure only.
func (l *log) keepDurable() {
	defer close(l.idle)
	for range l.dirty {
		if l.durability == Fsync && !l.undurable.Load() {
			continue
		}
		if l.pause(syncEvery) {
			return // whoever closes syncs
		}
		for l.flush() != nil {
			if l.pause(syncAgain) {
				return
			}
		}
	}
}

// pause waits, and reports whether the writer has ended meanwhile.
func (l *log) pause(d time.Duration) (ended bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-l.ended:
		return true
	case <-timer.C:
		return false
	}
}

// flush puts everything written so far on the disk. While that fails, nothing is
// appended.
func (l *log) flush() error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.syncing.Store(l.since())
	defer l.syncing.Store(0)
	l.mu.Lock()
	f, old := l.file, l.retired
	l.retired = nil
	l.mu.Unlock()
	err := l.finish(old)
	if err = errors.Join(err, f.Sync()); err != nil {
		l.failing.CompareAndSwap(0, l.since())
		err = fmt.Errorf("sync audit log: %w", err)
	}
	l.undurable.Store(err != nil)
	return err
}

// finish syncs and closes earlier segments; those that cannot be synced stay.
func (l *log) finish(old []file) (err error) {
	var left []file
	for _, f := range old {
		if e := f.Sync(); e != nil {
			left, err = append(left, f), errors.Join(err, e)
			continue
		}
		err = errors.Join(err, f.Close())
	}
	if len(left) > 0 {
		l.mu.Lock()
		l.retired = append(left, l.retired...)
		l.mu.Unlock()
	}
	return err
}
