package proxy

import (
	"crypto/sha256"
	"sync"

	"scupper.dev/scupper/capability"
)

// Caps of what is read out of answers.
const (
	maxIssuing  = 1 << 20 // bytes of an answer that hands out credentials
	maxIssued   = 4096    // credentials that a run remembers
	maxIssueLen = 8 << 10 // bytes of one
	maxNesting  = 32      // levels of JSON
)

// issued are the credentials that answers of this run have handed out, by their hashes.
type issued struct {
	mu    sync.RWMutex
	known map[issuedKey]struct{}
}

type issuedKey struct {
	host capability.Host // where it is good for
	in   capability.Where
	sum  [sha256.Size]byte // of name and value
}

func newIssued() *issued { return &issued{known: make(map[issuedKey]struct{})} }

func keyOf(to capability.Host, in capability.Where, name, value string) issuedKey {
	return issuedKey{to, in, sha256.Sum256([]byte(name + "\x00" + value))}
}

// Holds reports whether the run has handed the credential out for host to.
func (s *issued) Holds(to capability.Host, in capability.Where, name, value string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.known) == 0 {
		return false
	}
	_, ok := s.known[keyOf(to, in, name, value)]
	return ok
}

// add remembers a credential for a host. One that does not fit is not handed out, and
// requests with it are refused.
func (s *issued) add(to capability.Host, in capability.Where, name, value string) {
	if value == "" || len(value) > maxIssueLen {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) < maxIssued {
		s.known[keyOf(to, in, name, value)] = struct{}{}
	}
}
