package main

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// asciiJSON is text, which is JSON, with every rune that a terminal should not get
// written as an escape. It says the same: such runes can only stand in strings.
func asciiJSON(text []byte) []byte {
	clean := true
	for _, b := range text {
		clean = clean && b >= ' ' && b < 0x7f
	}
	if clean {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, `\ufffd`...)
		case unicode.IsPrint(r):
			out = append(out, text[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}
