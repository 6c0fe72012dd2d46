package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Trust is what a log is held against.
type Trust struct {
	Keys   []string // public; a head counts when it is signed by one of them
	State  string   // the installation's folder, with its own record of heads; empty: there is none
	Expect []Head   // heads that were kept elsewhere
}

// Fault is the first thing that is wrong with a log.
type Fault struct {
	Run        string `json:"run"`
	File       string `json:"file,omitempty"` // the segment
	Line       int64  `json:"line,omitempty"` // in it, from 1
	Seq        int64  `json:"seq,omitempty"`  // of the first bad record; 0: it is not known
	Says       string `json:"says"`
	Unreadable bool   `json:"unreadable,omitempty"` // nothing can be said about it: foreign, newer, or not to be read
}

// Error says where and what.
func (f *Fault) Error() string {
	at := "run " + f.Run
	if f.File != "" {
		at = fmt.Sprintf("%s, line %d", Printable(f.File), f.Line)
	}
	if f.Seq > 0 {
		at += fmt.Sprintf(" (record %d)", f.Seq)
	}
	return at + ": " + f.Says
}

// Verified is what holds of a run's log.
type Verified struct {
	Run     string `json:"run"`
	Records int64  `json:"records"` // that are whole, dropped ones included
	Sealed  int64  `json:"sealed"`  // of them under the newest head
	Head    string `json:"head"`    // the newest, as ParseHead reads it
	Closed  bool   `json:"closed"`  // the run has ended and its log is complete
	Dropped int64  `json:"dropped,omitempty"`
	Torn    int64  `json:"torn,omitempty"` // bytes of a last line that has no end
	Line    int64  `json:"torn_line,omitempty"`
	File    string `json:"file,omitempty"` // the newest segment

	signed []byte
}

// Verify checks the whole log of a run: that it is what its heads say, and that the
// newest head by anyone's memory is still true of it. The error is a *Fault where the
// log is at fault.
func Verify(dir, run string, trust Trust) (*Verified, error) {
	c, err := newCheck(dir, run, trust)
	if err != nil {
		return nil, err
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	return c.verdict()
}

// VerifyAll checks all runs that have a log under dir, and that none is gone which the
// installation remembers. It yields one error for each run that is at fault.
func VerifyAll(dir string, trust Trust, yield func(*Verified, error)) error {
	runs, err := Runs(dir)
	if err != nil {
		return err
	}
	remembered, err := registeredRuns(trust.State, dir)
	if err != nil {
		return err
	}
	for _, h := range trust.Expect {
		remembered = append(remembered, h.Run())
	}
	all := slices.Concat(runs, remembered)
	slices.Sort(all)
	for _, run := range slices.Compact(all) {
		yield(Verify(dir, run, trust))
	}
	if len(all) == 0 {
		return fmt.Errorf("find a run under %s: %w", Printable(dir), ErrNotFound)
	}
	return nil
}

// checkedHead is a head that the log is held against.
type checkedHead struct {
	Head
	from   string // where it comes from
	signed []byte
}

// check is the verification of one log.
type check struct {
	dir, run string
	heads    []checkedHead // by size
	reached  int           // of them are behind
	before   *tree         // of the records that were dropped; nil: none
	tree     *tree
	sure     int64       // records that a record after them confirms
	leaves   []tlog.Hash // of the lines that are there
	first    int64       // the number of the first of them, from 0
	segments []int
	starts   []int64   // the number of the first record of each segment, from 0
	borders  []tree    // before each segment
	ends     []stampOf // the last record of each
	closed   bool      // the last record closes the log
	torn     []byte    // a last line that has no end
	policies []named   // by hash
	fault    *Fault    // of a head; what is wrong with the records comes first
}

func newCheck(dir, run string, trust Trust) (*check, error) {
	if !isRun(run) {
		return nil, fmt.Errorf("find run %s: %w", Printable(run), ErrNotFound)
	}
	keys, err := verifiers(trust.Keys)
	if err != nil {
		return nil, err
	}
	c := &check{dir: dir, run: run, tree: new(tree)}
	if err := c.gatherHeads(keys, trust); err != nil {
		return nil, err
	}
	// After the heads: a log that is being written may have more than they say.
	if c.segments, err = segmentsOf(dir, run); err != nil {
		return nil, err
	}
	if len(c.segments) == 0 && c.newest().Size == 0 {
		return c, nil
	}
	if len(c.segments) == 0 {
		return nil, &Fault{Run: run, Seq: 1, Says: fmt.Sprintf("its log is gone: %s has %d records", c.newest().from, c.newest().Size)}
	}
	return c, nil
}

// gatherHeads reads the heads of everyone who has one. One of them must be signed.
func (c *check) gatherHeads(keys note.Verifiers, trust Trust) error {
	paths := []string{headOf(c.dir, c.run)}
	names := []string{"the head beside the log"}
	if trust.State != "" {
		for _, p := range entries(trust.State, c.dir, c.run) {
			paths, names = append(paths, p), append(names, "the head that this installation remembers")
		}
	}
	for i, path := range paths {
		signed, err := readSmall(path, maxKey)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", names[i], err)
		}
		if len(signed) == 0 && i > 0 { // registered, and not yet sealed
			c.heads = append(c.heads, checkedHead{Head{Log: "/" + c.run, Root: emptyRoot()}, names[i], nil})
			continue
		}
		h, err := openHead(signed, keys)
		if err == nil && h.Run() != c.run {
			err = fmt.Errorf("it is that of run %s", h.Run())
		}
		if err != nil { // the others may tell which record is bad
			c.fault = &Fault{Run: c.run, Says: fmt.Sprintf("%s, %s, does not count: %v", names[i], Printable(path), err)}
			continue
		}
		c.heads = append(c.heads, checkedHead{h, names[i], signed})
	}
	if len(c.heads) == 0 && c.fault != nil {
		return c.fault
	}
	if len(c.heads) == 0 {
		return c.noHead()
	}
	for _, h := range trust.Expect {
		if h.Run() == c.run {
			c.heads = append(c.heads, checkedHead{h, "the expected head", nil})
		}
	}
	slices.SortStableFunc(c.heads, func(a, b checkedHead) int { return int(a.Size - b.Size) })
	return nil
}

