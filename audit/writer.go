package audit

import (
	"fmt"
	"io"
)

// serve writes what is queued until the queue is closed.
func (l *log) serve() {
	defer close(l.ended)
	for e := range l.queue {
		l.serveEntry(e)
	}
}

func (l *log) serveEntry(e *entry) {
	if !e.state.CompareAndSwap(waiting, writing) {
		return
	}
	// Work on a copy: a caller that leaves still owns its record.
	r := *e.record
	err := l.write(&r)
	if !e.state.CompareAndSwap(writing, written) {
		l.withdraw(&r, err)
		return
	}
	if err == nil {
		e.record.Version, e.record.Seq, e.record.Time, e.record.Mono, e.record.ID = r.Version, r.Seq, r.Time, r.Mono, r.ID
	}
	e.done <- err
}

// withdraw takes back a decision that was written after its caller had left and
// answered deny.
func (l *log) withdraw(r *Record, err error) {
	if err != nil {
		return
	}
	if r.Event == Decided && l.write(&Record{Event: Withdrawn, Decision: r.ID}) != nil {
		return
	}
	l.lost.Add(-1)
}

// write appends one line in one write(2). After a failure the file ends with the last
// whole line again before anything else is written.
func (l *log) write(r *Record) error {
	l.busy.Store(l.since())
	defer l.busy.Store(0)
	if err := l.mend(); err != nil {
		return err
	}
	now := l.now()
	line, err := r.line(stamp{seq: l.written.Load() + 1, time: now, mono: now.Sub(l.base), run: l.run})
	if err != nil {
		return err
	}
	n, err := l.file.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err == nil && r.Tool != nil && r.Tool.Durable {
		err = l.file.Sync()
	}
	if err != nil {
		l.torn = true
		return fmt.Errorf("append to audit log: %w", joinMend(err, l.mend()))
	}
	l.size += int64(n)
	l.written.Add(1)
	l.failing.Store(0)
	return nil
}

// mend cuts off a part of a line that a failed write left.
func (l *log) mend() error {
	if !l.torn {
		return nil
	}
	if err := l.file.Truncate(l.size); err != nil {
		return fmt.Errorf("cut torn line from audit log: %w", err)
	}
	l.torn = false
	return nil
}

func joinMend(err, mend error) error {
	if mend == nil {
		return err
	}
	return fmt.Errorf("%w; %w", err, mend)
}
