package report

import (
	"strings"

	"scupper.dev/scupper/audit"
)

// Caps of what a page shows of one value, in bytes.
const (
	maxWord = 128
	maxLong = 400
	maxText = 16 << 10
)

// clean is s as it may stand on a page: printable, on one line and cut after n bytes.
// What html/template does, escaping, comes on top.
func clean(s string, n int) string {
	long := len(s) > n
	if long {
		s = strings.ToValidUTF8(s[:n], "")
	}
	s = audit.Printable(s)
	if long {
		s += "…"
	}
	return s
}

// cleanLines is clean for a text of several lines.
func cleanLines(s string, n int) string {
	long := len(s) > n
	if long {
		s = s[:n]
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(audit.Printable(strings.TrimSuffix(line, "\n")) + "\n")
	}
	if long {
		b.WriteString("…\n")
	}
	return b.String()
}
