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
	s.spans, s.spelt.spans = s.spans[:0], s.spelt.spans[:0]
	f := newFinder(text)
	for at := from; at < len(text); {
		at = s.advance(&f, text, at)
	}
	hide(text, s.spans)
	hide(text, s.spelt.spans)
	keep := min(max(int(s.a.states[s.plain].keep), s.spelt.keep), len(text))
	s.held = append(s.held[:0], text[len(text)-keep:]...)
	s.spelt.rebase(len(text) - keep)
	return s.begin(text[:len(text)-keep])
}

// length of what the text as it is ends in.
func (s *Stream) length() int { return int(s.a.states[s.plain].length) }

// stride is how much is read twice at a time, in bytes.
const stride = 256

// advance reads on from at: what is before the next escape once, what is behind it
// twice, until both readings have come to the same.
func (s *Stream) advance(f *finder, text []byte, at int) int {
	if s.same {
		next := f.escape(at)
		s.plain, s.spans = s.a.scan(s.plain, text[:next], at, s.spans)
		if next == len(text) {
			return next
		}
		at = next
		s.spelt.start(s.plain, at-s.length(), at)
	}
	to := min(at+stride, len(text))
	s.plain, s.spans = s.a.scan(s.plain, text[:to], at, s.spans)
	s.spelt.scan(s.a, text[:to], at)
	if s.same = s.spelt.state == s.plain && s.spelt.extent == s.length(); s.same {
		s.spelt.keep = 0
	}
	return to
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
	if s.a == nil {
		return nil
	}
	s.hideLast()
	if !s.same {
		hide(s.held, s.spelt.finish(s.a))
	}
	out := s.begin(s.held)
	s.held, s.plain, s.same, s.lead = s.held[:0], 0, true, 0
	s.spelt.reset()
	return out
}

// Flush returns what was held back where the text makes a pause. It may have been the
// beginning of a form: the rest of that will be hidden.
func (s *Stream) Flush() []byte {
	if s.a == nil {
		return nil
	}
	s.hideLast()
	if !s.same {
		hide(s.held, []span{s.spelt.last(s.a)})
	}
	out := s.begin(s.held)
	s.spelt.rebase(len(out))
	s.held = s.held[:0]
	return out
}

func (s *Stream) hideLast() {
	end := len(s.held)
	hide(s.held, []span{{end - int(s.a.states[s.plain].last), end}})
}
