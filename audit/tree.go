package audit

import (
	"crypto/sha256"
	"errors"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// maxLevel is above the height of any tree of records.
const maxLevel = 48

var errEdge = errors.New("a hash that is not on the edge of the tree")

// tree is the Merkle tree over the lines of a run (RFC 6962, section 2.1). It keeps its
// right edge only: the root, and every later root, follow from it.
type tree struct {
	n    int64
	edge [maxLevel]node // of each level the newest whole subtree
}

type node struct {
	index int64
	hash  tlog.Hash
}

// leaf is the hash of a line; its newline does not count.
func leaf(line []byte) tlog.Hash {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	return tlog.RecordHash(line)
}

// add puts one leaf at the end.
func (t *tree) add(h tlog.Hash) error {
	hashes, err := tlog.StoredHashesForRecordHash(t.n, h, t)
	if err != nil {
		return err
	}
	for level, h := range hashes {
		t.edge[level] = node{index: t.n >> level, hash: h}
	}
	t.n++
	return nil
}

func (t *tree) root() (tlog.Hash, error) { return tlog.TreeHash(t.n, t) }

// ReadHashes is how tlog reads the edge.
func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		level, n := tlog.SplitStoredHashIndex(x)
		if level >= maxLevel || t.edge[level].index != n {
			return nil, errEdge
		}
		out[i] = t.edge[level].hash
	}
	return out, nil
}

// peaks are the whole subtrees that the tree consists of, the largest first.
func (t *tree) peaks() []tlog.Hash {
	var out []tlog.Hash
	for level := maxLevel - 1; level >= 0; level-- {
		if t.n>>level&1 == 1 {
			out = append(out, t.edge[level].hash)
		}
	}
	return out
}

// emptyRoot is the root of a tree without leaves.
func emptyRoot() tlog.Hash { return tlog.Hash(sha256.Sum256(nil)) }

// planted is a tree of n leaves of which only the whole subtrees are known.
func planted(n int64, peaks []tlog.Hash) (*tree, error) {
	if n < 0 || n >= 1<<(maxLevel-1) || bits.OnesCount64(uint64(n)) != len(peaks) {
		return nil, errEdge
	}
	t := &tree{n: n}
	for level := maxLevel - 1; level >= 0; level-- {
		if n>>level&1 == 1 {
			t.edge[level] = node{index: n>>level - 1, hash: peaks[0]}
			peaks = peaks[1:]
		}
	}
	return t, nil
}
