package redact

// Stream hides secrets in a text that comes in pieces. The text is read twice: as it
// is, and as its escapes spell it.
type Stream struct {
	a     *automaton
	held  []byte // received and not passed on: it may be the beginning of a form
	plain uint32 // the state of the text as it is
	same  bool   // reading escapes has changed nothing about what is held
	spelt spelling
	lead  int // bytes at the beginning that are still to be hidden

	joined []byte
	spans  []span
}

func newStream(a *automaton) *Stream { return &Stream{a: a, same: true} }

// Next takes a piece and returns what can be passed on, which is valid until the next
// call. It writes into piece.
func (s *Stream) Next(piece []byte) []byte {
	if s.a == nil || len(piece) == 0 {
		return piece
	}
	text, from := piece, len(s.held)
	if from > 0 {
		s.joined = append(append(s.joined[:0], s.held...), piece...)
		text = s.joined
	}
	before := s.plain
	s.plain, s.spans = s.a.scan(before, text, from, s.spans[:0])
	keep := int(s.a.states[s.plain].length)
	spelt := s.readEscapes(before, text, from)
	hide(text, s.spans)
	keep = max(keep, spelt)
	s.held = append(s.held[:0], text[len(text)-keep:]...)
	s.spelt.rebase(len(text) - keep)
	return s.begin(text[:len(text)-keep])
}

// readEscapes reads text[from:] as it is spelt, hides what it finds and returns how
// many bytes at the end it wants to see again.
func (s *Stream) readEscapes(before uint32, text []byte, from int) (keep int) {
	if s.same {
		if !escapes(text[from:]) {
			return 0
		}
		s.spelt.start(before, from-int(s.a.states[before].length), from)
	}
	var spans []span
	keep, spans = s.spelt.scan(s.a, text, from)
	hide(text, spans)
	s.same = s.spelt.state == s.plain && keep == int(s.a.states[s.plain].length)
	return keep
}

// begin hides what the first bytes of the whole text are known to be.
func (s *Stream) begin(out []byte) []byte {
	n := min(s.lead, len(out))
	hide(out, []span{{0, n}})
	s.lead -= n
	return out
}

// End returns what was held back, at the end of the text.
func (s *Stream) End() []byte {
	if len(s.held) == 0 {
		return nil
	}
	end := len(s.held)
	hide(s.held, []span{{end - int(s.a.states[s.plain].last), end}})
	if !s.same {
		hide(s.held, []span{s.spelt.last(s.a)})
	}
	out := s.begin(s.held)
	*s = *newStream(s.a)
	return out
}
