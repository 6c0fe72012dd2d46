package difference

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// side is one of the two policies, or a role of it.
type side struct {
	file   *policyfile.File
	grants []*capability.Grant
	proof  *capability.Policy // what examples are decided by
	boxes  []box
	index  index

	shared map[capability.Host][]*capability.Grant // grants by exact host
	secret map[string]string                       // what a credential is, by its name
}

func (c *comparison) side(file *policyfile.File, role string) (*side, error) {
	policy, err := file.Policy.ForRole(role)
	if err != nil {
		return nil, err
	}
	s := &side{file: file, grants: policy.Grants(), shared: make(map[capability.Host][]*capability.Grant), secret: make(map[string]string)}
	for _, cr := range file.Credentials {
		s.secret[cr.Name] = identity(file, cr)
	}
	for _, g := range s.grants {
		if !g.Host.Wildcard {
			s.shared[g.Host.Name] = append(s.shared[g.Host.Name], g)
		}
	}
	for _, g := range s.grants {
		for _, a := range g.Allows {
			s.boxes = append(s.boxes, c.boxes(s, g, a)...)
		}
	}
	for i := range s.boxes {
		s.boxes[i].id = s.boxes[i].key()
	}
	s.index = indexed(s.boxes)
	s.proof, err = s.provable(file.Roles)
	return s, err
}

// sharing are the grants for exact hosts that a wildcard covers.
func (s *side) sharing(g *capability.Grant) (out []*capability.Grant) {
	if !g.Host.Wildcard {
		return nil
	}
	for host, grants := range s.shared {
		if g.Host.Match(host) {
			out = append(out, grants...)
		}
	}
	return out
}

// identity is what a credential is: where the secret comes from and where it goes. Its
// name does not matter.
func identity(f *policyfile.File, c policyfile.Credential) string {
	file := c.File
	if rel, err := filepath.Rel(filepath.Dir(f.Name), file); file != "" && err == nil {
		file = rel
	}
	p := c.Place
	return fmt.Sprintf("%q %q %q in %s %q %q %q %q %q", c.Env, file, c.Exec, p.In, p.Name, p.Before, p.After, p.User, p.Also)
}

// carried are the ways in which requests under a credential carry one.
func (s *side) carried(cr *capability.Credential) []string {
	ways := []string{carriesNone}
	switch cr.Mode {
	case capability.Bound:
		ways = append(ways, carriesSecret+s.secretOf(cr.Name))
	case capability.Pinned:
		ways = append(ways, carriesPinned+hex.EncodeToString(cr.Pin[:]))
	case capability.HandedOut:
		ways = append(ways, carriesIssued)
	}
	if cr.Strip {
		for _, w := range slices.Clone(ways) {
			ways = append(ways, strings.TrimPrefix(w+andForeign, carriesNone))
		}
	}
	return ways
}

func (s *side) secretOf(name string) string {
	if id := s.secret[name]; id != "" {
		return id
	}
	return "the credential " + name
}

// The ways in which a request carries credentials.
const (
	carriesNone   = "no credential"
	carriesSecret = "secret "
	carriesPinned = "pinned "
	carriesIssued = "issued"
	andForeign    = " and a foreign one, left out"
)

// provable is the policy with placeholders for its secrets, and with pins whose
// credential is known, so that examples can carry them.
func (s *side) provable(roles []capability.Role) (*capability.Policy, error) {
	grants := make([]*capability.Grant, len(s.grants))
	for i, g := range s.grants {
		own := *g
		if own.Credential.Mode == capability.Pinned {
			own.Credential.Pin = sha256.Sum256([]byte(pinnedExample(hex.EncodeToString(g.Credential.Pin[:]))))
		}
		grants[i] = &own
	}
	named := make(map[string]bool)
	for _, g := range grants {
		named[g.Name] = true
	}
	var kept []capability.Role
	for _, r := range roles {
		r.Grants = slices.DeleteFunc(slices.Clone(r.Grants), func(n string) bool { return !named[n] })
		kept = append(kept, r)
	}
	policy, err := capability.Compile(grants, kept)
	if err != nil {
		return nil, fmt.Errorf("compile policy for examples: %w", err)
	}
	placeholders := make(map[string]string)
	for _, g := range grants {
		if cr := g.Credential; cr.Mode == capability.Bound {
			placeholders[cr.Name] = placeholderExample(s.secretOf(cr.Name))
		}
	}
	policy, err = policy.WithPlaceholders(placeholders)
	if err != nil {
		return nil, fmt.Errorf("compile policy for examples: %w", err)
	}
	tools := make([]capability.Tool, len(s.file.Tools))
	for i, t := range s.file.Tools {
		tools[i] = t.Tool
	}
	return policy.WithTools(tools), nil
}

func placeholderExample(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return "placeholder-" + hex.EncodeToString(sum[:4])
}

func pinnedExample(pin string) string { return "pinned-" + pin[:8] }

// issuedExample is a token that an answer has handed out.
const issuedExample = "issued-in-this-run"

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}
