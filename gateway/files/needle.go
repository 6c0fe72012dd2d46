package files

import (
	"bytes"
	"strings"
)

// needle is a text that is looked for by its rarest byte, which the processor finds many
// bytes at a time.
type needle struct {
	text  string // in lower case with fold
	fold  bool   // ASCII letters in any case
	rare  int    // index of the rarest byte
	lower byte
	upper byte // the same where there is one spelling only
}

func newNeedle(text string, fold bool) needle {
	n := needle{text: text, fold: fold}
	for i := range len(text) {
		if rarity(text[i]) > rarity(text[n.rare]) {
			n.rare = i
		}
	}
	if text == "" {
		return n
	}
	n.lower, n.upper = text[n.rare], text[n.rare]
	if fold && n.lower >= 'a' && n.lower <= 'z' {
		n.upper = n.lower - 'a' + 'A'
	}
	return n
}

// frequent has bytes of source text and prose, the most frequent first.
const frequent = " etaoinsrl\ndcumpfhg\t.,_b(y)v\"-=w/:;*{}k'0x1[]2><TSECAIRjqzPNDLOFM&BG+U3H4#|8W56$97@V!?XK\\JYQZ"

func rarity(b byte) int {
	if i := strings.IndexByte(frequent, b); i >= 0 {
		return i
	}
	return len(frequent)
}

// worth says how much of a text the needle rules out.
func (n needle) worth() int {
	if n.text == "" {
		return 0
	}
	return 10*len(n.text) + rarity(n.text[n.rare])
}

// index is where the needle is in text first, or -1.
func (n needle) index(text []byte) int {
	if n.lower == n.upper {
		return n.indexOne(text)
	}
	last := len(text) - len(n.text) + n.rare // of the rare byte
	low, up := -1, -1
	for at := n.rare; at <= last; {
		if low < at {
			low = next(text, at, last, n.lower)
		}
		if up < at {
			up = next(text, at, last, n.upper)
		}
		first := min(low, up)
		if first > last {
			return -1
		}
		if n.at(text, first-n.rare) {
			return first - n.rare
		}
		at = first + 1
	}
	return -1
}

func (n needle) indexOne(text []byte) int {
	last := len(text) - len(n.text) + n.rare
	for at := n.rare; at <= last; {
		at = next(text, at, last, n.lower)
		if at > last {
			return -1
		}
		if n.at(text, at-n.rare) {
			return at - n.rare
		}
		at++
	}
	return -1
}

// next is where b is from at to last, or what is after last.
func next(text []byte, at, last int, b byte) int {
	if i := bytes.IndexByte(text[at:last+1], b); i >= 0 {
		return at + i
	}
	return last + 1
}

func (n needle) at(text []byte, i int) bool {
	if !n.fold {
		return string(text[i:i+len(n.text)]) == n.text
	}
	for j := range len(n.text) {
		b := text[i+j]
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != n.text[j] {
			return false
		}
	}
	return true
}
