package main

import (
	"fmt"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// several is how many values one place of a path must have had before a variable stands
// for them; fewer stay as they are.
const several = 3

// allowProposal is an allow block in the making: the template of one path, of which at
// most one segment has become a variable.
type allowProposal struct {
	methods  []string
	segments []string // as the template has them
	tail     string   // query and body, as policies write them
	times    int64

	pattern string   // of the segment that is a variable
	values  []string // that it stands for; empty: there is no variable
}

func newAllowProposal(a *capability.Allow, r *refusal) *allowProposal {
	p := &allowProposal{methods: a.Methods, segments: strings.Split(a.Path.String(), "/"), times: r.times}
	var b strings.Builder
	if len(a.Query.Parameters) > 0 {
		b.WriteString("query = { # values are not in the log: the patterns are what those seen looked like\n")
		for _, rule := range a.Query.Parameters {
			fmt.Fprintf(&b, "%s = required(%s)\n", capability.Quote(rule.Name), rule.Value)
		}
		b.WriteString("}\n")
	}
	switch {
	case a.Body != nil:
		limit := bodyMax(a, r)
		fmt.Fprintf(&b, "body {\ntype = %s\nmax = \"%dKiB\" # without a schema it can carry anything\n", capability.Quote(a.Body.Type), limit)
		if a.Body.Inspector == nil && a.Body.Type == "multipart/form-data" || a.Body.Inspector != nil && limit<<10 > policyfile.MaxInspected {
			b.WriteString("inspect = false\n")
		}
		b.WriteString("}\n")
	case slices.ContainsFunc(a.Methods, writes):
		b.WriteString("body = none\n")
	}
	p.tail = b.String()
	return p
}

// bodyMax is the limit in KiB: that of the smallest grant, raised until what was sent
// fits.
func bodyMax(a *capability.Allow, r *refusal) int64 {
	limit := max(a.Body.Max>>10, 1)
	for r.Body != nil && limit<<10 < r.Body.Length && limit < 1<<40 {
		limit *= 4
	}
	return limit
}

func writes(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE"
}

// merged joins what is equal, then what differs in one segment in several ways, then
// what differs in the method alone. Each step permits nothing but what its comment says.
func merged(all []*allowProposal) []*allowProposal {
	all = join(all, func(p *allowProposal) string { return p.key(-1) }, func(into, p *allowProposal) {})
	for at := longest(all) - 1; at > 0; at-- {
		generalise(all, at)
	}
	return join(all, func(p *allowProposal) string { return p.path() + "\n" + p.pattern + "\n" + p.tail }, func(into, p *allowProposal) {
		into.methods = union(into.methods, p.methods)
		into.values = union(into.values, p.values)
	})
}

func longest(all []*allowProposal) int {
	n := 0
	for _, p := range all {
		n = max(n, len(p.segments))
	}
	return n
}

// join merges those of one key into the first of them.
func join(all []*allowProposal, key func(*allowProposal) string, merge func(into, p *allowProposal)) []*allowProposal {
	first := make(map[string]*allowProposal)
	var out []*allowProposal
	for _, p := range all {
		into := first[key(p)]
		if into == nil {
			first[key(p)] = p
			out = append(out, p)
			continue
		}
		merge(into, p)
		into.times += p.times
	}
	return out
}

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// generalise puts a variable at one place of the paths that differ there alone, where
// there are several and one pattern fits their values.
func generalise(all []*allowProposal, at int) {
	groups := make(map[string][]*allowProposal)
	for _, p := range all {
		if len(p.values) == 0 && at < len(p.segments) {
			groups[p.key(at)] = append(groups[p.key(at)], p)
		}
	}
	for _, group := range groups {
		var values []string
		for _, p := range group {
			values = append(values, p.segments[at])
		}
		pattern := narrowest(values)
		if len(group) < several || pattern == "" {
			continue
		}
		for _, p := range group {
			p.segments[at], p.pattern, p.values = "{"+variableName+"}", pattern, values
		}
	}
}

const variableName = "part"

// key is what two blocks have in common that differ at one place, or, for -1, nowhere.
func (p *allowProposal) key(at int) string {
	segments := slices.Clone(p.segments)
	if at >= 0 && at < len(segments) {
		segments[at] = "\x00"
	}
	return strings.Join(p.methods, ",") + "\n" + strings.Join(segments, "/") + "\n" + p.tail
}

func (p *allowProposal) path() string { return strings.Join(p.segments, "/") }

// narrowest is the narrowest named pattern that all values match; none is wider than a
// slug.
func narrowest(encoded []string) string {
	var values []string
	for _, e := range encoded {
		path, err := capability.ParsePath("/" + e)
		if err != nil || path.Len() != 1 {
			return ""
		}
		values = append(values, path.Segment(0))
	}
	for _, name := range []string{"int", "semver", "sha256", "slug"} {
		pattern, ok := capability.Named(name)
		if ok && !slices.ContainsFunc(values, func(v string) bool { return !pattern.Match(v) }) {
			return name
		}
	}
	return ""
}

// shownValues is how many of the values a comment lists.
const shownValues = 5

// text is the allow block.
func (p *allowProposal) text() string {
	var b strings.Builder
	if p.times > 1 {
		fmt.Fprintf(&b, "# Asked %d times.\n", p.times)
	}
	if n := len(p.values); n > 0 {
		quoted := make([]string, 0, shownValues)
		for _, v := range p.values[:min(n, shownValues)] {
			quoted = append(quoted, capability.Quote(v))
		}
		fmt.Fprintf(&b, "# {%s} stands for %d values that were seen, and for every other %s: %s", variableName, n, p.pattern, strings.Join(quoted, ", "))
		if n > shownValues {
			b.WriteString(" ...")
		}
		b.WriteByte('\n')
	}
	quoted := make([]string, len(p.methods))
	for i, m := range p.methods {
		quoted[i] = capability.Quote(m)
	}
	fmt.Fprintf(&b, "allow {\nmethods = [%s]\npath = %s\n", strings.Join(quoted, ", "), capability.Quote(p.path()))
	if len(p.values) > 0 {
		fmt.Fprintf(&b, "where = { %s = %s }\n", variableName, p.pattern)
	}
	b.WriteString(p.tail + "}\n")
	return b.String()
}
