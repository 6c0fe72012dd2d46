package audit

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/mod/sumdb/tlog"
)

// segmentSize is after how many bytes a segment is followed by the next one.
const segmentSize = 16 << 20

// firstSegment of a run that is not dropped yet.
const firstSegment = 1

// segmentFile is the file of segment n, counted from 1.
func segmentFile(dir, run string, n int) string {
	return filepath.Join(dir, run, fmt.Sprintf("%06d.jsonl", n))
}

// leavesFile has the hashes of the lines of segment n one after the other. It proves
// nothing, but with it the first changed line is found, whatever was changed after it.
func leavesFile(dir, run string, n int) string {
	return filepath.Join(dir, run, fmt.Sprintf("%06d.leaves", n))
}

// numbered is the pattern of the name of a file that belongs to a segment.
const numbered = "[0-9][0-9][0-9][0-9][0-9][0-9]"

// openPlain opens a regular file for reading. Something else in its place, such as a
// pipe, would hold a reader up for good.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", Printable(path))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readPlain reads a regular file whole.
func readPlain(path string) ([]byte, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	return text, errors.Join(err, f.Close())
}

// segmentsOf are the numbers of the segments of a run that are there, in order.
func segmentsOf(dir, run string) ([]int, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), run, numbered+".jsonl"))
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	var out []int
	for _, p := range paths {
		if n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(p), ".jsonl")); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// createSegment makes a segment. It fails when the first of a run is there already; a
// later one may be left from a try that did not succeed.
func createSegment(dir, run string, n int) (file, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if n == firstSegment {
		flags |= os.O_EXCL
	} else {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(segmentFile(dir, run, n), flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create audit log: %w", err)
	}
	return f, nil
}

// rotate begins the next segment with a record of what came before. Where that cannot
// be done, the log goes on in the old one.
func (l *log) rotate() {
	f, err := l.create(l.segment + 1)
	if err == nil {
		err = l.begin(f)
	}
	if err != nil {
		l.limit += segmentSize / 4
	}
}

func (l *log) begin(f file) error {
	l.mu.Lock()
	root, err := l.tree.root()
	l.mu.Unlock()
	if err != nil {
		return err
	}
	r := &Record{Event: LogOpened, Log: &Segment{Number: l.segment + 1, Before: l.written.Load(), Root: encode(root)}}
	line, err := r.line(l.stamp())
	if err != nil {
		return err
	}
	if err := writeLine(f, line); err != nil {
		_ = f.Truncate(0) // whatever is left of it is emptied before the next try
		_ = f.Close()
		return err
	}
	l.mu.Lock()
	l.retired, l.file, l.lines = append(l.retired, l.file), f, 0
	l.mu.Unlock()
	l.segment, l.size = l.segment+1, int64(len(line))
	return l.took(line)
}

// leaves are those of neighbouring lines of one segment.
type leaves struct {
	segment int
	first   int64 // the number of the first line in its segment, from 0
	hashes  []byte
}

// keepLeaf notes the leaf of a new line; the caller holds mu.
func (l *log) keepLeaf(h tlog.Hash) {
	last := len(l.leaves) - 1
	if last < 0 || l.leaves[last].segment != l.segment {
		l.leaves = append(l.leaves, leaves{segment: l.segment, first: l.lines})
		last++
	}
	l.leaves[last].hashes = append(l.leaves[last].hashes, h[:]...)
	l.lines++
}

func encode(h tlog.Hash) string { return base64.StdEncoding.EncodeToString(h[:]) }
