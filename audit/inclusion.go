package audit

import (
	"golang.org/x/mod/sumdb/tlog"
)

// Inclusions proves of any number of records that they are in the log which a signed head
// speaks for (RFC 6962, section 2.1.1). It holds some hundred bytes for each of them. Its
// methods are not safe for concurrent use.
type Inclusions struct {
	Head   Head
	Signed string // the head as a signed note

	first int64 // the number, from 0, of the first record that was not dropped
	tree  tlog.HashReader
}

// Include verifies a log and builds its tree. The error is that of Verify.
func Include(dir, run string, trust Trust) (*Inclusions, *Verified, error) {
	c, err := newCheck(dir, run, trust)
	if err != nil {
		return nil, nil, err
	}
	if err := c.read(); err != nil {
		return nil, nil, err
	}
	v, err := c.verdict()
	if err != nil {
		return nil, nil, err
	}
	head := c.newestSigned()
	return &Inclusions{Head: head.Head, Signed: string(head.signed), first: c.first, tree: c.reader()}, v, nil
}

// Of is the hashes that lead from the line with that sequence number to the root, in
// base64. It is false for a line that the head does not cover, and for bytes that are not
// those of that line.
func (i *Inclusions) Of(seq int64, line []byte) (path []string, ok bool) {
	index := seq - 1
	if index < i.first || index >= i.Head.Size {
		return nil, false
	}
	proof, err := tlog.ProveRecord(i.Head.Size, index, i.tree)
	if err != nil || tlog.CheckRecord(proof, i.Head.Size, tlog.Hash(i.Head.Root), index, leaf(line)) != nil {
		return nil, false
	}
	for _, p := range proof {
		path = append(path, encode(p))
	}
	return path, true
}

// LeafHash is the hash of a line in the tree, in base64.
func LeafHash(line []byte) string { return encode(leaf(line)) }
