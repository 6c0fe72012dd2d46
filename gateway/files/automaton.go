package files

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// automaton tells which lines an expression matches: a deterministic automaton over
// classes of characters, whose states are made when they are first needed. It is not
// safe for concurrent use; each worker has its own.
type automaton struct {
	prog   *syntax.Prog
	border []rune     // where a class begins; the first is 0
	ascii  [128]int32 // class of an ASCII character
	sample []rune     // a character of each class
	stride int

	next   []int32 // at a state's offset plus a class: the offset of the state after it
	states []nfaState
	known  map[string]int32 // to offsets, which are multiples of stride
	wide   map[rune]int32   // class of characters that have been looked up
	queue  []uint32
	seen   []uint32 // generation in which an instruction was reached
	turn   uint32
}

// nfaState is where the instructions stand before the next character is known.
type nfaState struct {
	at     []uint32
	before rune // what was before, as far as an empty width can tell: -1, 'a' or ' '
}

const (
	unmade  = 0 // not a state yet
	matched = 1 // the line matches; not an offset
	// maxTable bounds the table of an automaton, in entries of four bytes.
	maxTable = 2 << 20
)

func newAutomaton(prog *syntax.Prog) *automaton {
	a := &automaton{prog: prog, seen: make([]uint32, len(prog.Inst)), wide: map[rune]int32{}}
	a.divide()
	for c := range rune(128) {
		a.ascii[c] = a.classOf(c)
	}
	a.reset()
	return a
}

// divide finds the classes: characters between two borders are one to every instruction.
func (a *automaton) divide() {
	border := []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1, 0x80}
	add := func(low, high rune) { border = append(border, low, high+1) }
	for i := range a.prog.Inst {
		inst := &a.prog.Inst[i]
		switch {
		case inst.Op != syntax.InstRune && inst.Op != syntax.InstRune1:
		case len(inst.Rune) == 1:
			add(inst.Rune[0], inst.Rune[0])
			if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
				for c := unicode.SimpleFold(inst.Rune[0]); c != inst.Rune[0]; c = unicode.SimpleFold(c) {
					add(c, c)
				}
			}
		default:
			for j := 0; j+1 < len(inst.Rune); j += 2 {
				add(inst.Rune[j], inst.Rune[j+1])
			}
		}
	}
	slices.Sort(border)
	a.border = slices.Compact(border)
	a.sample = a.border
	a.stride = len(a.border)
}

func (a *automaton) classOf(c rune) int32 {
	i, found := slices.BinarySearch(a.border, c)
	if !found {
		i--
	}
	return int32(i)
}

// reset forgets all states but the first.
func (a *automaton) reset() {
	a.known, a.states = map[string]int32{}, make([]nfaState, 1)
	a.next = make([]int32, a.stride, 64*a.stride)
	a.add(nfaState{at: []uint32{uint32(a.prog.Start)}, before: -1})
}

func (a *automaton) add(s nfaState) int {
	key := make([]byte, 0, 4*len(s.at)+1)
	key = append(key, byte(s.before))
	for _, pc := range s.at {
		key = binary.NativeEndian.AppendUint32(key, pc)
	}
	if id, ok := a.known[string(key)]; ok {
		return int(id)
	}
	id := len(a.states) * a.stride
	a.known[string(key)] = int32(id)
	a.states = append(a.states, s)
	a.next = append(a.next, make([]int32, a.stride)...)
	return id
}

// find is where in text the first line that matches has matched, or -1. The text is
// whole lines, but that the last may have no line end.
func (a *automaton) find(text []byte) int {
	state, next := a.stride, a.next
	for i := 0; i < len(text); {
		class, size := a.ascii[text[i]&0x7f], 1
		if text[i] >= utf8.RuneSelf {
			var c rune
			c, size = utf8.DecodeRune(text[i:])
			class = a.wideClass(c)
		}
		to := int(next[state+int(class)])
		if to <= matched {
			if to == unmade {
				to = a.step(state, int(class))
				next = a.next
			}
			if to == matched {
				return i
			}
		}
		state = to
		i += size
	}
	if len(text) > 0 && text[len(text)-1] != '\n' && a.step(state, int(a.ascii['\n'])) == matched {
		return len(text) - 1
	}
	return -1
}

func (a *automaton) wideClass(c rune) int32 {
	class, ok := a.wide[c]
	if !ok {
		class = a.classOf(c)
		if len(a.wide) < 1<<14 {
			a.wide[c] = class
		}
	}
	return class
}

// step is the state after a character of the class; at the end of a line, the first.
func (a *automaton) step(state, class int) int {
	if len(a.next) > maxTable {
		s := a.states[state/a.stride]
		a.reset()
		state = a.add(s)
	}
	s, c := a.states[state/a.stride], a.sample[class]
	pcs, match := a.close(s, c)
	to := a.stride // the first state
	switch {
	case match:
		to = matched
	case c != '\n':
		to = a.add(a.consume(pcs, c))
	}
	a.next[state+class] = int32(to)
	return to
}

// close follows everything that takes no character, with what is before and after.
func (a *automaton) close(s nfaState, after rune) (pcs []uint32, match bool) {
	flags := syntax.EmptyOpContext(s.before, after)
	if after == '\n' {
		flags |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	if s.before == -1 {
		flags |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	a.turn++
	stack := a.queue[:0]
	for i := len(s.at) - 1; i >= 0; i-- {
		stack = append(stack, s.at[i])
	}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if a.seen[pc] == a.turn {
			continue
		}
		a.seen[pc] = a.turn
		switch inst := &a.prog.Inst[pc]; inst.Op {
		case syntax.InstMatch:
			match = true
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Arg, inst.Out)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			pcs = append(pcs, pc)
		}
	}
	a.queue = stack
	return pcs, match
}

// consume takes the character; a match may also begin after it.
func (a *automaton) consume(pcs []uint32, c rune) nfaState {
	to := []uint32{uint32(a.prog.Start)}
	for _, pc := range pcs {
		if inst := &a.prog.Inst[pc]; inst.MatchRune(c) {
			to = append(to, inst.Out)
		}
	}
	slices.Sort(to)
	s := nfaState{at: slices.Compact(to), before: ' '}
	if syntax.IsWordChar(c) {
		s.before = 'a'
	}
	return s
}

// lineAround is the line of text that i is in, without its end.
func lineAround(text []byte, i int) (from, to int) {
	from = bytes.LastIndexByte(text[:i], '\n') + 1
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return from, i + n
	}
	return from, len(text)
}
