package audit

import (
	"bytes"
	"testing"
	"time"
)

// TestInclusions proves every record of a log, before and after its beginning was
// dropped, and no other bytes.
func TestInclusions(t *testing.T) {
	dir, run, trust := signedRun(t, 30, func(c *Config) { c.SegmentSize = 2000 })
	proved := func() (n int) {
		t.Helper()
		i, v, err := Include(dir, run, trust)
		if err != nil {
			t.Fatal(err)
		}
		if v.Head != i.Head.String() {
			t.Errorf("the head is %s, verified is %s", i.Head, v.Head)
		}
		for l, err := range Lines(dir, run) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := i.Of(l.Seq, l.Bytes); ok {
				n++
			} else {
				t.Errorf("record %d is not proved", l.Seq)
			}
			if _, ok := i.Of(l.Seq, append(bytes.Clone(l.Bytes), ' ')); ok {
				t.Errorf("record %d is proved with other bytes", l.Seq)
			}
			if _, ok := i.Of(l.Seq+1, l.Bytes); ok {
				t.Errorf("record %d is proved in the place of the next", l.Seq)
			}
		}
		return n
	}
	whole := proved()
	c, err := newCheck(dir, run, trust)
	if err != nil || c.read() != nil {
		t.Fatal(err)
	}
	if d, err := Drop(trust.State, dir, run, c.ends[2].Time, time.Now()); err != nil || d.Segments != 2 {
		t.Fatal(d, err)
	}
	if rest := proved(); rest == 0 || rest >= whole {
		t.Errorf("%d records are proved after the drop, %d before", rest, whole)
	}
}
