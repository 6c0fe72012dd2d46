package payload

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var errCircle = errors.New("it refers to itself without a step down: no body could be checked")
var errCostly = errors.New("it tries too much on one value: bodies could not be checked in bounded time")

// reach is the extent of the bodies that s can check with at most maxVisits visits of
// one value and maxWork of all. A validator tries every branch, and where branches lead
// to the same schema again, each level multiplies the visits by their number.
func reach(s *jsonschema.Schema) (extent, error) {
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
	schema *jsonschema.Schema
	above  int
}

type weigher struct {
	known map[level]int
	open  map[level]bool
}

// visits is the most that one value, so many steps below a value for which s is tried,
// can be visited on account of that.
func (w *weigher) visits(s *jsonschema.Schema, above int) (int, error) {
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
func (w *weigher) below(s *jsonschema.Schema, above int) (int, error) {
	if above == 0 {
		return weight(s), nil
	}
	most := 0
	for _, exclusive := range [][]*jsonschema.Schema{members(s), items(s)} {
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

func (w *weigher) sum(schemas []*jsonschema.Schema, above int) (int, error) {
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

// weight is what one visit costs: lists are compared one by one, and all but strings
// are made anew for that.
func weight(s *jsonschema.Schema) int {
	n := 1 + len(s.PatternProperties)
	if s.Enum == nil {
		return n
	}
	other := 0
	for _, v := range s.Enum.Values {
		if _, text := v.(string); !text {
			other++
		}
	}
	return n + other/4 + len(s.Enum.Values)/64
}

// same are the schemas that s applies to the value itself.
func same(s *jsonschema.Schema) []*jsonschema.Schema {
	out := present(s.Ref, s.Not, s.If, s.Then, s.Else)
	for _, group := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		out = append(out, group...)
	}
	for _, d := range s.DependentSchemas {
		out = append(out, d)
	}
	return out
}

// members are those of which at most one is for a given property.
func members(s *jsonschema.Schema) []*jsonschema.Schema {
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	out := present(additional, s.PropertyNames)
	for _, p := range s.Properties {
		out = append(out, p)
	}
	return out
}

// items are those of which at most one is for a given item.
func items(s *jsonschema.Schema) []*jsonschema.Schema {
	return append(present(s.Items2020), s.PrefixItems...)
}

// every are those that come on top.
func every(s *jsonschema.Schema) []*jsonschema.Schema {
	out := present(s.Contains, s.UnevaluatedItems, s.UnevaluatedProperties)
	for _, p := range s.PatternProperties {
		out = append(out, p)
	}
	return out
}

func present(schemas ...*jsonschema.Schema) []*jsonschema.Schema {
	out := schemas[:0]
	for _, s := range schemas {
		if s != nil {
			out = append(out, s)
		}
	}
	return out
}
