package audit

import (
	"crypto/rand"
	"strings"

	"scupper.dev/scupper/capability"
)

// Foreign is a credential that a request carried and its grant does not bind. The
// fingerprint is keyed for the installation: equal ones are equal credentials, and nothing else
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

// foreign describes the credentials that the request carries against its grant.
func (g *Guard) foreign(j judged) (out []Foreign) {
	if j.r.Kind != capability.KindHTTP {
		return nil
	}
	for _, f := range j.policy.Foreign(j.r, j.d, g.key) {
		out = append(out, Foreign{In: string(f.In), Name: escaped(f.Name, maxName), Fingerprint: f.Fingerprint})
	}
	return out
}

// places is where the request carries them: requests with a credential in different places are
// not equal.
func (g *Guard) places(j judged) string {
	var b strings.Builder
	for _, f := range g.foreign(j) {
		b.WriteString(f.In + " " + f.Name + "\n")
	}
	return b.String()
}

// used records that a credential went out, once for each secret that it had in the run.
func (g *Guard) used(d capability.Decision, o capability.Outcome) {
	c := d.Grant.Credential
	if c.Mode != capability.Bound || g.config.Fingerprint == nil || !o.Upstream.IsValid() {
		return
	}
	rec := &Record{Event: CredentialUsed, Decision: d.ID, Bound: c.Name, Print: g.config.Fingerprint(c.Name)}
	if _, known := g.spoken.LoadOrStore(c.Name+" "+rec.Print, true); !known && g.log.append(rec) != nil {
		g.spoken.Delete(c.Name + " " + rec.Print)
	}
}
