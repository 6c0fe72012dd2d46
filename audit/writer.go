package audit

import (
	"fmt"
	"io"
)

// maxBatch is how many records share one sync.
const maxBatch = 128

// served is an entry that is being written, and its record as it stands in the log.
type served struct {
	*entry
	copy Record
	err  error
}

// serve writes what is queued until the queue is closed.
func (l *log) serve() {
	defer close(l.ended)
	defer close(l.dirty)
	for e := range l.queue {
		l.batch = append(l.batch[:0], served{entry: e})
		if l.durability == Fsync {
			l.gather()
		}
		l.serveBatch()
	}
}

// gather adds what waits already, so that it is synced together.
func (l *log) gather() {
	for len(l.batch) < maxBatch {
		select {
		case e, ok := <-l.queue:
			if !ok {
				return
			}
			l.batch = append(l.batch, served{entry: e})
		default:
			return
		}
	}
}

func (l *log) serveBatch() {
	wrote, now := false, l.durability == Fsync
	for i := range l.batch {
		s := &l.batch[i]
		if !s.state.CompareAndSwap(waiting, writing) {
			s.entry = nil
			continue
		}
		// Work on a copy: a caller that leaves still owns its record.
		s.copy = *s.record
		s.err = l.write(&s.copy)
		wrote = wrote || s.err == nil
		now = now || s.copy.Tool != nil && s.copy.Tool.Durable
	}
	var unsynced error
	if wrote && now {
		if unsynced = l.flush(); unsynced != nil {
			l.soil() // so that it is tried again
		}
	}
	for i := range l.batch {
		if l.batch[i].entry != nil {
			l.settle(&l.batch[i], unsynced)
		}
	}
}

// settle answers the caller, or takes back what it no longer waits for.
func (l *log) settle(s *served, unsynced error) {
	if s.err == nil && unsynced != nil {
		l.withdraw(&s.copy, nil)
		s.err = unsynced
	}
	if !s.state.CompareAndSwap(writing, written) {
		l.withdraw(&s.copy, s.err)
		return
	}
	if r := &s.copy; s.err == nil {
		s.record.Version, s.record.Seq, s.record.Time, s.record.Mono, s.record.ID = r.Version, r.Seq, r.Time, r.Mono, r.ID
		l.failing.Store(0)
	}
	s.done <- s.err
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
	if l.limit > 0 && l.size >= l.limit {
		l.rotate()
	}
	line, err := r.line(l.stamp())
	if err != nil {
		return err
	}
	if err := writeLine(l.file, line); err != nil {
		l.torn = true
		return fmt.Errorf("append to audit log: %w", joinMend(err, l.mend()))
	}
	l.size += int64(len(line))
	return l.took(line)
}

func (l *log) stamp() stamp {
	now := l.now()
	return stamp{seq: l.written.Load() + 1, time: now, mono: now.Sub(l.base), run: l.run}
}

func writeLine(f file, line []byte) error {
	n, err := f.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	return err
}

// took adds a line that is in the log to the tree.
func (l *log) took(line []byte) error {
	h := leaf(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.tree.add(h); err != nil {
		return fmt.Errorf("add to the tree of the audit log: %w", err)
	}
	l.written.Add(1)
	l.keepLeaf(h)
	l.soil()
	return nil
}

// soil wakes the one who syncs.
func (l *log) soil() {
	select {
	case l.dirty <- struct{}{}:
	default:
	}
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
