package difference

import (
	"fmt"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// Between compares two policies that have loaded.
func Between(old, changed *policyfile.File) (*Report, error) {
	r := &Report{
		Old: old.Name, New: changed.Name,
		Wider: []Set{}, Narrower: []Set{}, Limits: []Change{}, Settings: []Setting{},
	}
	c := newComparison()
	if err := r.compare(c, old, changed, ""); err != nil {
		return nil, err
	}
	for _, role := range old.Roles {
		if !slices.ContainsFunc(changed.Roles, func(o capability.Role) bool { return o.Name == role.Name }) {
			continue
		}
		if err := r.compare(c, old, changed, role.Name); err != nil {
			return nil, fmt.Errorf("compare role %q: %w", role.Name, err)
		}
	}
	r.Settings = append(r.Settings, settings(old, changed)...)
	if err := r.tools(c, old, changed); err != nil {
		return nil, err
	}
	r.Widened = len(r.Wider) > 0 ||
		slices.ContainsFunc(r.Limits, func(l Change) bool { return l.Wider }) ||
		slices.ContainsFunc(r.Settings, func(s Setting) bool { return s.Wider })
	return r, nil
}

// compare adds what differs in a role, or in the whole policies. What differs in the
// whole already is not said again for a role.
func (r *Report) compare(c *comparison, old, changed *policyfile.File, role string) error {
	before, err := c.side(old, role)
	if err != nil {
		return err
	}
	after, err := c.side(changed, role)
	if err != nil {
		return err
	}
	more, less := c.only(after, before), c.only(before, after)
	wider, later := c.sets(more, after, before, role, true)
	narrower, sooner := c.sets(less, before, after, role, false)
	if role == "" {
		r.more, r.less = piecesOf(more), piecesOf(less)
	}
	r.Wider = append(r.Wider, unsaid(r.Wider, wider)...)
	r.Narrower = append(r.Narrower, unsaid(r.Narrower, narrower)...)
	limits := append(later, sooner...)
	if role == "" {
		limits = append(limits, c.limits(before, after)...)
	}
	for _, o := range c.order(before, after) {
		if !slices.Contains(r.Settings, o) {
			r.Settings = append(r.Settings, o)
		}
	}
	for _, l := range limits {
		if !slices.ContainsFunc(r.Limits, func(o Change) bool { return o.Grant == l.Grant && o.What == l.What && o.Old == l.Old && o.New == l.New }) {
			r.Limits = append(r.Limits, l)
		}
	}
	return nil
}

func piecesOf(all []found) (out []box) {
	for _, f := range all {
		out = append(out, f.pieces...)
	}
	return out
}

func unsaid(said, sets []Set) []Set {
	return slices.DeleteFunc(sets, func(s Set) bool {
		return slices.ContainsFunc(said, func(o Set) bool {
			return o.Grant == s.Grant && o.Place == s.Place && o.URL == s.URL && o.words() == s.words()
		})
	})
}

func (s Set) words() string {
	var b strings.Builder
	for _, p := range s.Pieces {
		b.WriteString(strings.Join(p.Only, ", ") + "\n")
	}
	return strings.Join(s.Methods, " ") + "\n" + b.String()
}

// sets describes what s permits and o does not. Pieces that differ in time only are
// changes of an expiry. newer tells whether s is the new policy.
func (c *comparison) sets(all []found, s, o *side, role string, newer bool) (out []Set, expiries []Change) {
	for _, f := range all {
		set := s.describe(f)
		set.Role = role
		whole := 0
		for i := range f.pieces {
			b := &f.pieces[i]
			if len(b.only) == 1 && b.only[dimTime] {
				expiries = c.expiry(expiries, s, o, f, b, role, newer)
				continue
			}
			if b.whole() {
				whole++
			}
			set.Pieces = append(set.Pieces, c.piece(s, o, b, role))
		}
		if len(set.Pieces) > 0 {
			set.join(whole, len(c.boxes(s, f.grant, f.allow)))
			out = append(out, set)
		}
	}
	slices.SortStableFunc(out, func(a, b Set) int { return comparePositions(a.position, b.position) })
	return out, expiries
}

// join makes one piece of all where the whole allow block is meant. Where only some of
// its boxes are, these say which.
func (s *Set) join(whole, boxes int) {
	if whole < boxes {
		for i := range s.Pieces {
			if p := &s.Pieces[i]; len(p.Only) == 0 {
				p.Only = p.dimension
			}
		}
		return
	}
	best := s.Pieces[0]
	for _, p := range s.Pieces {
		if best.Example == nil && p.Example != nil {
			best = p
		}
		best.Certain = best.Certain || p.Certain
	}
	s.Pieces = []Piece{best}
}

func (c *comparison) piece(s, o *side, b *box, role string) Piece {
	p := Piece{Only: s.restrictions(b)}
	p.dimension = []string{"method " + b.dims[dimMethod].String(), s.restriction(dimBody, b.dims[dimBody])}
	if e, proven := c.prove(s, o, b); proven {
		e.Role = role
		p.Example, p.Certain = &e, true
	}
	return p
}

// expiry says once for a grant that it holds longer or less long.
func (c *comparison) expiry(out []Change, s, o *side, f found, b *box, role string, newer bool) []Change {
	if slices.ContainsFunc(out, func(l Change) bool { return l.Grant == f.grant.Name }) {
		return out
	}
	t := b.dims[dimTime].(span)
	here, there := forever(t.until.IsZero(), strings.TrimPrefix(lastDay(t.until), endOf)), strings.TrimPrefix(lastDay(t.from), endOf)
	places := []string{"", short(f.grant.Position)}
	if f.nearest != nil {
		places[0] = short(f.nearest.grant.Position)
	}
	l := Change{Role: role, Grant: f.grant.Name, What: "expires", Old: there, New: here, Wider: newer, Places: places}
	if !newer {
		l.Old, l.New = here, there
		slices.Reverse(l.Places)
	}
	if e, proven := c.prove(s, o, b); proven {
		l.Example = &e
	}
	return append(out, l)
}

func forever(is bool, otherwise string) string {
	if is {
		return "never"
	}
	return otherwise
}
