package report

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// soon is how long before its expiry a grant is remarked on.
const soon = 30 * 24 * time.Hour

// Grant is one grant and what was done under it.
type Grant struct {
	Name, Host, Owner, Why, Credential, Position string

	Expires        time.Time // zero: it does not
	Listed         bool      // a policy has it; otherwise only records name it
	Requests       int64     // allowed
	Refused        int64     // nearest to it
	Sent, Received int64
	Span

	Unused       bool
	NeverRefused bool
	Expired      bool
	ExpiresSoon  bool
	Days         int // until it expires

	out histogram
}

// grants are those of the policies and those that records name.
type grants struct {
	byName map[string]*Grant
	clock  *clock
}

func newGrants() *grants { return &grants{byName: make(map[string]*Grant), clock: new(clock)} }

// list takes the grants of a policy in; of one name, the last counts.
func (s *grants) list(policy []*capability.Grant) {
	for _, p := range policy {
		g := s.named(p.Name)
		if g.Name == others {
			continue
		}
		g.Listed, g.Host, g.Owner, g.Why = true, clean(place(p), maxWord), clean(p.Owner, maxWord), clean(p.Why, maxLong)
		g.Credential, g.Position, g.Expires = clean(p.Credential.Name, maxWord), clean(p.Position.String(), maxLong), p.Expires
	}
}

// place is the host of a grant, with what its scheme does not imply.
func place(g *capability.Grant) string {
	at := g.Host.String()
	if g.Scheme != capability.HTTPS && g.Scheme != "" {
		at = string(g.Scheme) + "://" + at
	}
	if g.Port != 0 && g.Port != g.Scheme.DefaultPort() {
		at += ":" + strconv.Itoa(int(g.Port))
	}
	return at
}

func (s *grants) named(name string) *Grant {
	g := s.byName[name]
	if g == nil {
		if len(s.byName) >= maxGrants {
			name = others
			if g = s.byName[name]; g != nil {
				return g
			}
		}
		g = &Grant{Name: clean(name, maxWord)}
		s.byName[name] = g
	}
	return g
}

// count adds n requests to what was done or tried under g.
func (g *Grant) count(e ref, n int64, r *audit.Record) {
	switch {
	case !e.allowed:
		g.Refused += n
	case e.http:
		g.Requests += n
		g.span(r.Time)
	}
}

// sent adds the bytes of an outcome.
func (s *grants) sent(g *Grant, r *audit.Record) {
	g.Sent += r.Sent
	g.Received += r.Received
	if r.Sent > 0 {
		s.clock.admit(r.Time, s.each)
		g.out.add(s.clock.bucket(r.Time), r.Sent)
	}
}

func (s *grants) each(f func(*histogram)) {
	for _, g := range s.byName {
		f(&g.out)
	}
}

// rows are all grants: those that sent most first, then those that were not used.
func (s *grants) rows(now time.Time) []*Grant {
	out := make([]*Grant, 0, len(s.byName))
	for _, g := range s.byName {
		g.judge(now)
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *Grant) int {
		return cmp.Or(cmp.Compare(b.Sent, a.Sent), cmp.Compare(b.Requests, a.Requests), cmp.Compare(b.Refused, a.Refused), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (g *Grant) judge(now time.Time) {
	g.Unused = g.Listed && g.Requests == 0
	g.NeverRefused = g.Listed && g.Requests > 0 && g.Refused == 0
	if g.Expires.IsZero() {
		return
	}
	left := g.Expires.Sub(now)
	g.Expired = left <= 0
	g.ExpiresSoon = left > 0 && left <= soon
	g.Days = int((left + 24*time.Hour - 1) / (24 * time.Hour))
}
