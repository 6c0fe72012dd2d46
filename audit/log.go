package audit

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Errors of an append. Neither the record nor a part of it counts.
var (
	errHung      = errors.New("the audit log does not answer")
	errClosed    = errors.New("the audit log is closed")
	errUndurable = errors.New("the audit log cannot be synced to its disk")
)

// file is what the log needs of a segment.
type file interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// log appends records to the newest segment. One goroutine writes, so that a caller can
// leave a write that hangs.
type log struct {
	logConfig
	base  time.Time // the run's start by now
	made  time.Time // likewise, by the real clock
	queue chan *entry
	dirty chan struct{} // something is written and not synced
	ended chan struct{} // the writer has returned
	idle  chan struct{} // the one who syncs has returned

	busy      atomic.Int64 // since when a write is under way, as since returns it; 0: none is
	syncing   atomic.Int64 // since when a sync is under way, likewise
	undurable atomic.Bool  // the last sync failed
	failing   atomic.Int64 // since when appends fail, as since returns it
	lost      atomic.Int64 // records that could not be written and are in no gap record
	written   atomic.Int64 // records in the log

	closing sync.RWMutex // held for reading while sending to queue
	closed  bool

	// Only the writer uses these.
	segment int   // number of the newest
	size    int64 // of its whole lines
	torn    bool  // there may be a part of a line after size
	batch   []served

	flushing sync.Mutex // one sync at a time
	mu       sync.Mutex // of the following
	file     file       // the newest segment
	retired  []file     // earlier ones that are not synced yet
	tree     tree
	leaves   []leaves // of the lines that no file of leaves has yet
	lines    int64    // of the newest segment
}

// logConfig is what a log is made of.
type logConfig struct {
	run        string
	now        func() time.Time
	timeout    time.Duration
	durability Durability
	limit      int64                     // bytes after which a segment is followed by the next; 0: none is
	create     func(n int) (file, error) // makes segment n
}

// The life of an entry: whoever changes its state first decides what became of it.
const (
	waiting int32 = iota
	writing
	written
	abandoned
)

type entry struct {
	record *Record
	state  atomic.Int32
	done   chan error
}

func newLog(c logConfig, f file) *log {
	l := &log{
		logConfig: c, base: c.now(), made: time.Now(), segment: 1, file: f,
		queue: make(chan *entry, 128), dirty: make(chan struct{}, 1), ended: make(chan struct{}), idle: make(chan struct{}),
	}
	go l.serve()
	go l.keepDurable()
	return l
}

// append returns when r is in the file, with its stamp filled in, or when it is
// certain that the caller must not act on it.
func (l *log) append(r *Record) error {
	err := l.put(&entry{record: r, done: make(chan error, 1)})
	if err == nil || errors.Is(err, errClosed) {
		return err
	}
	l.failing.CompareAndSwap(0, l.since())
	if r.Event != Gap {
		l.lost.Add(1)
	}
	return err
}

func (l *log) put(e *entry) error {
	timer := time.NewTimer(l.timeout)
	defer timer.Stop()
	if err := l.send(e, timer.C); err != nil {
		return err
	}
	return e.wait(timer.C)
}

// wait returns what became of e, or takes it back when that lasts too long.
func (e *entry) wait(timeout <-chan time.Time) error {
	select {
	case err := <-e.done:
		return err
	case <-timeout:
	}
	if e.state.Swap(abandoned) == written {
		return <-e.done
	}
	return errHung
}

func (l *log) send(e *entry, timeout <-chan time.Time) error {
	l.closing.RLock()
	defer l.closing.RUnlock()
	if l.closed {
		return errClosed
	}
	if l.hangs(&l.busy) || l.hangs(&l.syncing) {
		return errHung
	}
	if l.undurable.Load() {
		return errUndurable
	}
	select {
	case l.queue <- e:
		return nil
	case <-timeout:
		return errHung
	}
}

// hangs reports whether what began then has been under way for too long.
func (l *log) hangs(begun *atomic.Int64) bool {
	at := begun.Load()
	return at != 0 && l.since()-at > int64(l.timeout)
}

// since is the time since the log was made, in nanoseconds by the real clock; never 0.
func (l *log) since() int64 { return int64(time.Since(l.made)) + 1 }

// unavailable is for how long appends have failed; 0 when they do not.
func (l *log) unavailable() time.Duration {
	failing := l.failing.Load()
	if failing == 0 {
		return 0
	}
	return time.Duration(l.since() - failing + 1)
}

// probe finds out whether the log works again, and says in it what was lost.
func (l *log) probe() {
	n := l.lost.Swap(0)
	if n == 0 && l.failing.Load() == 0 {
		return
	}
	if l.append(&Record{Event: Gap, Count: n}) != nil {
		l.lost.Add(n)
	}
}

// close appends the last record, if there is one, waits for those under way up to the
// timeout, puts everything on the disk and closes the file. seal, which may be nil, is
// called before that, once nothing is written any more. A second call does nothing.
func (l *log) close(last *Record, seal func(complete bool) error) error {
	l.closing.Lock()
	already := l.closed
	l.closed = true
	l.closing.Unlock()
	if already {
		return nil
	}
	timer := time.NewTimer(l.timeout)
	defer timer.Stop()
	err := l.sendLast(last, timer.C)
	close(l.queue)
	timer.Reset(l.timeout) // it may have fired, and is not to be waited for in vain
	done := make(chan error, 1)
	go func() { done <- errors.Join(err, l.finishAll(err, seal)) }()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("close audit log: %w", errors.Join(err, errHung))
	}
}

// finishAll ends what is under way. A log without its last record is sealed as it is.
func (l *log) finishAll(failed error, seal func(complete bool) error) error {
	<-l.ended
	<-l.idle
	var err error
	if seal != nil {
		err = seal(failed == nil)
	} else {
		err = l.flush()
	}
	return errors.Join(err, l.file.Close())
}

func (l *log) sendLast(r *Record, timeout <-chan time.Time) error {
	if r == nil {
		return nil
	}
	e := &entry{record: r, done: make(chan error, 1)}
	select {
	case l.queue <- e:
		return e.wait(timeout)
	case <-timeout:
		return errHung
	}
}
