package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Recovery is what became of the log of a run whose scupper was killed.
type Recovery struct {
	Run     string
	Records int64 // that the log had
	Cut     int64 // bytes of a torn line, which were cut off
	Err     error // the log is not what it was, or cannot be read; it was left as it is
}

// refusedMark is the ending of a file beside the entry of a run whose log was left.
const refusedMark = ".left"

// Recover closes the logs under dir whose writer is dead: a torn line is cut off and
// put on record, the sequence goes on, and a last head is signed. A log that is not
// what its heads say is not written to, and not tried again.
func Recover(state, dir string, now time.Time) ([]Recovery, error) {
	open, err := runsIn(filepath.Join(register(state, dir), openFolder), false)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	key, err := OpenKey(state)
	if err != nil {
		return nil, err
	}
	keys, err := PublicKeys(state)
	if err != nil {
		return nil, err
	}
	var all []Recovery
	for _, run := range open {
		e, err := reopen(state, dir, run, false)
		if err != nil {
			continue // it goes on, or another start is at it
		}
		m := mending{dir: dir, run: run, key: key, entry: e, now: now, trust: Trust{Keys: keys, State: state}}
		if r, news := m.recover(); news {
			all = append(all, r)
		}
	}
	return all, nil
}

// mending writes to the log of a run that has ended.
type mending struct {
	dir, run string
	key      *Key
	entry    *registered
	trust    Trust
	now      time.Time
	c        *check
}

// recover closes one log; news is false if there is nothing to say about it.
func (m *mending) recover() (r Recovery, news bool) {
	r.Run = m.run
	mark := m.entry.open + refusedMark
	if _, err := os.Stat(mark); err == nil {
		return r, m.entry.close(false) != nil
	}
	if gone, err := m.nothing(); gone {
		return r, err != nil
	}
	if r.Err = m.verified(); r.Err == nil {
		r.Records, r.Cut = m.c.tree.n, int64(len(m.c.torn))
		r.Err = m.close()
	}
	var f *Fault
	if errors.As(r.Err, &f) {
		_ = os.WriteFile(mark, nil, 0o600) // without it the log is looked at, and left, once more
	}
	return r, errors.Join(r.Err, m.entry.close(r.Err == nil)) != nil || r.Records > 0
}

// nothing gives up a run of which there is no folder and which had no record.
func (m *mending) nothing() (bool, error) {
	if _, err := os.Stat(filepath.Join(m.dir, m.run)); !os.IsNotExist(err) {
		return false, nil
	}
	if info, err := m.entry.file.Stat(); err != nil || info.Size() > 0 {
		return false, nil
	}
	return true, errors.Join(os.Remove(m.entry.open), m.entry.close(false))
}

// verified reads the whole log.
func (m *mending) verified() (err error) {
	if m.c, err = newCheck(m.dir, m.run, m.trust); err != nil {
		return err
	}
	if err = m.c.read(); err != nil {
		return err
	}
	_, err = m.c.verdict()
	return err
}

func (m *mending) close() error {
	if len(m.c.segments) == 0 {
		m.c.segments, m.c.starts = []int{firstSegment}, []int64{0}
		m.c.ends = []stampOf{{Time: m.now}}
	}
	n := m.c.segments[len(m.c.segments)-1]
	if m.c.closed { // it was killed between its last record and the head over it
		return m.seal()
	}
	var records []*Record
	if len(m.c.torn) > 0 {
		records = append(records, &Record{Event: LogTorn, Log: &Segment{Before: m.c.tree.n, Cut: int64(len(m.c.torn)), Torn: digestOf(m.c.torn)}})
	}
	records = append(records, &Record{Event: LogClosed, Log: &Segment{Before: m.c.tree.n + int64(len(records))}})
	text, err := m.lines(records)
	if err != nil {
		return err
	}
	if err := writeOver(segmentFile(m.dir, m.run, n), text, int64(len(m.c.torn))); err != nil {
		return fmt.Errorf("close the log of run %s: %w", m.run, err)
	}
	return m.seal()
}

// lines are records as they stand in the log, and adds them to the tree.
func (m *mending) lines(records []*Record) (text []byte, err error) {
	for _, r := range records {
		mono := time.Duration(m.c.ends[len(m.c.ends)-1].Mono) // the clock of that run is gone
		line, err := r.line(stamp{seq: m.c.tree.n + 1, time: m.now, mono: mono, run: m.run})
		if err != nil {
			return nil, err
		}
		h := leaf(line)
		if err := m.c.tree.add(h); err != nil {
			return nil, err
		}
		m.c.leaves, text = append(m.c.leaves, h), append(text, line...)
	}
	return text, nil
}

// writeOver puts text in the place of the last bytes of a file. Whenever it is killed,
// the file ends with a torn line still, or with text.
func writeOver(path string, text []byte, torn int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	at := info.Size() - torn
	if torn > int64(len(text)) {
		if err := f.Truncate(at + int64(len(text))); err != nil {
			return err
		}
	}
	if _, err := f.WriteAt(text, at); err != nil {
		return err
	}
	return f.Sync()
}

// seal signs the log as it is now, with all its leaves.
func (m *mending) seal() error {
	s := &sealer{dir: m.dir, run: m.run, key: m.key}
	var all []leaves
	for i, n := range m.c.segments {
		end := m.c.tree.n
		if i+1 < len(m.c.starts) {
			end = m.c.starts[i+1]
		}
		l := leaves{segment: n}
		for _, h := range m.c.leaves[m.c.starts[i]-m.c.first : end-m.c.first] {
			l.hashes = append(l.hashes, h[:]...)
		}
		all = append(all, l)
	}
	signed, _, err := s.sign(m.c.tree)
	if err != nil {
		return err
	}
	if err := s.writeLeaves(all); err != nil {
		return fmt.Errorf("keep the leaves of run %s: %w", m.run, err)
	}
	if err := replaceFile(headOf(m.dir, m.run), signed, 0o600); err != nil {
		return fmt.Errorf("write the head of run %s: %w", m.run, err)
	}
	return m.entry.put(signed)
}
