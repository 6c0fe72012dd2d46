package redact

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// longestEscape is the length of &#x10ffff; in bytes.
const longestEscape = 10

// unescape adds to dst what the escape at the beginning of b spells. It has size bytes;
// 0: b begins with none. Unfinished: b may be the beginning of one.
func unescape(dst, b []byte) (out []byte, size int, unfinished bool) {
	switch b[0] {
	case '%': // RFC 3986 section 2.1
		return digits(dst, b, 1, 2, 1)
	case '\\':
		return unescapeBackslash(dst, b)
	case '&':
		return unescapeEntity(dst, b)
	}
	return dst, 0, false
}

// unescapeBackslash knows the escapes of JSON (RFC 8259 section 7) and \x of
// JavaScript, but not those of control characters, which no secret holds.
func unescapeBackslash(dst, b []byte) ([]byte, int, bool) {
	if len(b) == 1 {
		return dst, 0, true
	}
	switch b[1] {
	case '"', '\\', '/', '\'':
		return append(dst, b[1]), 2, false
	case 'x':
		return digits(dst, b, 2, 2, utf8.RuneSelf)
	case 'u':
		return digits(dst, b, 2, 4, utf8.RuneSelf)
	}
	return dst, 0, false
}

// digits reads n hexadecimal digits at i. What they spell is a byte where many is 1,
// else a character.
func digits(dst, b []byte, i, n int, many rune) ([]byte, int, bool) {
	var r rune
	for k := i; k < i+n; k++ {
		if k == len(b) {
			return dst, 0, true
		}
		d := digit(b[k])
		if d < 0 {
			return dst, 0, false
		}
		r = r<<4 | d
	}
	if many == 1 {
		return append(dst, byte(r)), i + n, false
	}
	return utf8.AppendRune(dst, r), i + n, false
}

func digit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c - 'a' + 10)
	case 'A' <= c && c <= 'F':
		return rune(c - 'A' + 10)
	}
	return -1
}

// entities that stand for characters which HTML has a use for.
var entities = [...]struct {
	name string
	char byte
}{{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}

func unescapeEntity(dst, b []byte) ([]byte, int, bool) {
	if len(b) == 1 {
		return dst, 0, true
	}
	if b[1] == '#' {
		return unescapeNumber(dst, b)
	}
	for _, e := range entities {
		if bytes.HasPrefix(b, []byte(e.name)) {
			return append(dst, e.char), len(e.name), false
		}
		if len(b) < len(e.name) && strings.HasPrefix(e.name, string(b)) {
			return dst, 0, true
		}
	}
	return dst, 0, false
}

// unescapeNumber reads &#65; and &#x41;.
func unescapeNumber(dst, b []byte) ([]byte, int, bool) {
	i, base := 2, rune(10)
	if len(b) > 2 && (b[2] == 'x' || b[2] == 'X') {
		i, base = 3, 16
	}
	var r rune
	for first := i; i < min(len(b), longestEscape); i++ {
		if b[i] == ';' && i > first {
			return utf8.AppendRune(dst, r), i + 1, false
		}
		d := digit(b[i])
		if d < 0 || d >= base {
			return dst, 0, false
		}
		r = r*base + d
	}
	return dst, 0, len(b) < longestEscape
}

// finder goes through a text from one character that may begin an escape to the next.
type finder struct {
	text []byte
	at   [len(introducers)]int
}

const introducers = `%\&`

func newFinder(text []byte) finder {
	return finder{text: text, at: [len(introducers)]int{-1, -1, -1}}
}

// next is the first such character at or behind i; the length of the text where there
// is none.
func (f *finder) next(i int) int {
	first := len(f.text)
	for k := range f.at {
		if f.at[k] < i {
			n := bytes.IndexByte(f.text[i:], introducers[k])
			if f.at[k] = i + n; n < 0 {
				f.at[k] = len(f.text)
			}
		}
		first = min(first, f.at[k])
	}
	return first
}

// escape is where at i or behind it there is an escape, or at the end what may become
// one; the length of the text where there is none.
func (f *finder) escape(i int) int {
	var spelt [utf8.UTFMax]byte
	for i = f.next(i); i < len(f.text); i = f.next(i + 1) {
		if _, size, unfinished := unescape(spelt[:0], f.text[i:]); size > 0 || unfinished {
			break
		}
	}
	return i
}
