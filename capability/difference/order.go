package difference

import (
	"maps"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
)

// A request that two allow blocks of one policy permit is judged by the first of them.
// Where they differ in what stands behind the decision, in the inspection of bodies,
// the headers that go out, the networks, the credentials, their order decides what is
// permitted, and taking one away may let the other count.

// overlap is two boxes of one policy that permit a request under different conditions,
// in the order of the policy.
type overlap struct{ first, second string }

// overlaps finds them, with the names of their grants.
func (c *comparison) overlaps(s *side) map[overlap]string {
	out := make(map[overlap]string)
	order := make(map[*box]int, len(s.boxes))
	conditions := make([]string, len(s.boxes))
	for i := range s.boxes {
		order[&s.boxes[i]] = i
		conditions[i] = s.boxes[i].conditions()
	}
	for i := range s.boxes {
		b := &s.boxes[i]
		for _, o := range s.index.near(b) {
			k := order[o]
			if k <= i || conditions[i] == conditions[k] || b.dims[dimPath].(paths).of.Apart(o.dims[dimPath].(paths).of.Template) {
				continue
			}
			if c.meets(b, o) {
				out[overlap{b.id, o.id}] = grantNames([]*capability.Grant{b.grant, o.grant})
			}
		}
	}
	return out
}

// conditions is equal for boxes that differ in nothing but which requests they permit.
func (b *box) conditions() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(b.dims)) {
		switch {
		case name == dimNetworks, name == dimIssues, name == dimContent, name == dimCredential, name == dimForm,
			strings.HasPrefix(name, prefixHeader), strings.HasPrefix(name, prefixForm):
			out = append(out, name, b.dims[name].key())
		}
	}
	return strings.Join(out, "\x05")
}

// meets reports whether some request may be of both boxes, whatever their conditions.
func (c *comparison) meets(b, o *box) bool {
	for _, name := range names(b, o) {
		if name == dimContent || name == dimIssues || name == dimNetworks || name == dimForm || strings.HasPrefix(name, prefixHeader) || strings.HasPrefix(name, prefixForm) {
			continue
		}
		if _, how := b.at(c, name).minus(c, o.at(c, name)); how == apart {
			return false
		}
	}
	_, how := b.dims[dimPath].minus(c, o.dims[dimPath])
	return how != apart
}

// order reports overlaps that are not the same in both policies. Their sets are compared
// as if each counted, so that nothing else may tell.
func (c *comparison) order(before, after *side) (out []Setting) {
	old, changed := c.overlaps(before), c.overlaps(after)
	var grants []string
	for pair, names := range old {
		if _, same := changed[pair]; !same {
			grants = append(grants, names)
		}
	}
	for pair, names := range changed {
		if _, same := old[pair]; !same && len(old) > 0 {
			grants = append(grants, names)
		}
	}
	for _, names := range sorted(grants) {
		out = append(out, Setting{
			What: "which of overlapping allow blocks counts, in grant " + names, Old: "the first there", New: "the first here", Wider: true,
			Note: "they permit the same requests under different conditions; " + noDirection,
		})
	}
	return out
}
