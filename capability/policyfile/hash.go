package policyfile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// hasher sums what decides: the text and the named files, each with its length in
// front, so that no two sets of files have the same sum. A lockfile is left out: it
// narrows what its preset grants, and changes with every install.
type hasher struct{ h hash.Hash }

func newHash(text []byte) hasher {
	s := hasher{sha256.New()}
	s.add(text)
	return s
}

func (s hasher) add(text []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(text)))
	s.h.Write(length[:])
	s.h.Write(text)
}

func (s hasher) sum() string { return hex.EncodeToString(s.h.Sum(nil)) }
