package language

import (
	"encoding/binary"
	"slices"
)

// sequence accepts what its parts accept one after the other. Where one part ends and
// the next begins may be open, so that a state is a set of places.
type sequence struct {
	parts []Machine
	table[string]
	places [][]place
	steps  map[stepped]State
}

type place struct {
	part  int32
	state State
}

type stepped struct {
	from State
	by   rune
}

// Concat accepts a text of the first part, then one of the second, and so on.
func Concat(parts ...Machine) Machine {
	if len(parts) == 1 {
		return parts[0]
	}
	return &sequence{parts: parts, steps: make(map[stepped]State)}
}

func (q *sequence) Start() State { return q.state(q.enter(nil, 0)) }

// enter adds the start of part i, and of those behind it that can be reached without a
// character.
func (q *sequence) enter(set []place, i int) []place {
	for ; i < len(q.parts); i++ {
		start := q.parts[i].Start()
		set = append(set, place{int32(i), start})
		if !q.parts[i].Accepts(start) {
			break
		}
	}
	return set
}

func (q *sequence) state(set []place) State {
	if len(set) == 0 {
		return Dead
	}
	slices.SortFunc(set, func(a, b place) int {
		if a.part != b.part {
			return int(a.part - b.part)
		}
		return int(a.state - b.state)
	})
	set = slices.Compact(set)
	key := make([]byte, 0, 8*len(set))
	for _, p := range set {
		key = binary.LittleEndian.AppendUint32(key, uint32(p.part))
		key = binary.LittleEndian.AppendUint32(key, uint32(p.state))
	}
	id := q.id(string(key))
	if int(id) == len(q.places) {
		q.places = append(q.places, set)
	}
	return id
}

func (q *sequence) Step(s State, r rune) State {
	at := stepped{s, r}
	if to, known := q.steps[at]; known {
		return to
	}
	var set []place
	for _, p := range q.places[s] {
		to := q.parts[p.part].Step(p.state, r)
		if to == Dead {
			continue
		}
		set = append(set, place{p.part, to})
		if q.parts[p.part].Accepts(to) {
			set = q.enter(set, int(p.part)+1)
		}
	}
	to := q.state(set)
	q.steps[at] = to
	return to
}

func (q *sequence) Accepts(s State) bool {
	last := len(q.parts) - 1
	for _, p := range q.places[s] {
		if int(p.part) == last && q.parts[last].Accepts(p.state) {
			return true
		}
	}
	return false
}

func (q *sequence) Cut(c *Cuts) {
	for _, p := range q.parts {
		p.Cut(c)
	}
}

// list accepts one or more texts of m with a Separator between them.
type list struct{ m Machine }

func (l list) Start() State         { return l.m.Start() }
func (l list) Accepts(s State) bool { return l.m.Accepts(s) }

func (l list) Step(s State, r rune) State {
	if r != Separator {
		return l.m.Step(s, r)
	}
	if l.m.Accepts(s) {
		return l.m.Start()
	}
	return Dead
}

func (l list) Cut(c *Cuts) {
	l.m.Cut(c)
	c.Range(Separator, Separator)
}

// within accepts the texts of m that can stand in one segment; a slash in it is one
// that was encoded, and is left out where plain.
type within struct {
	m     Machine
	plain bool
}

func (w within) Start() State         { return w.m.Start() }
func (w within) Accepts(s State) bool { return w.m.Accepts(s) }

func (w within) Step(s State, r rune) State {
	if r == Separator || r == Slash || w.plain && r == '/' {
		return Dead
	}
	return w.m.Step(s, r)
}

func (w within) Cut(c *Cuts) {
	w.m.Cut(c)
	c.Range(Separator, Slash)
	c.Range('/', '/')
}

// across accepts the texts of m as several segments: every slash stands between two.
type across struct{ m Machine }

func (a across) Start() State         { return a.m.Start() }
func (a across) Accepts(s State) bool { return a.m.Accepts(s) }

func (a across) Step(s State, r rune) State {
	switch r {
	case Separator:
		return a.m.Step(s, '/')
	case '/', Slash:
		return Dead
	}
	return a.m.Step(s, r)
}

func (a across) Cut(c *Cuts) {
	a.m.Cut(c)
	c.Range(Separator, Slash)
	c.Range('/', '/')
}

// before accepts the texts behind which a literal occurs for the first time (Knuth,
// Morris, Pratt): that is where a variable of a template ends.
type before struct {
	literal []rune
	fail    []int
	good    []bool
}

func firstBefore(literal string) Machine {
	b := &before{literal: []rune(literal)}
	n := len(b.literal)
	b.fail = make([]int, n+1)
	for i, k := 1, 0; i < n; i++ {
		for k > 0 && b.literal[i] != b.literal[k] {
			k = b.fail[k]
		}
		if b.literal[i] == b.literal[k] {
			k++
		}
		b.fail[i+1] = k
	}
	b.good = make([]bool, n)
	for s := range n {
		at, early := s, false
		for i, r := range b.literal {
			at = b.advance(at, r)
			early = early || at == n && i < n-1
		}
		b.good[s] = !early
	}
	return b
}

func (b *before) advance(s int, r rune) int {
	for s == len(b.literal) || s > 0 && b.literal[s] != r {
		s = b.fail[s]
	}
	if b.literal[s] == r {
		s++
	}
	return s
}

func (b *before) Start() State         { return 0 }
func (b *before) Accepts(s State) bool { return b.good[s] }

func (b *before) Step(s State, r rune) State {
	if to := b.advance(int(s), r); to < len(b.literal) {
		return State(to)
	}
	return Dead
}

func (b *before) Cut(c *Cuts) {
	for _, r := range b.literal {
		c.Range(r, r)
	}
}
