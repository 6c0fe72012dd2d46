package audit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// mutations is how many ways to change a log are tried.
const mutations = 5000

// specimen is a log that is changed and restored again and again.
type specimen struct {
	t        *testing.T
	dir, run string
	trust    Trust
	other    *Key
	segments [][][]byte // lines, by segment
	files    map[string][]byte
}

func newSpecimen(t *testing.T) *specimen {
	t.Setenv("TMPDIR", "/dev/shm") // it is written ten thousand times
	dir, run, trust := signedRun(t, 30, func(c *Config) { c.SegmentSize = 3000 })
	state := t.TempDir()
	if _, err := MakeKey(state, false); err != nil {
		t.Fatal(err)
	}
	other, err := OpenKey(state)
	if err != nil {
		t.Fatal(err)
	}
	s := &specimen{t: t, dir: dir, run: run, trust: trust, other: other, files: map[string][]byte{}}
	entries, err := os.ReadDir(filepath.Join(dir, run))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, run, e.Name())
		if s.files[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(path) == ".jsonl" {
			s.segments = append(s.segments, slices.Collect(bytes.Lines(s.files[path])))
		}
	}
	if len(s.segments) < 4 {
		t.Fatalf("%d segments", len(s.segments))
	}
	return s
}

// restore puts every file back.
func (s *specimen) restore() {
	now, err := os.ReadDir(filepath.Join(s.dir, s.run))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range now {
		if path := filepath.Join(s.dir, s.run, e.Name()); s.files[path] == nil {
			if err := os.Remove(path); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	for path, content := range s.files {
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, content) {
			write(s.t, path, content)
		}
	}
}

// lines of segment i, to be changed.
func (s *specimen) lines(i int) [][]byte {
	out := make([][]byte, len(s.segments[i]))
	for k, line := range s.segments[i] {
		out[k] = bytes.Clone(line)
	}
	return out
}

// put writes segment i and returns the first line, counted from 1 over the whole log,
// that is not as it was; 0 when none is.
func (s *specimen) put(i int, content []byte) int64 {
	write(s.t, segmentFile(s.dir, s.run, i+1), content)
	before := 0
	for _, seg := range s.segments[:i] {
		before += len(seg)
	}
	now := slices.Collect(bytes.Lines(content))
	for k, line := range s.segments[i] {
		if k >= len(now) || !bytes.Equal(line, now[k]) {
			return int64(before + k + 1)
		}
	}
	if len(now) > len(s.segments[i]) {
		return int64(before + len(s.segments[i]) + 1)
	}
	return 0
}

// forge makes all files of the log fit to changed segments, with heads by another key,
// as someone does who can write everything but has not the key.
func (s *specimen) forge() {
	t := new(tree)
	for i := range s.segments {
		content, err := os.ReadFile(segmentFile(s.dir, s.run, i+1))
		if err != nil {
			s.t.Fatal(err)
		}
		var kept []byte
		for line := range bytes.Lines(content) {
			h := leaf(line)
			kept = append(kept, h[:]...)
			if err := t.add(h); err != nil {
				s.t.Fatal(err)
			}
		}
		write(s.t, leavesFile(s.dir, s.run, i+1), kept)
	}
	signed, _, err := (&sealer{key: s.other, run: s.run}).sign(t)
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, headOf(s.dir, s.run), signed)
}

// mutation changes a log and returns the first bad record. exact is false where nobody
// can tell which it is.
type mutation struct {
	name string
	do   func(s *specimen, r *rand.Rand) (first int64, exact bool)
}

func inSegment(change func(lines [][]byte, r *rand.Rand) [][]byte) func(*specimen, *rand.Rand) (int64, bool) {
	return func(s *specimen, r *rand.Rand) (int64, bool) {
		i := r.IntN(len(s.segments))
		return s.put(i, bytes.Join(change(s.lines(i), r), nil)), true
	}
}

func flip(lines [][]byte, r *rand.Rand) [][]byte {
	line := lines[r.IntN(len(lines))]
	line[r.IntN(len(line))] ^= 1 << r.IntN(8)
	return lines
}

