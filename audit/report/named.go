package report

import (
	"maps"
	"slices"
	"time"
)

// others is what stands for all names beyond the bound.
const others = "all others"

// named keeps one thing for each of a bounded number of names.
type named[T any] struct {
	order []string
	byKey map[string]*T
}

func newNamed[T any]() *named[T] { return &named[T]{byKey: make(map[string]*T)} }

// get is the thing of that name.
func (n *named[T]) get(name string) *T {
	if t := n.byKey[name]; t != nil {
		return t
	}
	if len(n.order) >= maxNames {
		name = others
		if t := n.byKey[name]; t != nil {
			return t
		}
	}
	t := new(T)
	if s, ok := any(t).(interface{ call(string) }); ok {
		s.call(name)
	}
	n.order, n.byKey[name] = append(n.order, name), t
	return t
}

// sorted is all things in the order of their names.
func (n *named[T]) sorted() []*T {
	out := make([]*T, 0, len(n.order))
	for _, name := range slices.Sorted(slices.Values(n.order)) {
		out = append(out, n.byKey[name])
	}
	return out
}

// Set is a bounded set of words.
type Set struct {
	words map[string]bool
	More  bool // there were more than fit
}

const maxSet = 8

func (s *Set) add(word string) {
	switch {
	case word == "" || s.words[word]:
	case len(s.words) >= maxSet:
		s.More = true
	default:
		if s.words == nil {
			s.words = make(map[string]bool)
		}
		s.words[word] = true
	}
}

// Words are the words in their order; "…" is the last when there were more.
func (s Set) Words() []string {
	out := slices.Sorted(maps.Keys(s.words))
	if s.More {
		out = append(out, "…")
	}
	return out
}

// Span is from the first to the last time of something.
type Span struct{ First, Last time.Time }

func (s *Span) span(t time.Time) {
	if s.First.IsZero() || t.Before(s.First) {
		s.First = t
	}
	if t.After(s.Last) {
		s.Last = t
	}
}

// Credential is what one credential was used for.
type Credential struct {
	Name          string
	Requests      int64
	Grants, Hosts Set
	Fingerprints  Set
	Span
}

func (c *Credential) call(name string) { c.Name = name }

// Foreign is a place in which requests carried credentials that no grant binds.
type Foreign struct {
	Place               string
	Requests            int64
	Hosts, Fingerprints Set
	Span
}

func (f *Foreign) call(name string) { f.Place = name }
