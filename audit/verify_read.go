package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// read takes all lines into the tree, as far as they can be what was written.
func (c *check) read() error {
	if len(c.segments) == 0 {
		return c.passed()
	}
	if err := c.begin(); err != nil {
		return err
	}
	if err := c.passed(); err != nil {
		return err
	}
	for i, n := range c.segments {
		c.starts, c.borders, c.ends = append(c.starts, c.tree.n), append(c.borders, *c.tree), append(c.ends, stampOf{})
		if want := c.segments[0] + i; n != want {
			return c.blame(&Fault{Says: fmt.Sprintf("segment %06d is missing, and no record says that it was dropped", want)}, c.tree.n, c.tree.n)
		}
		if err := c.segment(n, i == len(c.segments)-1); err != nil {
			return err
		}
	}
	return nil
}

// planted is the tree before the first line that is there.
func (c *check) planted() *tree {
	if c.before == nil {
		return new(tree)
	}
	t := *c.before
	return &t
}

func (c *check) segment(n int, last bool) error {
	path := segmentFile(c.dir, c.run, n)
	f, err := openPlain(path)
	if err != nil {
		return &Fault{Run: c.run, File: path, Line: 1, Says: fmt.Sprintf("it cannot be read: %v", err), Unreadable: true}
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case errors.Is(err, io.EOF) && last:
			return c.tail(line)
		case errors.Is(err, io.EOF):
			return c.blame(&Fault{Says: "it has no end"}, c.tree.n, c.tree.n)
		case errors.Is(err, errLongLine):
			return c.blame(&Fault{Says: err.Error()}, c.tree.n, c.tree.n)
		case err != nil:
			return &Fault{Run: c.run, File: path, Line: c.tree.n - c.starts[len(c.starts)-1] + 1, Says: fmt.Sprintf("it cannot be read: %v", err), Unreadable: true}
		}
		if err := c.line(line); err != nil {
			return err
		}
	}
}

var errLongLine = fmt.Errorf("it is longer than any record, %d bytes", maxLine)

// readLine reads one line, its newline included; at the end of the file what is left,
// and io.EOF.
func readLine(in *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		if long == nil && err == nil {
			return part, nil
		}
		long = append(long, part...)
		if len(long) > maxLine {
			return long, errLongLine
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return long, err
		}
	}
}

// tail is a last line without a newline: the mark of a writer that was killed, if the
// log was not closed before.
func (c *check) tail(line []byte) error {
	if c.closed || c.tree.n < c.newest().Size {
		return c.blame(&Fault{Says: fmt.Sprintf("the last line has no end, %d bytes of it are there", len(line))}, c.tree.n, c.tree.n)
	}
	c.torn = bytes.Clone(line)
	return nil
}

// stampOf is what of a record has to fit its place.
type stampOf struct {
	Version int       `json:"v"`
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Mono    int64     `json:"mono"`
	Event   Event     `json:"event"`
	Log     *Segment  `json:"log"`
	Run     *Start    `json:"run"`
	Change  *Change   `json:"change"`
}

func (c *check) line(line []byte) error {
	h := leaf(line)
	c.leaves = append(c.leaves, h)
	if c.closed && c.tree.n >= c.newest().Size { // after the end there is nothing that no head covers
		return c.blame(&Fault{Says: "the log was closed before it"}, c.tree.n, c.tree.n)
	}
	var s stampOf
	err := json.Unmarshal(line, &s)
	switch {
	case err != nil:
		return c.blame(&Fault{Says: fmt.Sprintf("it is no record: %v", err)}, c.tree.n, c.tree.n)
	case s.Version != Version:
		f := &Fault{Says: fmt.Sprintf("it has version %d, this scupper reads version %d: verify it with a newer scupper", s.Version, Version), Unreadable: s.Version > Version}
		if at, changed := c.changed(); changed && at <= c.tree.n {
			f.Unreadable = false
		}
		return c.blame(f, c.tree.n, c.tree.n)
	case s.Seq != c.tree.n+1:
		return c.blame(&Fault{Says: fmt.Sprintf("it has sequence number %d where %d belongs", s.Seq, c.tree.n+1)}, c.tree.n, c.tree.n)
	}
	if err := c.fits(s); err != nil {
		return err
	}
	c.closed = closes(s.Event, c.closed)
	c.ends[len(c.ends)-1] = stampOf{Seq: s.Seq, Time: s.Time, Mono: s.Mono, Event: s.Event}
	if err := c.tree.add(h); err != nil {
		return err
	}
	return c.passed()
}

