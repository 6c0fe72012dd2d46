package proxy

import (
	"bytes"
	"sync/atomic"
)

// finder looks for texts in a body that passes. A placeholder there is left alone: a
// body is written by whoever sends it, and an agent may well quote its environment.
type finder struct {
	texts []string
	tail  []byte // of what has passed, shorter than the longest text
	found atomic.Bool
}

// look takes the next piece.
func (f *finder) look(piece []byte) {
	if len(f.texts) == 0 || len(piece) == 0 || f.found.Load() {
		return
	}
	longest := 0
	for _, text := range f.texts {
		longest = max(longest, len(text))
	}
	seam := append(f.tail, piece[:min(len(piece), longest)]...)
	for _, text := range f.texts {
		if bytes.Contains(seam, []byte(text)) || bytes.Contains(piece, []byte(text)) {
			f.found.Store(true)
			return
		}
	}
	if len(piece) >= longest {
		seam = piece
	}
	f.tail = append(f.tail[:0], seam[max(0, len(seam)-longest+1):]...)
}
