package payload

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"
)

// checker tries schemas on a value (sections 10 and 11 of the core specification).
// While it is quiet it stops at the first mismatch. Else it goes on, in an order that
// is always the same, and notes the place and the keyword of each.
type checker struct {
	names names
	quiet bool
	at    string // a JSON Pointer, as far as the schema names it
	found []string
}

// evaluated is what schemas for one value have looked at, for the unevaluated...
// keywords. It is nil where nobody asks.
type evaluated struct {
	names map[string]bool
	items map[int]bool
}

func (e *evaluated) name(name string) {
	if e != nil {
		e.names[name] = true
	}
}

func (e *evaluated) item(i int) {
	if e != nil {
		e.items[i] = true
	}
}

// whole is the place of what is no part.
const whole = "the whole"

// miss notes a mismatch.
func (c *checker) miss(keyword string) bool {
	if !c.quiet {
		c.found = append(c.found, cmp.Or(c.at, whole)+": "+keyword)
	}
	return false
}

// enough reports whether another mismatch would change nothing.
func (c *checker) enough() bool { return c.quiet || len(c.found) >= maxLeaves }

// both goes on after a mismatch where more of them are wanted.
func (c *checker) both(ok bool, next func() bool) bool {
	if !ok && c.enough() {
		return false
	}
	return next() && ok
}

// fits tries n on v. What it looks at is added to seen, which is of use if it fits.
func (c *checker) fits(n *node, v any, seen *evaluated) bool {
	if n.never {
		return c.miss("false")
	}
	if seen == nil && (n.unevaluatedItems != nil || n.unevaluatedProperties != nil) {
		seen = newEvaluated()
	}
	ok := true
	for _, step := range []func(*checker, *node, any, *evaluated) bool{
		(*checker).asserted, (*checker).combined, (*checker).conditional, (*checker).object, (*checker).array, (*checker).unevaluated,
	} {
		ok = c.both(ok, func() bool { return step(c, n, v, seen) })
	}
	return ok
}

func newEvaluated() *evaluated { return &evaluated{make(map[string]bool), make(map[int]bool)} }

// branch tries a schema for the same value, whose findings count if it fits.
func (c *checker) branch(n *node, v any, seen *evaluated) bool {
	if seen == nil {
		return c.fits(n, v, nil)
	}
	own := newEvaluated()
	if !c.fits(n, v, own) {
		return false
	}
	maps.Copy(seen.names, own.names)
	maps.Copy(seen.items, own.items)
	return true
}

// silently tries a schema whose mismatches are nobody's mistake.
func (c *checker) silently(n *node, v any, seen *evaluated) bool {
	was := c.quiet
	c.quiet = true
	defer func() { c.quiet = was }()
	return c.branch(n, v, seen)
}

// child tries a schema for a part of the value. Where no value is taken there at all,
// it is the keyword of the whole that says so.
func (c *checker) child(n *node, v any, token, keyword string) bool {
	if n.never && keyword != "" {
		return c.miss(keyword)
	}
	if c.quiet {
		return c.fits(n, v, nil)
	}
	at := c.at
	c.at += "/" + token
	defer func() { c.at = at }()
	return c.fits(n, v, nil)
}

func (c *checker) asserted(n *node, v any, _ *evaluated) bool {
	ok := true
	for _, a := range n.assertions {
		ok = c.both(ok, func() bool { return a.holds(v) || c.miss(a.keyword) })
	}
	return ok
}

// combined tries $ref, allOf, anyOf, oneOf and not.
func (c *checker) combined(n *node, v any, seen *evaluated) bool {
	ok := true
	for _, s := range n.every {
		ok = c.both(ok, func() bool { return c.branch(s, v, seen) })
	}
	if len(n.anyOf) > 0 {
		ok = c.both(ok, func() bool { return c.alternatives("anyOf", n.anyOf, v, seen, unlimited) })
	}
	if len(n.oneOf) > 0 {
		ok = c.both(ok, func() bool { return c.alternatives("oneOf", n.oneOf, v, seen, 1) })
	}
	if n.not != nil && c.silently(n.not, v, nil) {
		ok = c.miss("not")
	}
	return ok
}

