package canary

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds of a search, so that a sink full of garbage does not take forever.
const (
	window  = 8       // characters by which a spelling is recognised, and the shortest piece that counts
	deepest = 3       // encodings inside each other
	longest = 4 << 20 // bytes of one text, and of what is decoded from it

	remembered = 1 << 18 // texts that are not looked at again
)

// search looks for several canaries at once.
type search struct {
	canaries []Canary
	begins   map[string][]form    // by the first window of a spelling
	pieces   map[string][]pieceAt // by every window of a plain value
	seen     map[string]bool
	whole    []*Finding // by canary
	partial  []*Finding
}

type pieceAt struct{ canary, at int }

func newSearch(canaries []Canary) *search {
	s := &search{canaries: canaries, begins: map[string][]form{}, pieces: map[string][]pieceAt{}, seen: map[string]bool{},
		whole: make([]*Finding, len(canaries)), partial: make([]*Finding, len(canaries))}
	for i, c := range canaries {
		for _, f := range forms(i, c.Value) {
			s.begins[f.text[:window]] = append(s.begins[f.text[:window]], f)
		}
		for at := 0; at+window <= len(c.Value); at++ {
			w := c.Value[at : at+window]
			s.pieces[w] = append(s.pieces[w], pieceAt{i, at})
		}
	}
	return s
}

// look searches a text and everything that can be decoded from it.
func (s *search) look(text, where string, flow int) { s.within(text, nil, where, flow) }

func (s *search) within(text string, outer []string, where string, flow int) {
	text = text[:min(len(text), longest)]
	if len(text) < window || s.seen[text] {
		return
	}
	if len(s.seen) < remembered && len(text) < 4096 {
		s.seen[text] = true
	}
	s.scan(strings.ToLower(text), outer, where, flow)
	if len(outer) == deepest {
		return
	}
	for _, d := range decoded(text, len(outer) > 0 && outer[len(outer)-1] == separators) {
		s.within(d.text, append(slices.Clip(outer), d.name), where, flow)
	}
}

func (s *search) scan(text string, outer []string, where string, flow int) {
	for at := 0; at+window <= len(text); at++ {
		w := text[at : at+window]
		for _, f := range s.begins[w] {
			if s.whole[f.canary] == nil && strings.HasPrefix(text[at:], f.text) {
				s.whole[f.canary] = s.finding(f.canary, append(slices.Clip(outer), f.name), where, flow, Length)
			}
		}
		for _, p := range s.pieces[w] {
			s.piece(p, text[at:], outer, where, flow)
		}
	}
}

// piece keeps the longest piece of a value.
func (s *search) piece(p pieceAt, text string, outer []string, where string, flow int) {
	rest, n := s.canaries[p.canary].Value[p.at:], 0
	for n < min(len(rest), len(text)) && rest[n] == text[n] {
		n++
	}
	if before := s.partial[p.canary]; before == nil || before.Bits < 5*n {
		s.partial[p.canary] = s.finding(p.canary, append(slices.Clip(outer), "plain"), where, flow, n)
	}
}

func (s *search) finding(canary int, form []string, where string, flow, characters int) *Finding {
	return &Finding{Canary: s.canaries[canary].Name, Form: strings.Join(form, ", "), Where: where, Flow: flow, Bits: 5 * characters}
}

func (s *search) findings() []Finding {
	var all []Finding
	for i := range s.canaries {
		if f := cmp.Or(s.whole[i], s.partial[i]); f != nil {
			all = append(all, *f)
		}
	}
	return all
}
