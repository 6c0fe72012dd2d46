package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
)

// ErrNotFound is wrapped by the error about a run or a decision that no log here has.
var ErrNotFound = errors.New("not in these logs")

// Runs lists the runs that have a log under dir, the oldest first.
func Runs(dir string) ([]string, error) { return runsIn(dir, true) }

// runsIn lists what has the name of a run in dir, folders or files.
func runsIn(dir string, folders bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var runs []string
	for _, e := range entries {
		if e.IsDir() == folders && isRun(e.Name()) {
			runs = append(runs, e.Name())
		}
	}
	slices.Sort(runs)
	return runs, nil
}

// Latest is the newest run that has a log under dir.
func Latest(dir string) (run string, err error) {
	runs, err := Runs(dir)
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return "", fmt.Errorf("find a run under %s: %w", Printable(dir), ErrNotFound)
	}
	return runs[len(runs)-1], nil
}

// Records yields the records of a run in their order. A last line without a newline
// is the mark of a crash and is left out; any other line that is no record of a
// version known here yields an error that names it, and ends the sequence.
func Records(dir, run string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for l, err := range Lines(dir, run) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(l.Record, nil) {
				return
			}
		}
	}
}

// escapeGlob is dir as a pattern that matches it alone.
func escapeGlob(dir string) string {
	var b bytes.Buffer
	for i := 0; i < len(dir); i++ {
		if bytes.IndexByte([]byte(`*?[\`), dir[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(dir[i])
	}
	return b.String()
}

func parse(line []byte) (*Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("parse record: %w", err)
	}
	if r.Version != Version {
		return nil, fmt.Errorf("the record has version %d, this scupper reads version %d", r.Version, Version)
	}
	return &r, nil
}

// Found is a decision with what else the log says of it.
type Found struct {
	Start    *Start // the run's first record
	Decision *Record
	Line     Line    // of the decision
	Outcome  *Record // nil when there is none
	Times    int64   // how often its like was asked
	Revoked  bool    // it was written too late, and the request was denied
}

// Find finds a decision by its ID. The ID of a run, or "last" for the newest run that
// has a refusal, stands for its last refusal.
func Find(dir, id string) (*Found, error) {
	if id == "last" {
		return findLast(dir)
	}
	run, seq, err := splitID(id)
	if err != nil {
		return nil, err
	}
	return find(dir, run, func(r *Record) bool {
		return r.Event == Decided && (r.ID == id || seq == 0 && r.Verdict == "deny")
	})
}

func findLast(dir string) (*Found, error) {
	runs, err := Runs(dir)
	if err != nil {
		return nil, err
	}
	for _, run := range slices.Backward(runs) {
		f, err := Find(dir, run)
		if !errors.Is(err, ErrNotFound) {
			return f, err
		}
	}
	return nil, fmt.Errorf("find a refusal under %s: %w", Printable(dir), ErrNotFound)
}

// find is the last decision that is wanted.
func find(dir, run string, wanted func(*Record) bool) (*Found, error) {
	f := new(Found)
	for l, err := range Lines(dir, run) {
		if err != nil {
			return nil, err
		}
		r := l.Record
		switch {
		case r.Event == RunStarted:
			f.Start = r.Run
		case wanted(r):
			f = &Found{Start: f.Start, Decision: r, Line: *l, Times: max(1, r.Count)}
			f.Line.Bytes = slices.Clone(l.Bytes)
		case f.Decision != nil && r.Decision == f.Decision.ID:
			f.follow(r)
		}
	}
	if f.Decision == nil {
		return nil, fmt.Errorf("find a decision in run %s: %w", run, ErrNotFound)
	}
	return f, nil
}

func (f *Found) follow(r *Record) {
	switch r.Event {
	case Repeated:
		f.Times += r.Count
	case Ended:
		f.Outcome = r
	case Withdrawn:
		f.Revoked = true
	}
}

// Refusals lists the denials of a run, the first of equal ones each.
func Refusals(dir, run string) ([]*Record, error) {
	var out []*Record
	for r, err := range Records(dir, run) {
		if err != nil {
			return nil, err
		}
		if r.Event == Decided && r.Verdict == "deny" {
			out = append(out, r)
		}
	}
	return out, nil
}
