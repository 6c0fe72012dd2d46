package audit

import (
	"crypto/rand"
	"strings"

	"scupper.dev/scupper/capability"
)

// Foreign is a credential that a request carried and its grant does not bind. The
// fingerprint is keyed for the run: equal ones are equal credentials, and nothing else
// can be told from it.
type Foreign struct {
	In          string `json:"in"`
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// newKey makes the key of a run's fingerprints.
func newKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return key
}

// foreign describes the credentials that r carries against the grant of d.
func (g *Guard) foreign(r *capability.Request, d capability.Decision) (out []Foreign) {
	if r.Kind != capability.KindHTTP {
		return nil
	}
	for _, f := range g.policy.Load().Foreign(r, d, g.key) {
		out = append(out, Foreign{In: string(f.In), Name: escaped(f.Name, maxName), Fingerprint: f.Fingerprint})
	}
	return out
}

// places is where r carries them: requests with a credential in different places are
// not equal.
func (g *Guard) places(r *capability.Request, d capability.Decision) string {
	var b strings.Builder
	for _, f := range g.foreign(r, d) {
		b.WriteString(f.In + " " + f.Name + "\n")
	}
	return b.String()
}
