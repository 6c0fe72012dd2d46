package audit

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// errDropped is about a log whose first records are gone, as is on record.
var errDropped = errors.New("its first records were dropped, so that the tree over the others cannot be built anew")

// Inclusions proves of records that they are in the log which a signed head speaks for
// (RFC 6962, section 2.1.1). It holds 64 bytes for each of them.
type Inclusions struct {
	Head   Head
	Signed string // the head as a signed note
	hashes []tlog.Hash
}

// Include builds the tree of a log that was verified, from the lines as they are now; an
// error means that they are not what they were then.
func Include(dir string, v *Verified) (*Inclusions, error) {
	lines := strings.SplitN(string(v.signed), "\n", 4)
	if len(lines) < 4 {
		return nil, errNoHead
	}
	head, err := parseHead(lines[0], lines[1], lines[2])
	if err != nil {
		return nil, err
	}
	if v.Dropped > 0 {
		return nil, errDropped
	}
	i := &Inclusions{Head: head, Signed: string(v.signed)}
	n := int64(0)
	for l, err := range Lines(dir, v.Run) {
		if err != nil {
			return nil, err
		}
		if n == head.Size {
			break
		}
		hashes, err := tlog.StoredHashesForRecordHash(n, leaf(l.Bytes), i)
		if err != nil {
			return nil, fmt.Errorf("build the tree of run %s: %w", v.Run, err)
		}
		i.hashes = append(i.hashes, hashes...)
		n++
	}
	root, err := tlog.TreeHash(n, i)
	if err != nil || n != head.Size || root != tlog.Hash(head.Root) {
		return nil, errors.Join(fmt.Errorf("the log of run %s is not what it was when it was verified", v.Run), err)
	}
	return i, nil
}

// ReadHashes is how tlog reads the tree.
func (i *Inclusions) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for n, x := range indexes {
		if x < 0 || x >= int64(len(i.hashes)) {
			return nil, errEdge
		}
		out[n] = i.hashes[x]
	}
	return out, nil
}

// Of is the hash of the line with that sequence number, and the hashes that lead from it
// to the root, both in base64. It is false for a line that the head does not cover, and
// for bytes that are not those of that line.
func (i *Inclusions) Of(seq int64, line []byte) (hash string, path []string, ok bool) {
	h := leaf(line)
	index := seq - 1
	if index < 0 || index >= i.Head.Size {
		return encode(h), nil, false
	}
	proof, err := tlog.ProveRecord(i.Head.Size, index, i)
	if err != nil || tlog.CheckRecord(proof, i.Head.Size, tlog.Hash(i.Head.Root), index, h) != nil {
		return encode(h), nil, false
	}
	for _, p := range proof {
		path = append(path, encode(p))
	}
	return encode(h), path, true
}

// LeafHash is the hash of a line in the tree, in base64.
func LeafHash(line []byte) string { return encode(leaf(line)) }
