package sandbox

import (
	"fmt"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/credential"
)

// Policies puts new policies into force while a run goes on. Its methods are not to be
// called concurrently.
type Policies struct {
	guard       *audit.Guard
	rejudge     func() // what the sandboxes have under way
	credentials *credential.Set
}

// NewPolicies is for a gateway whose tools run no sandbox.
func NewPolicies(guard *audit.Guard, credentials *credential.Set) *Policies {
	return &Policies{guard, func() {}, credentials}
}

// Replace judges everything from now on by policy, whose text is kept beside the log,
// and ends the streams and connections that it no longer grants. note says what of the
// text has no effect in this run, for the record. The sandbox keeps the placeholders
// that it has. An error means that the old policy stays.
func (p *Policies) Replace(policy *capability.Policy, text []byte, note string) error {
	for _, g := range policy.Grants() {
		if c := g.Credential; c.Mode == capability.Bound && !p.credentials.Has(c.Name) {
			return fmt.Errorf("grant %q binds the credential %q, which this run has not read: start a new run", g.Name, c.Name)
		}
	}
	policy, err := policy.WithPlaceholders(p.credentials.Placeholders())
	if err != nil {
		return err
	}
	if err := p.guard.Replace(policy, text, note); err != nil {
		return err
	}
	p.rejudge()
	return nil
}

// Keep records that a text was refused, and why: the old policy stays.
func (p *Policies) Keep(text []byte, why string) error { return p.guard.KeepPolicy(text, why) }
