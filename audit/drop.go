package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Dropped is what was deleted of the log of a run.
type Dropped struct {
	Run      string `json:"run"`
	Segments int    `json:"segments"`
	Records  int64  `json:"records"` // of the run that are gone now, earlier ones included
}

// Drop deletes the oldest segments of a run, those whose records are all from before
// that time. A record says so, with the hashes that the rest of the log is proved with;
// it is under a signed head before anything is deleted. Only logs that are closed and
// verify are touched.
func Drop(state, dir, run string, before, now time.Time) (Dropped, error) {
	key, err := OpenKey(state)
	if err != nil {
		return Dropped{}, err
	}
	keys, err := PublicKeys(state)
	if err != nil {
		return Dropped{}, err
	}
	e, err := reopen(state, dir, run, true)
	if err != nil {
		return Dropped{}, fmt.Errorf("drop from the log of run %s: %w", run, err)
	}
	m := mending{dir: dir, run: run, key: key, entry: e, now: now, trust: Trust{Keys: keys, State: state}}
	d, err := m.drop(before)
	return d, errors.Join(err, e.file.Close())
}

func (m *mending) drop(before time.Time) (d Dropped, err error) {
	d.Run = m.run
	if err := m.verified(); err != nil {
		return d, err
	}
	n := 0
	for n < len(m.c.segments) && m.c.ends[n].Time.Before(before) && !m.bare(n) {
		n++
	}
	if n == 0 || !m.c.closed {
		return d, nil
	}
	d.Segments, d.Records = n, m.c.tree.n
	if n < len(m.c.segments) {
		d.Records = m.c.starts[n]
	}
	if err := m.recordDrop(n); err != nil {
		return d, fmt.Errorf("record what is dropped from run %s: %w", m.run, err)
	}
	return d, m.remove(n)
}

// bare reports whether segment i is the last and says only that the others were dropped.
func (m *mending) bare(i int) bool {
	return m.c.ends[i].Event == SegmentsDropped && m.c.starts[i] == m.c.first && i == len(m.c.segments)-1
}

// recordDrop writes a segment that says what is before the segments that stay.
func (m *mending) recordDrop(n int) error {
	next := m.c.segments[len(m.c.segments)-1] + 1
	root, err := m.c.tree.root()
	if err != nil {
		return err
	}
	border, stays := *m.c.tree, next
	if n < len(m.c.segments) {
		border, stays = m.c.borders[n], m.c.segments[n]
	}
	gone := &Segment{Number: stays, Before: border.n}
	for _, p := range border.peaks() {
		gone.Peaks = append(gone.Peaks, encode(p))
	}
	start := m.c.tree.n
	text, err := m.lines([]*Record{{Event: LogOpened, Log: &Segment{Number: next, Before: start, Root: encode(root)}}, {Event: SegmentsDropped, Log: gone}})
	if err != nil {
		return err
	}
	f, err := createSegment(m.dir, m.run, next)
	if err != nil {
		return err
	}
	if err := errors.Join(writeLine(f, text), f.Sync(), f.Close()); err != nil {
		return err
	}
	m.c.segments, m.c.starts = append(m.c.segments, next), append(m.c.starts, start)
	return m.seal()
}

// remove deletes the first n segments; when none of the old ones stays, the policies too.
func (m *mending) remove(n int) (err error) {
	for _, s := range m.c.segments[:n] {
		err = errors.Join(err, os.Remove(segmentFile(m.dir, m.run, s)), ignoreMissing(os.Remove(leavesFile(m.dir, m.run, s))))
	}
	if n < len(m.c.segments)-1 {
		return err
	}
	texts, globErr := filepath.Glob(filepath.Join(escapeGlob(m.dir), m.run, "policy-*.hcl"))
	err = errors.Join(err, globErr)
	for _, t := range texts {
		err = errors.Join(err, os.Remove(t))
	}
	return err
}

func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
