package redact

import (
	"encoding/binary"
	"math/bits"
)

// skips pass over text in which no form begins (Wu and Manber, A fast algorithm for
// multi-pattern searching, 1994): three characters at the end of a window say how far
// away the next beginning is at least.
type skips struct {
	window int
	table  []uint8
	shift  uint // of the hash, for the size of the table
}

const block = 3

// newSkips looks for what forms begin with, window characters of each, four at least.
func newSkips(forms []string, window int) skips {
	window = min(window, 255)
	size := min(max(bits.Len(uint(len(forms)*window))+4, 12), 18)
	k := skips{window: window, table: make([]uint8, 1<<size), shift: uint(32 - size)}
	for i := range k.table {
		k.table[i] = uint8(window - block + 1)
	}
	for _, f := range forms {
		for end := block; end <= window; end++ {
			far := &k.table[k.hash(uint32(f[end-1])<<24|uint32(f[end-2])<<16|uint32(f[end-3])<<8)]
			*far = min(*far, uint8(window-end))
		}
	}
	return k
}

// hash is of the upper three bytes of four.
func (k *skips) hash(four uint32) uint32 { return four &^ 0xff * 0x9e3779b1 >> k.shift }

// next is the first place from i on where a form could begin: there, or too near the
// end to tell.
func (k *skips) next(text []byte, i int) int {
	for end := i + k.window; end <= len(text); {
		far := k.table[k.hash(binary.LittleEndian.Uint32(text[end-4:end]))]
		if far == 0 {
			return end - k.window
		}
		end += int(far)
		i = end - k.window
	}
	return i
}