// alternatives wants at least one of the schemas to fit, and no more than most. That
// others do not is of interest only if none does.
func (c *checker) alternatives(keyword string, schemas []*node, v any, seen *evaluated, most int) bool {
	fit, before := 0, len(c.found)
	for _, s := range schemas {
		if c.branch(s, v, seen) {
			fit++
		}
		if fit > most || fit > 0 && most == unlimited && seen == nil {
			break
		}
	}
	if fit == 0 && len(c.found) > before {
		return false
	}
	c.found = c.found[:before]
	return 0 < fit && fit <= most || c.miss(keyword)
}

// conditional tries if, then, else and dependentSchemas.
func (c *checker) conditional(n *node, v any, seen *evaluated) bool {
	ok := true
	if n.condition != nil {
		next := n.otherwise
		if c.silently(n.condition, v, seen) {
			next = n.then
		}
		ok = next == nil || c.branch(next, v, seen)
	}
	object, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(n.dependent)) {
		if _, has := object[name]; has {
			ok = c.both(ok, func() bool { return c.branch(n.dependent[name], v, seen) })
		}
	}
	return ok
}

func (c *checker) object(n *node, v any, seen *evaluated) bool {
	object, is := v.(map[string]any)
	if !is || n.properties == nil && n.patterns == nil && n.additional == nil && n.propertyNames == nil {
		return true
	}
	ok := true
	for name := range c.inOrder(object) {
		ok = c.both(ok, func() bool { return c.member(n, name, object[name], seen) })
	}
	return ok
}

// inOrder are the names of an object, in an order where that can be seen.
func (c *checker) inOrder(object map[string]any) iter.Seq[string] {
	if c.quiet {
		return maps.Keys(object)
	}
	return slices.Values(slices.Sorted(maps.Keys(object)))
}

func (c *checker) member(n *node, name string, v any, seen *evaluated) bool {
	ok, token := true, c.token(name)
	s, known := n.properties[name]
	if known {
		ok = c.child(s, v, token, "")
	}
	for _, p := range n.patterns {
		if p.expr.MatchString(name) {
			known = true
			ok = c.both(ok, func() bool { return c.child(p.node, v, token, "") })
		}
	}
	if !known && n.additional != nil {
		known = true
		ok = c.child(n.additional, v, token, "additionalProperties")
	}
	if n.propertyNames != nil && !c.silently(n.propertyNames, name, nil) {
		ok = c.miss("propertyNames")
	}
	if known {
		seen.name(name)
	}
	return ok
}

// token stands for a name in a place. A name that is not in the schema is the sender's
// own, and not shown.
func (c *checker) token(name string) string {
	if c.quiet || !c.names.exact[name] {
		return "…"
	}
	return pointer.Replace(name)
}

func (c *checker) array(n *node, v any, seen *evaluated) bool {
	array, is := v.([]any)
	if !is {
		return true
	}
	ok := true
	for i, item := range array {
		s, keyword := n.items, "items"
		if i < len(n.prefix) {
			s, keyword = n.prefix[i], ""
		}
		if s == nil {
			break
		}
		seen.item(i)
		ok = c.both(ok, func() bool { return c.child(s, item, c.index(i), keyword) })
	}
	if n.contains != nil {
		ok = c.both(ok, func() bool { return c.contained(n, array, seen) })
	}
	return ok
}

func (c *checker) index(i int) string {
	if c.quiet {
		return ""
	}
	return strconv.Itoa(i)
}

func (c *checker) contained(n *node, array []any, seen *evaluated) bool {
	fit := 0
	for i, item := range array {
		if c.silently(n.contains, item, nil) {
			seen.item(i)
			fit++
		}
	}
	switch {
	case fit == 0 && n.minContains > 0:
		return c.miss("contains")
	case fit < n.minContains:
		return c.miss("minContains")
	case fit > n.maxContains:
		return c.miss("maxContains")
	}
	return true
}

// unevaluated comes last: it is about what no other keyword here has looked at.
func (c *checker) unevaluated(n *node, v any, seen *evaluated) bool {
	ok := true
	object, _ := v.(map[string]any)
	if n.unevaluatedProperties != nil {
		for name := range c.inOrder(object) {
			if !seen.names[name] {
				ok = c.both(ok, func() bool {
					return c.child(n.unevaluatedProperties, object[name], c.token(name), "unevaluatedProperties")
				})
				seen.name(name)
			}
		}
	}
	array, _ := v.([]any)
	if n.unevaluatedItems != nil {
		for i, item := range array {
			if !seen.items[i] {
				ok = c.both(ok, func() bool { return c.child(n.unevaluatedItems, item, c.index(i), "unevaluatedItems") })
				seen.item(i)
			}
		}
	}
	return ok
}
