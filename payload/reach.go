package payload

import (
	"errors"
	"slices"
)

var errCircle = errors.New("it refers to itself without a step down: no body could be checked")
var errCostly = errors.New("it tries too much on one value: bodies could not be checked in bounded time")

// reach is the extent of the bodies that s can check with at most maxVisits visits of
// one value and maxWork of all. A validator tries every branch, and where branches lead
// to the same schema again, each level multiplies the visits by their number.
func reach(s *node) (extent, error) {
	w := &weigher{known: make(map[level]int), open: make(map[level]bool)}
	most, visits := widest(), 1
	for depth := 0; depth <= MaxDepth; depth++ {
		n, err := w.visits(s, depth)
		switch {
		case err != nil:
			return extent{}, err
		case n > maxVisits && depth < 2:
			return extent{}, errCostly
		case n > maxVisits:
			most.depth = depth - 1
			return most.within(visits), nil
		}
		visits = max(visits, n)
	}
	return most.within(visits), nil
}

func (e extent) within(visits int) extent {
	e.values = min(e.values, maxWork/visits)
	return e
}

// level is a schema at a number of steps above the value whose visits are counted.
type level struct {
	schema *node
	above  int
}

type weigher struct {
	known map[level]int
	open  map[level]bool
}

// visits is the most that one value, so many steps below a value for which s is tried,
// can be visited on account of that.
func (w *weigher) visits(s *node, above int) (int, error) {
	at := level{s, above}
	if n, ok := w.known[at]; ok {
		return n, nil
	}
	if w.open[at] {
		return 0, errCircle
	}
	w.open[at] = true
	defer delete(w.open, at)
	n, err := w.sum(same(s), above)
	if err != nil {
		return 0, err
	}
	below, err := w.below(s, above)
	if err != nil {
		return 0, err
	}
	w.known[at] = min(n+below, maxVisits+1)
	return w.known[at], nil
}

// below counts through the children, of which one has the value in it.
func (w *weigher) below(s *node, above int) (int, error) {
	if above == 0 {
		return s.weight, nil
	}
	most := 0
	for _, exclusive := range [][]*node{members(s), items(s)} {
		for _, child := range exclusive {
			n, err := w.visits(child, above-1)
			if err != nil {
				return 0, err
			}
			most = max(most, n)
		}
	}
	n, err := w.sum(every(s), above-1)
	return most + n, err
}

func (w *weigher) sum(schemas []*node, above int) (int, error) {
	total := 0
	for _, s := range schemas {
		n, err := w.visits(s, above)
		if err != nil {
			return 0, err
		}
		total = min(total+n, maxVisits+1)
	}
	return total, nil
}

// same are the schemas that n applies to the value itself.
func same(n *node) []*node {
	out := present(n.not, n.condition, n.then, n.otherwise)
	for _, group := range [][]*node{n.every, n.anyOf, n.oneOf} {
		out = append(out, group...)
	}
	for _, d := range n.dependent {
		out = append(out, d)
	}
	return out
}

// members are those of which at most one is for a given property.
func members(n *node) []*node {
	out := present(n.additional, n.propertyNames)
	for _, p := range n.properties {
		out = append(out, p)
	}
	return out
}

// items are those of which at most one is for a given item.
func items(n *node) []*node { return append(present(n.items), n.prefix...) }

// every are those that come on top.
func every(n *node) []*node {
	out := present(n.contains, n.unevaluatedItems, n.unevaluatedProperties)
	for _, p := range n.patterns {
		out = append(out, p.node)
	}
	return out
}

func present(nodes ...*node) []*node {
	return slices.DeleteFunc(nodes, func(n *node) bool { return n == nil })
}
