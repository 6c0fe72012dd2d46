package redact

import "slices"

// spelling reads a text as its escapes spell it, and knows where in the text each
// character was.
type spelling struct {
	state      uint32
	places     []int  // where the characters of the state's text begin
	unfinished []byte // the end of the text, if an escape may begin there
	end        int    // where the last character ends
	extent     int    // how many bytes at the end the state's text is, and what is unfinished
	keep       int    // how many of them are to be held back
	spans      []span // what is to be hidden

	text  []byte
	marks []mark
}

// mark says that the character at to, and those behind it up to the next mark, are
// those from place on.
type mark struct{ to, place int }

// start begins in the middle of a text in which there was no escape: the text of state
// is what stands between from and end.
func (v *spelling) start(state uint32, from, end int) {
	v.state, v.unfinished, v.end, v.places = state, v.unfinished[:0], end, v.places[:0]
	for i := from; i < end; i++ {
		v.places = append(v.places, i)
	}
}

// reset forgets the text.
func (v *spelling) reset() {
	v.state, v.keep = 0, 0
	v.places, v.unfinished = v.places[:0], v.unfinished[:0]
}

// scan goes on with text[from:].
func (v *spelling) scan(a *automaton, text []byte, from int) {
	v.begin()
	v.read(text[from:], from)
	var found []span
	v.state, found = a.scan(v.state, v.text, len(v.places), nil)
	v.end = len(text) - len(v.unfinished)
	for _, s := range found {
		v.spans = append(v.spans, span{v.place(s.from), v.place(s.to)})
	}
	first := len(v.text) - int(a.states[v.state].length)
	v.extent = len(text) - v.place(first)
	v.keep = len(text) - v.place(len(v.text)-int(a.states[v.state].keep))
	v.places = v.places[:0]
	for i := first; i < len(v.text); i++ {
		v.places = append(v.places, v.place(i))
	}
}

// begin puts characters in the place of those of the state, which are not read again.
func (v *spelling) begin() {
	v.text, v.marks = slices.Grow(v.text[:0], len(v.places))[:len(v.places)], v.marks[:0]
	for i, p := range v.places {
		v.marks = append(v.marks, mark{i, p})
	}
}

// read spells piece, which begins at from.
func (v *spelling) read(piece []byte, from int) {
	from -= len(v.unfinished)
	if len(v.unfinished) > 0 {
		piece = slices.Concat(v.unfinished, piece)
		v.unfinished = v.unfinished[:0]
	}
	v.marks = append(v.marks, mark{len(v.text), from})
	f := newFinder(piece)
	for i := 0; i < len(piece); {
		next := f.next(i)
		v.text = append(v.text, piece[i:next]...)
		if next == len(piece) {
			break
		}
		size := v.escape(piece[next:], from+next)
		if size < 0 {
			v.unfinished = append(v.unfinished, piece[next:]...)
			break
		}
		i = next + size
	}
}

// escape spells what b begins with: an escape, or one character. It returns how many
// bytes that is; less than 0: it cannot be told yet.
func (v *spelling) escape(b []byte, place int) int {
	to := len(v.text)
	spelt, size, unfinished := unescape(v.text, b)
	switch {
	case unfinished:
		return -1
	case size == 0:
		v.text = append(v.text, b[0])
		return 1
	}
	v.text = spelt
	for ; to < len(v.text); to++ {
		v.marks = append(v.marks, mark{to, place})
	}
	v.marks = append(v.marks, mark{to, place + size})
	return size
}

// place is where character i begins.
func (v *spelling) place(i int) int {
	k, found := slices.BinarySearchFunc(v.marks, i, func(m mark, i int) int { return m.to - i })
	if !found {
		k--
	}
	// Of several marks for one character the last counts.
	for k+1 < len(v.marks) && v.marks[k+1].to == i {
		k++
	}
	return v.marks[k].place + i - v.marks[k].to
}

// rebase makes places count from by on.
func (v *spelling) rebase(by int) {
	for i := range v.places {
		v.places[i] -= by
	}
	v.end -= by
}

// finish finds what is to be hidden where the text ends: in the middle of an escape, or
// with what now is none.
func (v *spelling) finish(a *automaton) []span {
	v.spans = append(v.spans[:0], v.last(a))
	for _, c := range v.unfinished {
		v.state = a.step(v.state, c)
		v.places = append(v.places, v.end)
		v.end++
		v.spans = append(v.spans, v.behind(a.states[v.state].hide))
	}
	v.unfinished = v.unfinished[:0]
	return append(v.spans, v.last(a))
}

// last is what is to be hidden where the text ends or pauses, in the middle of an
// escape perhaps.
func (v *spelling) last(a *automaton) span {
	s := v.behind(a.states[v.state].last)
	if s.to > s.from {
		s.to += len(v.unfinished)
	}
	return s
}

// behind are the last n characters.
func (v *spelling) behind(n uint32) span {
	if n == 0 {
		return span{}
	}
	return span{v.places[len(v.places)-int(n)], v.end}
}
