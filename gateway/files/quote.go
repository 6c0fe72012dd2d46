package files

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote shows a name in quotes, on one line, with everything escaped that a terminal or
// a reader would take for something else: control characters, invisible ones, bytes that
// are not UTF-8.
func quote(name string) string { return `"` + escape(name, `"\`) + `"` }

// show shows a name as it is where nothing in it could be mistaken, and quoted where it
// could, also for a note of ours, which stands in brackets.
func show(name string) string {
	if name != "" && name[0] != '[' && escape(name, `"\`) == name && strings.TrimSpace(name) == name {
		return name
	}
	return quote(name)
}

// line shows a line of a file: tabs stay, what would act on a terminal does not.
func line(text string) string {
	for _, b := range []byte(text) {
		if b < 0x20 && b != '\t' || b >= 0x7f {
			return escapeControls(text)
		}
	}
	return text
}

func escape(s, special string) string {
	var out strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && isInvalid(s[i:]):
			fmt.Fprintf(&out, `\x%02x`, s[i])
		case strings.ContainsRune(special, r):
			out.WriteString(`\` + string(r))
		case unicode.IsPrint(r) && !blank(r):
			out.WriteRune(r)
		default:
			writeEscaped(&out, r)
		}
	}
	return out.String()
}

func escapeControls(s string) string {
	var out strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && isInvalid(s[i:]):
			fmt.Fprintf(&out, `\x%02x`, s[i])
		case r != '\t' && unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			writeEscaped(&out, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func writeEscaped(out *strings.Builder, r rune) {
	switch {
	case r == '\n':
		out.WriteString(`\n`)
	case r == '\r':
		out.WriteString(`\r`)
	case r == '\t':
		out.WriteString(`\t`)
	case r < 0x80:
		fmt.Fprintf(out, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(out, `\u%04x`, r)
	default:
		fmt.Fprintf(out, `\U%08x`, r)
	}
}

func isInvalid(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == 1
}

// blank reports whether a printable character shows nothing: variation selectors,
// fillers, the empty Braille cell.
func blank(r rune) bool {
	return unicode.Is(unicode.Variation_Selector, r) || ignorable(r) || r == 0x2800
}

// ignorable reports whether a file system that folds case leaves the character out of a
// comparison (Unicode, Default_Ignorable_Code_Point; HFS+ and ext4 do).
func ignorable(r rune) bool {
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) ||
		r >= 0x80 && unicode.Is(unicode.Cf, r)
}