func mutationsOfLogs() []mutation {
	return []mutation{
		{"bit flipped", inSegment(flip)},
		{"lines dropped", inSegment(func(l [][]byte, r *rand.Rand) [][]byte {
			i := r.IntN(len(l))
			return slices.Delete(l, i, i+1+r.IntN(len(l)-i))
		})},
		{"line inserted", inSegment(func(l [][]byte, r *rand.Rand) [][]byte {
			return slices.Insert(l, r.IntN(len(l)+1), bytes.Clone(l[r.IntN(len(l))]))
		})},
		{"line made up", inSegment(func(l [][]byte, r *rand.Rand) [][]byte {
			i := r.IntN(len(l))
			line := bytes.Replace(l[i], []byte(`"event":"`), []byte(`"event":"x`), 1)
			l[i] = line
			return l
		})},
		{"lines reordered", inSegment(func(l [][]byte, r *rand.Rand) [][]byte {
			i, j := r.IntN(len(l)), r.IntN(len(l))
			l[i], l[j] = l[j], l[i]
			return l
		})},
		{"line duplicated", inSegment(func(l [][]byte, r *rand.Rand) [][]byte {
			i := r.IntN(len(l))
			return slices.Insert(l, i, bytes.Clone(l[i]))
		})},
		{"tail cut", func(s *specimen, r *rand.Rand) (int64, bool) {
			last := len(s.segments) - 1
			content := bytes.Join(s.segments[last], nil)
			return s.put(last, content[:r.IntN(len(content))]), true
		}},
		{"bytes appended", func(s *specimen, r *rand.Rand) (int64, bool) {
			last := len(s.segments) - 1
			return s.put(last, append(bytes.Join(s.segments[last], nil), make([]byte, 1+r.IntN(40))...)), true
		}},
		{"record appended", func(s *specimen, _ *rand.Rand) (int64, bool) {
			last := len(s.segments) - 1
			n := int64(0)
			for _, lines := range s.segments {
				n += int64(len(lines))
			}
			line, err := (&Record{Event: Gap, Count: 1}).line(stamp{seq: n + 1, run: s.run})
			if err != nil {
				s.t.Fatal(err)
			}
			return s.put(last, append(bytes.Join(s.segments[last], nil), line...)), true
		}},
		{"segment removed", func(s *specimen, r *rand.Rand) (int64, bool) {
			i := r.IntN(len(s.segments))
			first := s.put(i, nil)
			if err := os.Remove(segmentFile(s.dir, s.run, i+1)); err != nil {
				s.t.Fatal(err)
			}
			return first, true
		}},
		{"flipped, and the leaves too", func(s *specimen, r *rand.Rand) (int64, bool) {
			i := r.IntN(len(s.segments))
			first := s.put(i, bytes.Join(flip(s.lines(i), r), nil))
			leaves := bytes.Clone(s.files[leavesFile(s.dir, s.run, i+1)])
			leaves[r.IntN(len(leaves))] ^= 1
			write(s.t, leavesFile(s.dir, s.run, i+1), leaves)
			return first, false
		}},
		{"rebuilt and signed by another", func(s *specimen, r *rand.Rand) (int64, bool) {
			i := r.IntN(len(s.segments))
			l := s.lines(i)
			k := r.IntN(len(l))
			l[k] = bytes.Replace(l[k], []byte(`"mono":`), []byte(`"mono":1`), 1)
			first := s.put(i, bytes.Join(l, nil))
			s.forge()
			return first, false
		}},
		{"signed by another", func(s *specimen, _ *rand.Rand) (int64, bool) {
			s.forge()
			return 1, false
		}},
		{"head changed", func(s *specimen, r *rand.Rand) (int64, bool) {
			head := bytes.Clone(s.files[headOf(s.dir, s.run)])
			head[r.IntN(len(head)-1)] ^= 1 << r.IntN(8)
			write(s.t, headOf(s.dir, s.run), head)
			return 1, false
		}},
		{"policy text changed", func(s *specimen, r *rand.Rand) (int64, bool) {
			path := policyFile(s.dir, s.run, digestOf([]byte(policyText)))
			text := bytes.Clone(s.files[path])
			text[r.IntN(len(text))] ^= 1 << r.IntN(8)
			write(s.t, path, text)
			return 1, true
		}},
	}
}

// TestMutations changes a log in thousands of ways. Each is found, and the first bad
// record is named, where that can be told.
func TestMutations(t *testing.T) {
	s, all := newSpecimen(t), mutationsOfLogs()
	random := rand.New(rand.NewPCG(20261130, 6))
	tried := make(map[string]int)
	for n := 0; n < mutations; {
		m := all[random.IntN(len(all))]
		first, exact := m.do(s, random)
		if first == 0 {
			continue // it is as it was
		}
		n++
		tried[m.name]++
		f := wantFault(t, s.dir, s.run, s.trust)
		if exact && (f.Seq != first || f.File == "" || f.Line == 0) {
			t.Fatalf("%s: %v, want record %d", m.name, f, first)
		}
		if !exact && f.Seq > first {
			t.Fatalf("%s: %v, want record %d at most", m.name, f, first)
		}
		s.restore()
	}
	if _, err := Verify(s.dir, s.run, s.trust); err != nil {
		t.Errorf("restored: %v", err)
	}
	for _, m := range all {
		if tried[m.name] < mutations/len(all)/2 {
			t.Errorf("%s: tried %d times", m.name, tried[m.name])
		}
	}
	t.Log(fmt.Sprint(tried))
}

// TestTree compares the tree that keeps its edge only with tlog's own over all hashes.
func TestTree(t *testing.T) {
	var all []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, x := range indexes {
			out[i] = all[x]
		}
		return out, nil
	})
	mine := new(tree)
	for n := range int64(300) {
		line := fmt.Appendf(nil, "record %d", n)
		hashes, err := tlog.StoredHashes(n, line, read)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, hashes...)
		if err := mine.add(leaf(append(line, '\n'))); err != nil {
			t.Fatal(err)
		}
		want, err := tlog.TreeHash(n+1, read)
		if err != nil {
			t.Fatal(err)
		}
		again, err := planted(mine.n, mine.peaks())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*tree{mine, again} {
			if got, err := m.root(); err != nil || got != want {
				t.Fatalf("%d records: got %v, want %v, %v", n+1, got, want, err)
			}
		}
	}
}
