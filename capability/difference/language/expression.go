package language

import (
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
)

// expression accepts what a regular expression of RE2 matches as a whole. It runs the
// program of regexp/syntax on all its threads at once.
type expression struct {
	prog    *syntax.Prog
	context bool // it asks for more of what stands around a place than begin and end
	table[string]
	threads []thread
	steps   map[stepped]State

	seen  []uint32 // scratch: the round in which an instruction was reached
	round uint32
	todo  []uint32 // scratch
}

// thread is where the program stands, and behind which kind of character.
type thread struct {
	at     []uint32
	behind rune
}

// nothing is behind the first character and before the last.
const nothing rune = -1

// compiled is the machine of an expression, and whether texts of more than maxValue
// bytes could match it.
func compiled(expr string) (m Machine, long bool, err error) {
	tree, err := syntax.Parse(`\A(?:`+expr+`)\z`, syntax.Perl)
	if err != nil {
		return nil, false, fmt.Errorf("parse pattern: %w", err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, false, fmt.Errorf("compile pattern: %w", err)
	}
	e := &expression{prog: prog, steps: make(map[stepped]State)}
	for _, i := range prog.Inst {
		edges := syntax.EmptyBeginText | syntax.EmptyEndText
		e.context = e.context || i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&^edges != 0
	}
	longest := maxBytes(tree)
	return e, longest < 0 || longest > maxValue, nil
}

func (e *expression) Start() State { return e.state([]uint32{uint32(e.prog.Start)}, nothing) }

func (e *expression) state(at []uint32, behind rune) State {
	if len(at) == 0 {
		return Dead
	}
	slices.Sort(at)
	at = slices.Compact(at)
	key := binary.LittleEndian.AppendUint32(nil, uint32(behind))
	for _, pc := range at {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	id := e.id(string(key))
	if int(id) == len(e.threads) {
		e.threads = append(e.threads, thread{at, behind})
	}
	return id
}

// reach calls visit with every instruction that waits for a character, or is the end,
// between these two characters.
func (e *expression) reach(t thread, ahead rune, visit func(*syntax.Inst)) {
	between := syntax.EmptyOpContext(t.behind, ahead)
	if e.seen == nil {
		e.seen = make([]uint32, len(e.prog.Inst))
	}
	e.round++
	todo := append(e.todo[:0], t.at...)
	defer func() { e.todo = todo }()
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if e.seen[pc] == e.round {
			continue
		}
		e.seen[pc] = e.round
		switch i := &e.prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			todo = append(todo, i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^between == 0 {
				todo = append(todo, i.Out)
			}
		case syntax.InstFail:
		default:
			visit(i)
		}
	}
}

func (e *expression) Step(s State, r rune) State {
	at := stepped{s, r}
	if to, known := e.steps[at]; known {
		return to
	}
	var next []uint32
	e.reach(e.threads[s], r, func(i *syntax.Inst) {
		if i.Op != syntax.InstMatch && i.MatchRune(r) {
			next = append(next, i.Out)
		}
	})
	to := e.state(next, e.kind(r))
	e.steps[at] = to
	return to
}

// kind is one character for all that mean the same to whoever looks back at them.
func (e *expression) kind(r rune) rune {
	switch {
	case !e.context:
		return ' '
	case r == '\n':
		return r
	case syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

func (e *expression) Accepts(s State) bool {
	ends := false
	e.reach(e.threads[s], nothing, func(i *syntax.Inst) { ends = ends || i.Op == syntax.InstMatch })
	return ends
}

func (e *expression) Cut(c *Cuts) {
	if e.context {
		for _, r := range [][2]rune{{'\n', '\n'}, {'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}} {
			c.Range(r[0], r[1])
		}
	}
	for _, i := range e.prog.Inst {
		switch i.Op {
		case syntax.InstRuneAnyNotNL:
			c.Range('\n', '\n')
		case syntax.InstRune, syntax.InstRune1:
			cutRunes(c, i)
		}
	}
}

func cutRunes(c *Cuts, i syntax.Inst) {
	if len(i.Rune) == 1 {
		c.Range(i.Rune[0], i.Rune[0])
		if syntax.Flags(i.Arg)&syntax.FoldCase != 0 {
			for r := unicode.SimpleFold(i.Rune[0]); r != i.Rune[0]; r = unicode.SimpleFold(r) {
				c.Range(r, r)
			}
		}
		return
	}
	for k := 0; k+1 < len(i.Rune); k += 2 {
		c.Range(i.Rune[k], i.Rune[k+1])
	}
}

// maxBytes bounds the length of what re matches; -1 is no bound.
func maxBytes(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return 4 * len(re.Rune)
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 && re.Rune[n-1] < 0x80 {
			return 1
		}
		return 4
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4
	case syntax.OpStar, syntax.OpPlus:
		return -1
	}
	times, longest := 1, 0
	if re.Op == syntax.OpRepeat {
		times = re.Max
	}
	for _, sub := range re.Sub {
		n := maxBytes(sub)
		switch {
		case n < 0 || times < 0:
			return -1
		case re.Op == syntax.OpAlternate:
			longest = max(longest, n)
		default:
			longest += n * times
		}
	}
	return longest
}
