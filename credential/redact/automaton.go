package redact

import (
	"cmp"
	"maps"
	"slices"
)

// automaton finds forms in text (Aho and Corasick, Efficient string matching, 1975).
// It is not changed once it is built. A state is the longest end of the text so far
// that is the beginning of a form; state 0 is none.
type automaton struct {
	forms  []string
	begin  [256]uint32 // the edges of state 0
	edges  []edge
	states []state
	skips  skips
}

type edge struct {
	char byte
	to   uint32
}

type state struct {
	edges  uint32 // the first one
	count  uint32 // of edges
	fail   uint32 // the state for the longest proper end
	length uint32 // of the text that the state stands for
	keep   uint32 // so many bytes back a whole form may have begun
	hide   uint32 // so many bytes back is the first half of a form, or more of it
	last   uint32 // the same for a third, which counts where the text ends
}

// newAutomaton looks for whole forms and for the last two thirds of each: whoever leaves
// out a beginning does not get the rest. It makes nil for no forms.
func newAutomaton(whole []string) *automaton {
	if len(whole) == 0 {
		return nil
	}
	forms := slices.Clone(whole)
	for _, f := range whole {
		if rest := f[third(len(f)):]; len(rest) >= 2*shortestForm {
			forms = append(forms, rest)
		}
	}
	t := newTrie()
	shortest := len(forms[0])
	for _, f := range forms {
		t.add(f)
		shortest = min(shortest, len(f))
	}
	for _, f := range whole {
		t.keep(f)
	}
	a := t.flatten()
	a.link()
	a.forms, a.skips = whole, newSkips(forms, half(shortest))
	return a
}

// half of a form is hidden wherever it stands; less than eight bytes could be anything.
func half(n int) int { return max((n+1)/2, min(n, 8)) }

// third of a form is hidden at the end of a text.
func third(n int) int { return max((n+2)/3, 4) }

// longest is the length of the longest form.
func (a *automaton) longest() (n int) {
	for _, f := range a.forms {
		n = max(n, len(f))
	}
	return n
}

// trie is an automaton in the making. For each state it has the lengths from which on
// some form that runs through the state is hidden.
type trie struct {
	to          []map[byte]uint32
	half, third []int
	length      []uint32
	whole       []bool // the state is on the way of a whole form
}

func newTrie() *trie {
	t := &trie{}
	t.grow(0)
	return t
}

func (t *trie) grow(length uint32) uint32 {
	t.to = append(t.to, nil)
	t.half, t.third = append(t.half, 0), append(t.third, 0)
	t.length, t.whole = append(t.length, length), append(t.whole, false)
	return uint32(len(t.to) - 1)
}

func (t *trie) add(form string) {
	at := uint32(0)
	for i := range len(form) {
		next, ok := t.to[at][form[i]]
		if !ok {
			next = t.grow(uint32(i + 1))
			if t.to[at] == nil {
				t.to[at] = make(map[byte]uint32, 1)
			}
			t.to[at][form[i]] = next
		}
		at = next
		t.half[at] = min(cmp.Or(t.half[at], len(form)), half(len(form)))
		t.third[at] = min(cmp.Or(t.third[at], len(form)), third(len(form)))
	}
}

// keep marks the way of form, which has been added.
func (t *trie) keep(form string) {
	at := uint32(0)
	for i := range len(form) {
		at = t.to[at][form[i]]
		t.whole[at] = true
	}
}

// flatten lays the states out one behind the other, breadth first.
func (t *trie) flatten() *automaton {
	a := &automaton{}
	order := []uint32{0}
	for i := 0; i < len(order); i++ {
		old := order[i]
		s := state{edges: uint32(len(a.edges)), length: t.length[old]}
		if n := t.length[old]; int(n) >= t.half[old] {
			s.hide = n
		}
		if n := t.length[old]; int(n) >= t.third[old] {
			s.last = n
		}
		if t.whole[old] {
			s.keep = t.length[old]
		}
		for _, c := range slices.Sorted(maps.Keys(t.to[old])) {
			a.edges = append(a.edges, edge{c, uint32(len(order))})
			order = append(order, t.to[old][c])
		}
		s.count = uint32(len(a.edges)) - s.edges
		a.states = append(a.states, s)
	}
	return a
}

// link finds where each state fails to, those of shorter texts first.
func (a *automaton) link() {
	root := a.states[0]
	for _, e := range a.edges[root.edges:][:root.count] {
		a.begin[e.char] = e.to
	}
	for i := range a.states {
		s := a.states[i]
		for _, e := range a.edges[s.edges:][:s.count] {
			to := &a.states[e.to]
			if i != 0 {
				to.fail = a.step(s.fail, e.char)
			}
			to.hide = max(to.hide, a.states[to.fail].hide)
			to.last = max(to.last, a.states[to.fail].last)
			to.keep = max(to.keep, a.states[to.fail].keep)
		}
	}
}

// step is the state behind at, one character on.
func (a *automaton) step(at uint32, char byte) uint32 {
	for at != 0 {
		s := &a.states[at]
		for _, e := range a.edges[s.edges:][:s.count] {
			if e.char == char {
				return e.to
			}
		}
		at = s.fail
	}
	return a.begin[char]
}

// span is a part of a text: from is the first byte, to the first behind it.
type span struct{ from, to int }

// scan goes on from state at with text[i:], and adds what is to be hidden to spans. The
// text of the state stands before i.
func (a *automaton) scan(at uint32, text []byte, i int, spans []span) (uint32, []span) {
	for i < len(text) {
		if at == 0 {
			if i = a.skips.next(text, i); i >= len(text) {
				break
			}
		}
		at = a.step(at, text[i])
		i++
		if n := a.states[at].hide; n > 0 {
			spans = cover(spans, span{i - int(n), i})
		}
	}
	return at, spans
}

// cover adds s, which ends behind all others.
func cover(spans []span, s span) []span {
	for len(spans) > 0 && spans[len(spans)-1].to >= s.from {
		s.from = min(s.from, spans[len(spans)-1].from)
		spans = spans[:len(spans)-1]
	}
	return append(spans, s)
}

// hide writes an asterisk over each byte of spans. What is before the text has been
// passed on already.
func hide(text []byte, spans []span) {
	for _, s := range spans {
		for i := max(s.from, 0); i < s.to; i++ {
			text[i] = '*'
		}
	}
}