func (c *check) noHead() error {
	if _, err := os.Stat(filepath.Join(c.dir, c.run)); errors.Is(err, fs.ErrNotExist) {
		return &Fault{Run: c.run, Says: "its log is gone"}
	}
	return &Fault{Run: c.run, Says: "there is no signed head: nobody can say what the log was; name the installation's state with XDG_STATE_HOME if it is elsewhere"}
}

func (c *check) newest() checkedHead { return c.heads[len(c.heads)-1] }

// newestSigned has a signature; gatherHeads saw to it that there is one.
func (c *check) newestSigned() checkedHead {
	for _, h := range slices.Backward(c.heads) {
		if h.signed != nil {
			return h
		}
	}
	return checkedHead{}
}

// passed holds the heads of the present size against the tree.
func (c *check) passed() error {
	for c.reached < len(c.heads) && c.heads[c.reached].Size == c.tree.n {
		h := c.heads[c.reached]
		root, err := c.tree.root()
		if err != nil {
			return err
		}
		if root != tlog.Hash(h.Root) {
			return c.blame(&Fault{Says: "it is not what it was when its head was signed, " + h.from + " says"}, c.mismatchFrom(), c.tree.n-1)
		}
		c.reached++
	}
	return nil
}

// mismatchFrom is the first record that nothing before has confirmed.
func (c *check) mismatchFrom() int64 {
	if c.reached == 0 {
		return max(c.first, c.sure)
	}
	return max(c.first, c.sure, c.heads[c.reached-1].Size)
}

// verdict says what holds, once all lines are read.
func (c *check) verdict() (*Verified, error) {
	if err := c.texts(); err != nil {
		return nil, err
	}
	if c.reached < len(c.heads) {
		h := c.newest()
		if c.heads[c.reached].Size < c.first {
			return nil, c.blame(&Fault{Says: fmt.Sprintf("records before it are gone, and no record says that they were dropped; %s has %d records", h.from, h.Size)}, c.first, c.first)
		}
		return nil, c.blame(&Fault{Says: fmt.Sprintf("the log was cut: it ends after record %d, and %s has %d", c.tree.n, h.from, h.Size)}, c.tree.n, c.tree.n)
	}
	if c.fault != nil {
		return nil, c.fault
	}
	v := &Verified{
		Run: c.run, Records: c.tree.n, Sealed: c.newest().Size, Head: c.newest().String(), Dropped: c.first,
		Closed: c.closed, Torn: int64(len(c.torn)), signed: c.newestSigned().signed,
	}
	if n := len(c.segments); n > 0 {
		v.File = segmentFile(c.dir, c.run, c.segments[n-1])
		v.Line = c.tree.n - c.starts[n-1] + 1
	}
	if v.Torn == 0 {
		v.Line = 0
	}
	return v, nil
}

// blame makes f about the first record that is not as it was signed, up to the one with
// number last, from 0; where that cannot be told, about the one with number index.
func (c *check) blame(f *Fault, index, last int64) *Fault {
	if at, ok := c.changed(); ok {
		index = min(at, last)
	}
	f.Run, f.Seq = c.run, index+1
	for i := len(c.segments) - 1; i >= 0; i-- {
		if i < len(c.starts) && c.starts[i] <= index {
			f.File, f.Line = segmentFile(c.dir, c.run, c.segments[i]), index-c.starts[i]+1
			break
		}
	}
	return f
}

// changed is the number, from 0, of the first record whose leaf is not the one that was
// kept when it was written. Kept leaves count only if a signed head says that they are
// the true ones.
func (c *check) changed() (int64, bool) {
	head := c.newestSigned()
	kept, err := c.keptLeaves(head.Size)
	if err != nil {
		return 0, false
	}
	for i, h := range kept {
		if i >= len(c.leaves) || c.leaves[i] != h {
			return c.first + int64(i), true
		}
	}
	return 0, false
}

// keptLeaves are the leaves from the first record that is there up to size.
func (c *check) keptLeaves(size int64) ([]tlog.Hash, error) {
	var kept []tlog.Hash
	paths, err := filepath.Glob(filepath.Join(escapeGlob(c.dir), c.run, numbered+".leaves"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	for _, p := range paths {
		if c.first > 0 && filepath.Base(p) < strings.TrimSuffix(filepath.Base(segmentFile(c.dir, c.run, c.segments[0])), ".jsonl") {
			continue
		}
		raw, err := readSmall(p, 1<<30)
		if err != nil {
			return nil, err
		}
		for ; len(raw) >= tlog.HashSize && c.first+int64(len(kept)) < size; raw = raw[tlog.HashSize:] {
			kept = append(kept, tlog.Hash(raw[:tlog.HashSize]))
		}
	}
	t := *c.planted()
	for _, h := range kept {
		if err := t.add(h); err != nil {
			return nil, err
		}
	}
	root, err := t.root()
	if err != nil || t.n != size || root != tlog.Hash(c.newestSigned().Root) {
		return nil, errors.Join(err, errEdge)
	}
	return kept, nil
}
