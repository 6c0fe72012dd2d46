package audit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is s as it can be shown on a terminal: control characters, bytes that are
// no UTF-8, and runes that are invisible or change the direction of text stand as
// \u{...} or \x{...}.
func Printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && strings.IndexByte("\xef", s[i]) < 0:
			fmt.Fprintf(&b, `\x{%02x}`, s[i])
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
