package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Prove writes a proof that a record is in the log, for someone who has the public key
// and nothing else. Its first line is the record, byte for byte. The rest is a proof of
// transparency logs (C2SP tlog-proof): the number of the record from 0, the hashes on the
// way to the root, and the signed head. The whole log is verified for it.
func Prove(dir, id string, trust Trust) ([]byte, error) {
	run, seq, err := splitID(id)
	if err != nil {
		return nil, err
	}
	c, err := newCheck(dir, run, trust)
	if err != nil {
		return nil, err
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	if _, err := c.verdict(); err != nil {
		return nil, err
	}
	return c.prove(seq)
}

func (c *check) prove(seq int64) ([]byte, error) {
	head := c.newestSigned()
	switch {
	case seq < 1 || seq > c.tree.n:
		return nil, fmt.Errorf("record %d of run %s: %w", seq, c.run, ErrNotFound)
	case seq <= c.first:
		return nil, fmt.Errorf("record %d of run %s was dropped", seq, c.run)
	case seq > head.Size:
		return nil, fmt.Errorf("record %d of run %s: no head covers it yet", seq, c.run)
	}
	proof, err := tlog.ProveRecord(head.Size, seq-1, c.reader())
	if err != nil {
		return nil, fmt.Errorf("prove record %d of run %s: %w", seq, c.run, err)
	}
	line, err := c.lineAt(seq - 1)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%sc2sp.org/tlog-proof@v1\nindex %d\n", line, seq-1)
	for _, h := range proof {
		fmt.Fprintln(&b, encode(h))
	}
	fmt.Fprintf(&b, "\n%s", head.signed)
	return b.Bytes(), nil
}

// lineAt is the line of the record with that number, from 0.
func (c *check) lineAt(index int64) ([]byte, error) {
	for i := len(c.segments) - 1; i >= 0; i-- {
		if c.starts[i] > index {
			continue
		}
		f, err := openPlain(segmentFile(c.dir, c.run, c.segments[i]))
		if err != nil {
			return nil, fmt.Errorf("open audit log: %w", err)
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 64<<10)
		for range index - c.starts[i] {
			if _, err := readLine(in); err != nil {
				return nil, fmt.Errorf("read audit log: %w", err)
			}
		}
		line, err := readLine(in)
		if err == nil && leaf(line) != c.leaves[index-c.first] {
			err = errors.New("it has changed meanwhile")
		}
		return line, err
	}
	return nil, ErrNotFound
}

// spot is a place in the tree.
type spot struct {
	level int
	index int64
}

// reader answers for every hash of the tree that follows from what is there. Of records
// that were dropped the whole subtrees are known, which is all that proofs need.
func (c *check) reader() tlog.HashReader {
	known := make(map[spot]tlog.Hash)
	before := c.planted()
	for level := range maxLevel {
		if before.n>>level&1 == 1 {
			known[spot{level, before.edge[level].index}] = before.edge[level].hash
		}
	}
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, x := range indexes {
			level, n := tlog.SplitStoredHashIndex(x)
			h, err := c.hashOf(known, level, n)
			if err != nil {
				return nil, err
			}
			out[i] = h
		}
		return out, nil
	})
}

func (c *check) hashOf(known map[spot]tlog.Hash, level int, n int64) (tlog.Hash, error) {
	key := spot{level, n}
	if h, ok := known[key]; ok {
		return h, nil
	}
	if level == 0 {
		if i := n - c.first; i >= 0 && i < int64(len(c.leaves)) {
			return c.leaves[i], nil
		}
		return tlog.Hash{}, errEdge
	}
	left, err := c.hashOf(known, level-1, 2*n)
	if err != nil {
		return tlog.Hash{}, err
	}
	right, err := c.hashOf(known, level-1, 2*n+1)
	if err != nil {
		return tlog.Hash{}, err
	}
	h := tlog.NodeHash(left, right)
	known[key] = h
	return h, nil
}
