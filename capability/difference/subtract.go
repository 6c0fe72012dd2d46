package difference

import (
	"slices"

	"scupper.dev/scupper/capability"
)

// index finds the boxes that may share requests with another.
type index struct {
	keys  map[string]bool
	exact map[string][]*box // by host
	under map[string][]*box // by the name under a wildcard
}

func indexed(boxes []box) index {
	x := index{keys: make(map[string]bool), exact: make(map[string][]*box), under: make(map[string][]*box)}
	for i := range boxes {
		b := &boxes[i]
		x.keys[b.key()] = true
		h := b.dims[dimHost].(hosts)
		if h.under != "" {
			x.under[h.under] = append(x.under[h.under], b)
		}
		for _, name := range h.names {
			x.exact[name] = append(x.exact[name], b)
		}
	}
	return x
}

// near are the boxes whose hosts may be those of b.
func (x index) near(b *box) (out []*box) {
	h := b.dims[dimHost].(hosts)
	if len(x.under) == 0 && h.under == "" && len(h.names) == 1 {
		return x.exact[h.names[0]]
	}
	for _, name := range h.names {
		out = append(out, x.exact[name]...)
		for under, boxes := range x.under {
			if (hosts{under: under}).has(name) {
				out = append(out, boxes...)
			}
		}
	}
	if h.under == "" {
		return out
	}
	out = append(out, x.under[h.under]...)
	for name, boxes := range x.exact {
		if h.has(name) {
			out = append(out, boxes...)
		}
	}
	slices.SortStableFunc(out, func(a, b *box) int { return comparePositions(place(a.grant, a.allow), place(b.grant, b.allow)) })
	return out
}

// maxPieces is how many pieces of one box are followed; more than that are one that
// could not be compared.
const maxPieces = 48

// rest is what of b is in none of the boxes: pieces, which may overlap, each with less
// in some dimensions. nearest is the box that comes closest; it may be nil.
func (c *comparison) rest(b *box, others []*box) (pieces []box, nearest *box) {
	pieces = []box{*b}
	best := 1 << 30
	var slow []*box
	for _, o := range others {
		if b.dims[dimPath].(paths).of.Apart(o.dims[dimPath].(paths).of.Template) {
			continue
		}
		how, differing := c.beside(&pieces[0], o)
		if how == apart {
			continue
		}
		if differing < best {
			best, nearest = differing, o
		}
		if how != covered {
			slow = append(slow, o)
			continue
		}
		// Only the path is left to tell them apart, and it is looked at once for all.
		p := pieces[0].dims[dimPath].(paths)
		p.without = append(p.without[:len(p.without):len(p.without)], o.dims[dimPath].(paths).of)
		pieces[0].dims, pieces[0].id = cloned(pieces[0].dims, dimPath, p), ""
	}
	pieces = c.settle(b, pieces[0])
	for _, o := range slow {
		var next []box
		for i := range pieces {
			next = append(next, c.minus(&pieces[i], o)...)
		}
		if pieces = distinct(next); len(pieces) > maxPieces {
			whole := *b
			whole.doubt = true
			return []box{whole}, nearest
		}
	}
	return pieces, nearest
}

// settle drops a box whose path is covered.
func (c *comparison) settle(b *box, piece box) []box {
	p := piece.dims[dimPath].(paths)
	if len(p.without) == 0 {
		if empty, _ := c.impossible(p.of); empty {
			return nil
		}
		return []box{piece}
	}
	empty, sure := c.noPath(p.of, p.without)
	if empty {
		return nil
	}
	p.doubt = !sure
	kept := p.without[:0:0]
	for _, w := range p.without {
		if c.crosses(paths{of: p.of}, w) {
			kept = append(kept, w)
		}
	}
	if p.without = kept; len(kept) == 0 {
		return []box{*b}
	}
	return []box{b.with(dimPath, p)}
}

// beside compares all dimensions but the path.
func (c *comparison) beside(b, o *box) (how relation, differing int) {
	how = covered
	for _, name := range names(b, o) {
		switch _, r := b.at(c, name).minus(c, o.at(c, name)); r {
		case apart:
			return apart, 0
		case partly:
			how = partly
			differing++
		}
	}
	return how, differing
}

// minus is what of b is not in o: for each dimension the box that has only what o does
// not have there.
func (c *comparison) minus(b, o *box) (pieces []box) {
	for _, name := range append(names(b, o), dimPath) {
		s, how := b.at(c, name).minus(c, o.at(c, name))
		switch how {
		case apart:
			return []box{*b}
		case partly:
			pieces = append(pieces, b.with(name, s))
		}
	}
	return pieces
}

func cloned(dims map[string]set, name string, s set) map[string]set {
	out := make(map[string]set, len(dims))
	for k, v := range dims {
		out[k] = v
	}
	out[name] = s
	return out
}

// distinct leaves out boxes that are there already.
func distinct(boxes []box) (out []box) {
	seen := make(map[string]bool)
	for _, b := range boxes {
		if k := b.key(); !seen[k] {
			seen[k] = true
			out = append(out, b)
		}
	}
	return out
}

// found is one allow block and what of it the other policy does not permit.
type found struct {
	grant   *capability.Grant
	allow   *capability.Allow
	pieces  []box
	nearest *box
}

// only finds what s permits and o does not.
func (c *comparison) only(s, o *side) (out []found) {
	for i := range s.boxes {
		b := &s.boxes[i]
		if o.index.keys[b.key()] {
			continue
		}
		pieces, nearest := c.rest(b, o.index.near(b))
		if len(pieces) == 0 {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].allow == b.allow && out[last].grant == b.grant {
			out[last].pieces = append(out[last].pieces, pieces...)
			continue
		}
		out = append(out, found{b.grant, b.allow, pieces, nearest})
	}
	return out
}
