package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"scupper.dev/scupper/capability"
)

// inForce is a policy and the hash of its text.
type inForce struct {
	*capability.Policy
	hash string
}

// judged is a request, what was decided about it, and by which policy: a request meets
// one policy, whatever comes into force meanwhile.
type judged struct {
	asker
	r     *capability.Request
	d     capability.Decision
	limit string // of the grant, that is used up
}

const hexDigits = "0123456789abcdef"

// short is enough of a hash to tell the policies of one run apart.
func short(hash string) string { return hash[:min(len(hash), 12)] }

func digestOf(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

func policyFile(dir, run, hash string) string {
	return filepath.Join(dir, run, "policy-"+hash+".hcl")
}

func keepPolicy(dir, run, digest string, text []byte) error {
	if err := os.WriteFile(policyFile(dir, run, digest), text, 0o600); err != nil {
		return fmt.Errorf("keep policy text: %w", err)
	}
	return nil
}

// Policy is the policy in force now.
func (g *Guard) Policy() *capability.Policy { return g.policy.Load().Policy }

// Replace puts a new policy into force for all requests from now on. Its text is kept
// and the change is on record before the first of them; an error means that the old
// policy stays. What each grant has used of its limits goes on to count for the grant
// of the same name. note says what of the new text has no effect, if anything. Calls
// are not concurrent.
func (g *Guard) Replace(p *capability.Policy, text []byte, note string) error {
	next := &inForce{Policy: p, hash: digestOf(text)}
	if err := keepPolicy(g.config.Dir, g.run, next.hash, text); err != nil {
		return err
	}
	g.several.Store(true)
	change := &Change{From: g.policy.Load().hash, To: next.hash, Note: capped(note, maxSentence)}
	if err := g.log.append(&Record{Event: PolicyChanged, Change: change}); err != nil {
		return fmt.Errorf("record the new policy: %w", err)
	}
	g.policy.Store(next)
	return nil
}

// KeepPolicy records that a new text was refused, and why.
func (g *Guard) KeepPolicy(text []byte, why string) error {
	change := &Change{From: g.policy.Load().hash, To: digestOf(text), Refused: capped(why, maxSentence)}
	return g.log.append(&Record{Event: PolicyChanged, Change: change})
}

// judgedBy is the hash of the policy that r was judged by. Once there were several, r
// has the first digits of it, and the text kept has all.
func judgedBy(dir string, r *Record, s *Start) string {
	if r.Policy == "" || strings.Trim(r.Policy, hexDigits) != "" {
		return s.PolicyHash
	}
	entries, err := os.ReadDir(filepath.Join(dir, r.ID[:runLength]))
	if err != nil {
		return r.Policy
	}
	for _, e := range entries {
		hash := strings.TrimSuffix(strings.TrimPrefix(e.Name(), "policy-"), ".hcl")
		if strings.HasPrefix(hash, r.Policy) {
			return hash
		}
	}
	return r.Policy
}
