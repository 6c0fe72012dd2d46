package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// maxLine is more than any record has, in bytes.
const maxLine = 4 << 20

// Line is a record together with the bytes that stand for it in the log. Bytes has no
// newline and is valid until the next line is read.
type Line struct {
	*Record
	Segment string // name of the file
	Number  int    // of the line in it, from 1
	Bytes   []byte
}

// Asked says in one line what a request was. The text may hold whatever the sandbox
// sent; Printable makes it safe on a terminal.
func (r *Record) Asked() string { return asked(r) }

// Outcome says in one line what happened, of the record of an outcome. The text may hold
// whatever the far side sent.
func (r *Record) Outcome() string { return outcome(&Found{Outcome: r}) }

// Written is when the log of a run was last written to.
func Written(dir, run string) (time.Time, error) {
	var last time.Time
	t := newTail(dir, run)
	for {
		name, err := t.next()
		if err != nil || name == "" {
			return last, err
		}
		info, err := os.Stat(filepath.Join(dir, run, name))
		if err != nil {
			return last, fmt.Errorf("look at audit log: %w", err)
		}
		t.name, last = name, info.ModTime()
	}
}

// Lines yields what Records yields, together with the bytes.
func Lines(dir, run string) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		t := newTail(dir, run)
		defer t.close()
		if t.drain(yield) && t.none {
			yield(nil, fmt.Errorf("find run %s: %w", Printable(run), ErrNotFound))
		}
	}
}

// Follow yields the lines of a run as they come, looking for more of them every so
// often, until the run has ended, ctx ends or there is an error.
func Follow(ctx context.Context, dir, run string, every time.Duration) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		t := newTail(dir, run)
		defer t.close()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for t.drain(yield) && !t.ended {
			if t.none {
				yield(nil, fmt.Errorf("find run %s: %w", Printable(run), ErrNotFound))
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// tail reads a run's segments one after another, as far as there are whole lines.
type tail struct {
	dir, run string
	none     bool // no segment was there
	ended    bool // the run's last record was read

	file   *os.File
	in     *bufio.Reader
	name   string
	number int
	part   []byte // of a line whose end is not written yet
}

func newTail(dir, run string) *tail { return &tail{dir: dir, run: run} }

func (t *tail) close() {
	if t.file != nil {
		t.file.Close()
	}
}

// drain yields the lines that are there; it is false when the reader has had enough or
// there was an error.
func (t *tail) drain(yield func(*Line, error) bool) bool {
	for {
		if t.file != nil && !t.rest(yield) {
			return false
		}
		next, err := t.next()
		if err == nil && next != "" {
			err = t.open(next)
		}
		if err != nil {
			yield(nil, err)
			return false
		}
		if next == "" {
			t.none = t.file == nil
			return true
		}
	}
}

// next is the name of the segment after the one that is being read, or empty.
func (t *tail) next() (string, error) {
	if !isRun(t.run) {
		return "", fmt.Errorf("find run %s: %w", Printable(t.run), ErrNotFound)
	}
	entries, err := os.ReadDir(filepath.Join(t.dir, t.run))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("list segments of run %s: %w", t.run, err)
	}
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool {
		segment, _ := filepath.Match(numbered+".jsonl", e.Name())
		return segment && e.Name() > t.name
	})
	if i < 0 {
		return "", nil
	}
	return entries[i].Name(), nil
}

func (t *tail) open(name string) error {
	f, err := openPlain(filepath.Join(t.dir, t.run, name))
	if err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	t.close()
	t.file, t.in, t.name, t.number, t.part = f, bufio.NewReaderSize(f, 64<<10), name, 0, nil
	return nil
}

// rest yields the whole lines of the segment that are there by now.
func (t *tail) rest(yield func(*Line, error) bool) bool {
	for {
		line, err := t.line()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err == nil {
			t.number++
			var rec *Record
			if rec, err = parse(line); err == nil {
				t.ended = t.ended || rec.Event == RunEnded
				if !yield(&Line{Record: rec, Segment: t.name, Number: t.number, Bytes: bytes.TrimSuffix(line, []byte("\n"))}, nil) {
					return false
				}
				continue
			}
		}
		yield(nil, fmt.Errorf("read audit log %s, line %d: %w", Printable(filepath.Join(t.dir, t.run, t.name)), t.number, err))
		return false
	}
}

// line is the next whole line. A part of one is kept until the rest is there.
func (t *tail) line() ([]byte, error) {
	line, err := t.in.ReadSlice('\n')
	if err == nil && t.part == nil {
		return line, nil
	}
	if len(t.part) > maxLine {
		return nil, errors.New("the line is longer than any record")
	}
	t.part = append(t.part, line...)
	if errors.Is(err, bufio.ErrBufferFull) {
		return t.line()
	}
	if err != nil {
		return nil, err
	}
	line, t.part = t.part, nil
	return line, nil
}
