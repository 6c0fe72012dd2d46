package language

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
)

// ErrTooLarge is the error of a search that its budget did not suffice for.
var ErrTooLarge = errors.New("too large to compare")

// Budget bounds how many states searches visit.
type Budget struct {
	each int
	all  *int
}

// Bounds of a Budget.
const (
	eachSearch  = 20_000
	quickSearch = 1_500
	allSearches = 3_000_000
)

// NewBudget is a full Budget.
func NewBudget() *Budget {
	all := allSearches
	return &Budget{each: eachSearch, all: &all}
}

// Quick is b for searches whose answer is not worth much: they end soon.
func (b *Budget) Quick() *Budget { return &Budget{each: quickSearch, all: b.all} }

// search is one walk over a product of machines, breadth first.
type search struct {
	in, out []Machine
	by      []rune
	seen    map[string]bool
	visited []visit
	next    []State // scratch
	key     []byte  // scratch
}

type visit struct {
	states []State
	from   int32
	by     rune
}

// Witness is a shortest text that in accepts and no machine of out does.
func Witness(b *Budget, in Machine, out ...Machine) (text string, found bool, err error) {
	return Common(b, []Machine{in}, out...)
}

// Common is a shortest text that every machine of in accepts and none of out does.
func Common(b *Budget, in []Machine, out ...Machine) (text string, found bool, err error) {
	s := &search{in: in, out: out, seen: make(map[string]bool)}
	s.by = representatives(append(slices.Clone(in), out...))
	start := make([]State, 0, len(in)+len(out))
	for _, m := range slices.Concat(in, out) {
		start = append(start, m.Start())
	}
	if slices.Contains(start[:len(in)], Dead) {
		return "", false, nil
	}
	s.add(start, -1, 0)
	for at := 0; at < len(s.visited); at++ {
		if *b.all--; at >= b.each || *b.all <= 0 {
			return "", false, ErrTooLarge
		}
		if s.accepts(s.visited[at].states) {
			return s.text(at), true, nil
		}
		for _, r := range s.by {
			if to := s.step(s.visited[at].states, r); to != nil {
				s.add(to, int32(at), r)
			}
		}
	}
	return "", false, nil
}

func (s *search) add(states []State, from int32, by rune) {
	s.key = s.key[:0]
	for _, x := range states {
		s.key = binary.LittleEndian.AppendUint32(s.key, uint32(x))
	}
	if !s.seen[string(s.key)] {
		s.seen[string(s.key)] = true
		s.visited = append(s.visited, visit{slices.Clone(states), from, by})
	}
}

// step is nil where a machine of in accepts nothing any more. It is overwritten by the
// next.
func (s *search) step(states []State, r rune) []State {
	s.next = append(s.next[:0], states...)
	to := s.next
	for i, m := range s.in {
		if to[i] = m.Step(states[i], r); to[i] == Dead {
			return nil
		}
	}
	for i, m := range s.out {
		to[len(s.in)+i] = step(m, states[len(s.in)+i], r)
	}
	return to
}

func (s *search) accepts(states []State) bool {
	for i, m := range s.in {
		if !m.Accepts(states[i]) {
			return false
		}
	}
	for i, m := range s.out {
		if accepts(m, states[len(s.in)+i]) {
			return false
		}
	}
	return true
}

func (s *search) text(at int) string {
	var runes []rune
	for ; s.visited[at].from >= 0; at = int(s.visited[at].from) {
		runes = append(runes, s.visited[at].by)
	}
	slices.Reverse(runes)
	return string(runes)
}

// plain are the characters that a person reads best, in the order in which they are
// taken for an example.
const plain = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.@:"

// representatives has one character for each class that the machines tell apart.
func representatives(machines []Machine) []rune {
	c := &Cuts{at: map[rune]bool{0: true, 0xd800: true, 0xe000: true, 0x80: true, 0x800: true, 0x10000: true, 0x110000: true}}
	for _, m := range machines {
		m.Cut(c)
	}
	cuts := slices.Sorted(maps.Keys(c.at))
	var out []rune
	for i := 0; i+1 < len(cuts); i++ {
		lo, hi := cuts[i], cuts[i+1]-1
		if lo < 0 || lo >= 0xd800 && lo < 0xe000 || lo > 0x10ffff {
			continue
		}
		out = append(out, nicest(lo, hi))
	}
	slices.SortStableFunc(out, func(a, b rune) int { return rank(a) - rank(b) })
	return out
}

func nicest(lo, hi rune) rune {
	for _, r := range plain {
		if lo <= r && r <= hi {
			return r
		}
	}
	for r := lo; r <= hi && r < 0x7f; r++ {
		if r >= ' ' {
			return r
		}
	}
	return lo
}

func rank(r rune) int {
	if i := strings.IndexRune(plain, r); i >= 0 {
		return i
	}
	return len(plain) + int(r)
}
