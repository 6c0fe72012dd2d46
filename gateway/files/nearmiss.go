package files

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const mostNear = 5

// difference is a way in which two texts can differ without looking different, and the
// form that takes it away. The order is that of how sure the reason is.
type difference struct {
	reason string
	form   func(string) string
}

func differences() []difference {
	return []difference{
		{"line endings differ (the text given has CRLF where the file has LF)", func(s string) string { return strings.TrimSuffix(s, "\r") }},
		{"trailing blanks differ", func(s string) string { return strings.TrimRight(s, " \t\r") }},
		{"tabs and blanks differ", blanks},
		{"indentation differs", strings.TrimSpace},
		{"case differs", func(s string) string { return strings.ToLower(blanks(s)) }},
		{"characters that look alike differ (quotes, dashes, Unicode forms)", alike},
	}
}

func blanks(s string) string { return strings.Join(strings.Fields(s), " ") }

// alike brings characters together that are easily taken for another.
func alike(s string) string {
	var out strings.Builder
	for _, r := range norm.NFKD.String(blanks(s)) {
		switch {
		case ignorable(r) || unicode.Is(unicode.Mn, r):
		case strings.ContainsRune("‘’‛′`", r):
			out.WriteByte('\'')
		case strings.ContainsRune("“”„″", r):
			out.WriteByte('"')
		case unicode.Is(unicode.Pd, r) || r == '−':
			out.WriteByte('-')
		default:
			out.WriteRune(r)
		}
	}
	return strings.ToLower(out.String())
}

// nearMisses says where the old text nearly is, and what differs.
func (s *substitution) nearMisses() string {
	lines := strings.Split(s.code.decode(s.text[s.mark:]), "\n")
	want := strings.Split(strings.TrimSuffix(s.Old, "\n"), "\n")
	for _, d := range differences() {
		at := windows(lines, want, d.form)
		if len(at) == 0 {
			continue
		}
		reason := d.reason
		if strings.HasSuffix(s.Old, "\n") && at[0]+len(want)-1 == len(lines) && strings.Join(lines[at[0]-1:], "\n") == strings.Join(want, "\n") {
			reason = "the file has no newline at its end"
		}
		return fmt.Sprintf("; near miss at line %s: %s", numbers(at[:min(len(at), mostNear)], len(at)), reason)
	}
	return firstLine(lines, want)
}

// windows are the numbers of the lines from which on each line has one of want in it, in
// that form: the first may begin and the last may end within a line.
func windows(lines, want []string, form func(string) string) (at []int) {
	have, wanted := forms(lines, form), forms(want, form)
	if strings.Join(wanted, "") == "" {
		return nil
	}
	for i := 0; i+len(wanted) <= len(have); i++ {
		if fits(have[i:i+len(wanted)], wanted) {
			at = append(at, i+1)
		}
	}
	return at
}

func fits(have, want []string) bool {
	last := len(want) - 1
	if last == 0 {
		return strings.Contains(have[0], want[0])
	}
	if !strings.HasSuffix(have[0], want[0]) || !strings.HasPrefix(have[last], want[last]) {
		return false
	}
	for i := 1; i < last; i++ {
		if have[i] != want[i] {
			return false
		}
	}
	return true
}

func forms(lines []string, form func(string) string) []string {
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = form(l)
	}
	return all
}

// firstLine says where the first line of a longer text is, and which line after it differs.
func firstLine(lines, want []string) string {
	if len(want) < 2 || strings.TrimSpace(want[0]) == "" {
		return ""
	}
	best, length := 0, 0
	for i := range lines {
		n := 0
		for n < len(want) && i+n < len(lines) && blanks(lines[i+n]) == blanks(want[n]) {
			n++
		}
		if n > length {
			best, length = i, n
		}
	}
	if length == 0 {
		return ""
	}
	return fmt.Sprintf("; its first %d of %d lines are at line %d, and line %d of the file is different", length, len(want), best+1, best+length+1)
}
