package trim

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// sight is what was made visible in a text.
type sight struct {
	controls  int // control characters, shown as symbols
	invalid   int // bytes that are not UTF-8, shown as U+FFFD
	invisible map[rune]int
}

// unit is one character of a text, or one byte that is none, and how it is shown.
type unit struct {
	size  int // bytes in the text; 0 at its end
	char  rune
	shown string // empty: as it is
}

// next is the first unit of b. before is the character in front of it, 0 for none.
func next(b []byte, before rune) unit {
	if len(b) == 0 {
		return unit{}
	}
	char, size := utf8.DecodeRune(b)
	u := unit{size: size, char: char}
	switch {
	case char == utf8.RuneError && size == 1:
		u.shown = "\uFFFD"
	case char == '\r' && len(b) > 1 && b[1] == '\n', char == '\t', char == '\n':
	case char < ' ':
		u.shown = string('\u2400' + char)
	case char == 0x7f:
		u.shown = "\u2421"
	case char >= 0x80 && char < 0xa0 || invisible(char) && !(joins(char, before)):
		u.shown = fmt.Sprintf("<U+%04X>", char)
	}
	return u
}

// show appends u, which stands at the beginning of b, and takes note of what it hides.
func (s *sight) show(dst, b []byte, u unit) []byte {
	switch {
	case u.shown == "":
		return append(dst, b[:u.size]...)
	case u.char == utf8.RuneError && u.size == 1:
		s.invalid++
	case invisible(u.char):
		if s.invisible == nil {
			s.invisible = make(map[rune]int)
		}
		s.invisible[u.char]++
	default:
		s.controls++
	}
	return append(dst, u.shown...)
}

// width is how many bytes u takes when it is shown.
func (u unit) width() int {
	if u.shown == "" {
		return u.size
	}
	return len(u.shown)
}

// visible is the whole of text as it is shown.
func (s *sight) visible(text string) string {
	if plain(text) {
		return text
	}
	b := []byte(text)
	out := make([]byte, 0, len(b)+16)
	var before rune
	for len(b) > 0 {
		u := next(b, before)
		out = s.show(out, b, u)
		b, before = b[u.size:], u.char
	}
	return string(out)
}

// plain reports whether every byte of text is printable ASCII, a tab or a line feed.
func plain(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' && r != '\t' }) < 0
}

// invisible reports whether a character has no glyph of its own: the format characters
// and other default ignorables of Unicode 16, and the separators that end a line for some
// programs only. They can hide text from people, or show it in another order.
func invisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x3164, r == 0xfeff, r == 0xffa0,
		between(r, 0x115f, 0x1160), between(r, 0x17b4, 0x17b5), between(r, 0x180b, 0x180f),
		between(r, 0x200b, 0x200f), between(r, 0x2028, 0x202e), between(r, 0x2060, 0x206f),
		between(r, 0xfe00, 0xfe0f), between(r, 0xfff0, 0xfffb), between(r, 0x1bca0, 0x1bca3),
		between(r, 0x1d173, 0x1d17a), between(r, 0xe0000, 0xe0fff):
		return true
	}
	return false
}

func between(r, first, last rune) bool { return first <= r && r <= last }

// joins reports whether writing needs the character behind the one before: joiners of
// scripts and emoji, and the choice between text and emoji. Behind each other, and behind
// ASCII except for keys of emoji, they would only carry data.
func joins(r, before rune) bool {
	chooses, joiner := between(r, 0xfe0e, 0xfe0f), between(r, 0x200c, 0x200d)
	switch {
	case !chooses && !joiner, before == utf8.RuneError:
		return false
	case before < 0x80:
		return chooses && (before == '#' || before == '*' || between(before, '0', '9'))
	case before == 0xfe0f:
		return joiner
	}
	return !invisible(before)
}

// notes are sentences about what was made visible.
func (s *sight) notes() []string {
	var notes []string
	if s.invalid > 0 {
		notes = append(notes, fmt.Sprintf("%d bytes are not UTF-8 and shown as \uFFFD", s.invalid))
	}
	if s.controls > 0 {
		notes = append(notes, fmt.Sprintf("%d control characters are shown as symbols, such as \u241b for ESC", s.controls))
	}
	if len(s.invisible) > 0 {
		notes = append(notes, "invisible characters are shown by number: "+s.list())
	}
	return notes
}

// maxListed is how many different invisible characters a note lists.
const maxListed = 8

func (s *sight) list() string {
	var chars []rune
	for r := range s.invisible {
		chars = append(chars, r)
	}
	slices.Sort(chars)
	var list []string
	for _, r := range chars[:min(len(chars), maxListed)] {
		list = append(list, fmt.Sprintf("U+%04X (%d)", r, s.invisible[r]))
	}
	if more := len(chars) - maxListed; more > 0 {
		list = append(list, fmt.Sprintf("%d others", more))
	}
	return strings.Join(list, ", ")
}