// closes reports whether the log is closed after a record of that event.
func closes(e Event, before bool) bool {
	switch e {
	case RunEnded, LogClosed:
		return true
	case LogOpened, SegmentsDropped:
		return before
	}
	return false
}

// fits holds what a record says of the log before it against the log.
func (c *check) fits(s stampOf) error {
	if s.Event == SegmentsDropped && c.tree.n >= c.newestSigned().Size {
		return c.blame(&Fault{Says: "it says that records were dropped, and no head covers it"}, c.tree.n, c.tree.n)
	}
	c.note(s)
	if s.Log == nil || s.Log.Root == "" {
		return nil
	}
	root, err := c.tree.root()
	if err != nil {
		return err
	}
	if want, err := tlog.ParseHash(s.Log.Root); err != nil || s.Log.Before != c.tree.n || want != root {
		return c.blame(&Fault{Says: "they are not the records that record " + strconv.FormatInt(s.Seq, 10) + " was written after"}, c.mismatchFrom(), c.tree.n)
	}
	c.sure = c.tree.n
	return nil
}

// begin plants the tree of the records that were dropped, which a later record has.
func (c *check) begin() error {
	if c.segments[0] == firstSegment {
		return nil
	}
	for _, n := range c.segments {
		found, err := c.dropRecord(n)
		if err != nil {
			return err
		}
		if found != nil {
			c.before, c.first = found, found.n
			t := *found
			c.tree = &t
			return c.skipHeads()
		}
	}
	return c.blame(&Fault{File: segmentFile(c.dir, c.run, firstSegment), Line: 1, Says: fmt.Sprintf("the segments before %06d are missing, and no record says that they were dropped", c.segments[0])}, 0, 0)
}

// skipHeads leaves out heads of records that were dropped: what they say is not to be
// seen any more, except at the border.
func (c *check) skipHeads() error {
	for c.reached < len(c.heads)-1 && c.heads[c.reached].Size < c.first {
		c.reached++
	}
	return nil
}

// dropRecord looks in segment n for the record that says what was before the first
// segment that is there.
func (c *check) dropRecord(n int) (*tree, error) {
	text, err := openPlain(segmentFile(c.dir, c.run, n))
	if err != nil {
		return nil, &Fault{Run: c.run, File: segmentFile(c.dir, c.run, n), Line: 1, Says: fmt.Sprintf("it cannot be read: %v", err), Unreadable: true}
	}
	defer text.Close()
	in := bufio.NewReaderSize(text, 64<<10)
	var found *tree
	for {
		line, err := readLine(in)
		if err != nil {
			return found, nil // what is wrong with it is found when it is read in order
		}
		if !bytes.Contains(line, []byte(SegmentsDropped)) {
			continue
		}
		var s stampOf
		if json.Unmarshal(line, &s) != nil || s.Event != SegmentsDropped || s.Log == nil || s.Log.Number != c.segments[0] {
			continue
		}
		var peaks []tlog.Hash
		for _, p := range s.Log.Peaks {
			if h, err := tlog.ParseHash(p); err == nil {
				peaks = append(peaks, h)
			}
		}
		if t, err := planted(s.Log.Before, peaks); err == nil {
			found = t
		}
	}
}

// named is the text of a policy that a record names by its hash.
type named struct {
	hash  string
	index int64 // of the record, from 0
}

// note remembers the policy that a record names.
func (c *check) note(s stampOf) {
	switch {
	case s.Event == RunStarted && s.Run != nil:
		c.policies = append(c.policies, named{s.Run.PolicyHash, c.tree.n})
	case s.Event == PolicyChanged && s.Change != nil && s.Change.Refused == "":
		c.policies = append(c.policies, named{s.Change.To, c.tree.n})
	}
}

// texts holds the kept texts of policies against their hashes.
func (c *check) texts() error {
	for _, p := range c.policies {
		text, err := readPlain(policyFile(c.dir, c.run, p.hash))
		if err != nil || digestOf(text) != p.hash {
			return c.blame(&Fault{Says: "the text of the policy that it names is not the one beside the log"}, p.index, p.index)
		}
	}
	return nil
}
