package difference

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"scupper.dev/scupper/capability"
)

// limit is one limit of a grant as a number; infinite where there is none.
type limit struct {
	name string
	of   func(*capability.Grant) float64
	show func(float64) string
}

func limitsOf() []limit {
	count := func(n float64) string { return fmt.Sprintf("%.0f", n) }
	bytes := func(n float64) string { return amount(int64(n)) }
	number := func(n int64) float64 {
		if n == 0 {
			return math.Inf(1)
		}
		return float64(n)
	}
	return []limit{
		{"requests", func(g *capability.Grant) float64 { return number(g.Limits.Requests) }, count},
		{"upload", func(g *capability.Grant) float64 { return number(g.Limits.Upload) }, bytes},
		{"download", func(g *capability.Grant) float64 { return number(g.Limits.Download) }, bytes},
		{"rate", rateOf, showRate},
		{"misses", func(g *capability.Grant) float64 { return number(g.Limits.Misses) }, count},
		{"names", namesOf, count},
	}
}

// rateOf is a rate in requests an hour.
func rateOf(g *capability.Grant) float64 {
	r := g.Limits.Rate
	if r.Requests <= 0 || r.Per <= 0 {
		return math.Inf(1)
	}
	return float64(r.Requests) * float64(time.Hour) / float64(r.Per)
}

func showRate(n float64) string {
	switch {
	case math.Mod(n, 3600) == 0:
		return fmt.Sprintf("%.0f/s", n/3600)
	case math.Mod(n, 60) == 0:
		return fmt.Sprintf("%.0f/m", n/60)
	}
	return fmt.Sprintf("%.0f/h", n)
}

// namesOf is zero for a grant of one host, which has one name.
func namesOf(g *capability.Grant) float64 {
	switch {
	case !g.Host.Wildcard:
		return 0
	case g.Limits.Names == 0:
		return capability.MaxNames
	}
	return float64(g.Limits.Names)
}

func (l limit) text(n float64) string {
	if math.IsInf(n, 1) {
		return "no limit"
	}
	return l.show(n)
}

// bounds are the limits of a grant in words.
func bounds(g *capability.Grant) (out []string) {
	for _, l := range limitsOf() {
		if n := l.of(g); !math.IsInf(n, 1) && (l.name != "names" || g.Limits.Names > 0) {
			out = append(out, "limit "+l.name+" "+l.show(n))
		}
	}
	if len(out) == 0 {
		out = append(out, "no limits")
	}
	return out
}

// family is a set of grants of both policies that count for the same requests.
type family struct{ old, new []*capability.Grant }

// limits compares what grants count. Grants of one name that stand for the same are
// compared with each other; others with all whose requests they share, because who
// splits a grant in two has doubled its limits.
func (c *comparison) limits(before, after *side) (out []Change) {
	for _, f := range c.families(before, after) {
		for _, l := range limitsOf() {
			if change, differs := f.change(l); differs {
				out = append(out, change)
			}
		}
	}
	return out
}

func (c *comparison) families(before, after *side) (out []family) {
	oldKeys, newKeys := keysOf(before), keysOf(after)
	byName := make(map[string]*capability.Grant)
	for _, g := range before.grants {
		byName[g.Name] = g
	}
	joined := make(map[*capability.Grant]int) // index into out, plus one
	for _, g := range after.grants {
		old := byName[g.Name]
		if old != nil && oldKeys[old] == newKeys[g] {
			out = append(out, family{[]*capability.Grant{old}, []*capability.Grant{g}})
			joined[g], joined[old] = len(out), len(out)
		}
	}
	for _, g := range after.grants {
		if joined[g] == 0 {
			out = c.adopt(out, joined, before, after, g)
		}
	}
	return slices.DeleteFunc(out, func(f family) bool { return len(f.old) == 0 || len(f.new) == 0 })
}

// adopt puts g into the family of the old grants whose requests it shares, and joins
// families that it connects.
func (c *comparison) adopt(families []family, joined map[*capability.Grant]int, before, after *side, g *capability.Grant) []family {
	mine := family{new: []*capability.Grant{g}}
	for _, o := range c.sharers(after, g, before) {
		switch at := joined[o] - 1; {
		case slices.Contains(mine.old, o):
		case at < 0:
			mine.old = append(mine.old, o)
		default:
			mine.old = append(mine.old, families[at].old...)
			mine.new = append(mine.new, families[at].new...)
			families[at] = family{}
		}
	}
	families = append(families, mine)
	for _, member := range slices.Concat(mine.old, mine.new) {
		joined[member] = len(families)
	}
	return families
}

// sharers are the grants of o that permit some request that g of s does.
func (c *comparison) sharers(s *side, g *capability.Grant, o *side) (out []*capability.Grant) {
	for i := range s.boxes {
		b := &s.boxes[i]
		if b.grant != g {
			continue
		}
		for _, other := range o.index.near(b) {
			if b.dims[dimPath].(paths).of.Apart(other.dims[dimPath].(paths).of.Template) || slices.Contains(out, other.grant) {
				continue
			}
			if how, _ := c.beside(b, other); how == apart {
				continue
			}
			if _, how := b.dims[dimPath].minus(c, other.dims[dimPath]); how != apart {
				out = append(out, other.grant)
			}
		}
	}
	return out
}

// keysOf has for each grant what it permits, in a canonical form.
func keysOf(s *side) map[*capability.Grant]string {
	keys := make(map[*capability.Grant][]string)
	for i := range s.boxes {
		b := &s.boxes[i]
		keys[b.grant] = append(keys[b.grant], b.key())
	}
	out := make(map[*capability.Grant]string, len(keys))
	for g, k := range keys {
		slices.Sort(k)
		out[g] = strings.Join(k, "\x04")
	}
	return out
}

func (f family) change(l limit) (Change, bool) {
	old, changed := 0.0, 0.0
	for _, g := range f.old {
		old += l.of(g)
	}
	for _, g := range f.new {
		changed += l.of(g)
	}
	// Within a family of several, one grant may have risen while the sum fell.
	raised := f.raised(l)
	if old == changed && !raised || l.name == "names" && old*changed == 0 {
		return Change{}, false
	}
	change := Change{Grant: grantNames(f.new), What: l.name, Old: l.text(old), New: l.text(changed), Wider: changed > old || raised}
	if was := grantNames(f.old); was != change.Grant {
		change.Note = "before in grant " + was
	}
	if raised && changed <= old {
		change.Note = strings.TrimPrefix(change.Note+"; the limit of one grant has risen", "; ")
	}
	change.Places = []string{short(f.old[0].Position), short(f.new[0].Position)}
	return change, true
}

// raised reports whether a grant counts to more than each of those before it did.
func (f family) raised(l limit) bool {
	most := 0.0
	for _, g := range f.old {
		most = max(most, l.of(g))
	}
	if len(f.old) < 2 || len(f.new) < 2 {
		return false
	}
	for _, g := range f.new {
		at := slices.IndexFunc(f.old, func(o *capability.Grant) bool { return o.Name == g.Name })
		if l.of(g) > most || at >= 0 && l.of(g) > l.of(f.old[at]) {
			return true
		}
	}
	return false
}

func grantNames(gs []*capability.Grant) string {
	names := make([]string, len(gs))
	for i, g := range gs {
		names[i] = g.Name
	}
	return strings.Join(sorted(names), ", ")
}
