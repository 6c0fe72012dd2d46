// Package language compares sets of texts: what one pattern or path template matches
// and others do not.
//
//	slug, _ := language.Of(capability.Slug())
//	version := language.Words("v1", "v2")
//	text, found, err := language.Witness(language.NewBudget(), slug, version)
//	// text is "a": a slug that is neither v1 nor v2
//
// A Machine is a deterministic automaton over characters whose states are made when
// they are asked for, so that products and concatenations cost what is visited of them.
//
// Guarantees: a Machine accepts exactly what package capability matches; where Path
// says that it cannot be exact, it accepts more. A search that does not end within its
// Budget is an error, never an answer.
//
// Non-guarantees: texts are valid UTF-8; the length of a whole path or query is not
// modelled. A Machine is not for concurrent use.
package language

import "unicode/utf8"

// State is a state of a Machine. Dead is the one that nothing is accepted from.
type State int32

// Dead accepts nothing; a Machine is not asked to step from it.
const Dead State = -1

// Separator stands between the segments of a path, and Slash at its end where it ends
// in one. Neither can occur in a segment, where a slash that was encoded may.
const (
	Separator rune = 0
	Slash     rune = 1
)

// Machine is a deterministic automaton.
type Machine interface {
	Start() State
	Step(from State, by rune) State
	Accepts(s State) bool
	// Cut marks where ranges of characters begin that the machine tells apart.
	Cut(c *Cuts)
}

// Cuts are the characters at which some machine begins to behave differently.
type Cuts struct{ at map[rune]bool }

// Range marks the characters lo to hi.
func (c *Cuts) Range(lo, hi rune) { c.at[lo], c.at[hi+1] = true, true }

// table gives numbers to the states of a machine that is made of others.
type table[K comparable] struct {
	ids  map[K]State
	keys []K
}

func (t *table[K]) id(k K) State {
	if id, ok := t.ids[k]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = make(map[K]State)
	}
	id := State(len(t.keys))
	t.ids[k] = id
	t.keys = append(t.keys, k)
	return id
}

// words accepts a finite set of texts.
type words struct {
	next []map[rune]State
	end  []bool
}

// Words is the machine of these texts.
func Words(texts ...string) Machine {
	w := &words{next: []map[rune]State{{}}, end: []bool{false}}
	for _, t := range texts {
		at := State(0)
		for _, r := range t {
			to, ok := w.next[at][r]
			if !ok {
				to = State(len(w.next))
				w.next[at][r] = to
				w.next, w.end = append(w.next, map[rune]State{}), append(w.end, false)
			}
			at = to
		}
		w.end[at] = true
	}
	return w
}

func (w *words) Start() State         { return 0 }
func (w *words) Accepts(s State) bool { return w.end[s] }

func (w *words) Step(s State, r rune) State {
	if to, ok := w.next[s][r]; ok {
		return to
	}
	return Dead
}

func (w *words) Cut(c *Cuts) {
	for _, n := range w.next {
		for r := range n {
			c.Range(r, r)
		}
	}
}

// pair is two machines side by side.
type pair struct {
	a, b   Machine
	accept func(a, b bool) bool
	live   func(a, b bool) bool // whether something can still be accepted
	table[[2]State]
}

// And accepts what both accept.
func And(a, b Machine) Machine {
	both := func(a, b bool) bool { return a && b }
	return &pair{a: a, b: b, accept: both, live: both}
}

// Or accepts what one of them accepts.
func Or(a, b Machine) Machine {
	either := func(a, b bool) bool { return a || b }
	return &pair{a: a, b: b, accept: either, live: either}
}

func (p *pair) Start() State { return p.id([2]State{p.a.Start(), p.b.Start()}) }

func (p *pair) Step(s State, r rune) State {
	k := p.keys[s]
	a, b := step(p.a, k[0], r), step(p.b, k[1], r)
	if !p.live(a != Dead, b != Dead) {
		return Dead
	}
	return p.id([2]State{a, b})
}

func (p *pair) Accepts(s State) bool {
	k := p.keys[s]
	return p.accept(accepts(p.a, k[0]), accepts(p.b, k[1]))
}

func (p *pair) Cut(c *Cuts) {
	p.a.Cut(c)
	p.b.Cut(c)
}

func step(m Machine, s State, r rune) State {
	if s == Dead {
		return Dead
	}
	return m.Step(s, r)
}

func accepts(m Machine, s State) bool { return s != Dead && m.Accepts(s) }

// capped accepts what m accepts, up to a number of bytes.
type capped struct {
	m    Machine
	most int32
	table[[2]int32]
}

// AtMost accepts what m accepts, of at most that many bytes.
func AtMost(m Machine, bytes int) Machine { return &capped{m: m, most: int32(bytes)} }

func (c *capped) Start() State { return c.id([2]int32{int32(c.m.Start()), 0}) }

func (c *capped) Step(s State, r rune) State {
	k := c.keys[s]
	to, n := c.m.Step(State(k[0]), r), k[1]+int32(utf8.RuneLen(r))
	if to == Dead || n > c.most {
		return Dead
	}
	return c.id([2]int32{int32(to), n})
}

func (c *capped) Accepts(s State) bool { return c.m.Accepts(State(c.keys[s][0])) }

func (c *capped) Cut(cuts *Cuts) {
	c.m.Cut(cuts)
	for _, r := range []rune{utf8.RuneSelf, 1 << 11, 1 << 16} {
		cuts.Range(r, r-1)
	}
}

// remembered is a machine that does not compute a step twice.
type remembered struct {
	Machine
	rows [][]State // by state and ASCII character: the next state plus two, zero where it is not known
}

func remember(m Machine) Machine { return &remembered{Machine: m} }

func (m *remembered) Step(s State, r rune) State {
	if r >= utf8.RuneSelf {
		return m.Machine.Step(s, r)
	}
	for int(s) >= len(m.rows) {
		m.rows = append(m.rows, nil)
	}
	row := m.rows[s]
	if row == nil {
		row = make([]State, utf8.RuneSelf)
		m.rows[s] = row
	}
	if row[r] == 0 {
		row[r] = m.Machine.Step(s, r) + 2
	}
	return row[r] - 2
}
