package policyfile

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// Write prints all of ds for a person: summary, position, the line with the place
// underlined, and the correct form. Detail is wrapped at width columns; 0 means no
// wrapping. Text of the policy is escaped: it cannot drive the terminal.
func (ds Diagnostics) Write(w io.Writer, color bool, width int) error {
	var b bytes.Buffer
	for i, d := range ds {
		if i > 0 {
			b.WriteByte('\n')
		}
		d.render(&b, color, width)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (d Diagnostic) render(b *bytes.Buffer, color bool, width int) {
	on, off := "", ""
	if color {
		on, off = red, plain
		if d.Severity == Warning {
			on = yellow
		}
	}
	fmt.Fprintf(b, "%s%s%s: %s\n", on, d.Severity, off, d.Summary)
	if d.Start.File != "" {
		d.excerpt(b, on, off)
	}
	for _, line := range wrap(d.Detail, width-2) {
		fmt.Fprintf(b, "  %s\n", line)
	}
}

func (d Diagnostic) excerpt(b *bytes.Buffer, on, off string) {
	end := ""
	if d.End.Line == d.Start.Line && d.End.Column > d.Start.Column+1 {
		end = fmt.Sprintf("-%d", d.End.Column-1)
	}
	fmt.Fprintf(b, "  %s:%d,%d%s", escape(d.Start.File), d.Start.Line, d.Start.Column, end)
	if d.context != "" {
		fmt.Fprintf(b, ", in %s", d.context)
	}
	b.WriteByte('\n')
	if d.source == nil || d.offset > len(d.source) {
		return
	}
	line, from, to := window(withoutUserinfo(printableLine(d.line())), d.Start.Column-1, d.width())
	fmt.Fprintf(b, "%5d | %s\n", d.Start.Line, string(line))
	fmt.Fprintf(b, "      | %s%s%s%s\n", blank(line[:from]), on, strings.Repeat("^", to-from), off)
}

// line is the line of the source that d begins on.
func (d Diagnostic) line() string {
	begin := bytes.LastIndexByte(d.source[:d.offset], '\n') + 1
	line, _, _ := bytes.Cut(d.source[begin:], []byte("\n"))
	return string(line)
}

// width is how many characters d is about on its first line.
func (d Diagnostic) width() int {
	if d.End.Line != d.Start.Line {
		return maxExcerpt
	}
	return max(d.End.Column-d.Start.Column, 1)
}

// maxExcerpt is how much of a line is shown, in characters.
const maxExcerpt = 200

// window cuts a long line to the part that is underlined, and says from where to where
// that is.
func window(line []rune, from, width int) (part []rune, begin, end int) {
	from = min(max(from, 0), len(line))
	cut := 0
	if len(line) > maxExcerpt {
		cut = max(0, from-maxExcerpt/4)
	}
	part = line[cut:min(len(line), cut+maxExcerpt)]
	begin = from - cut
	return part, begin, max(min(begin+width, len(part)), begin+1)
}

// blank is as wide as the characters, tabs kept.
func blank(line []rune) string {
	var b strings.Builder
	for _, c := range line {
		if c != '\t' {
			c = ' '
		}
		b.WriteRune(c)
	}
	return b.String()
}

// printableLine replaces what could drive a terminal, one character for one, so that
// columns stay true.
func printableLine(s string) []rune {
	var out []rune
	for _, c := range strings.TrimSuffix(s, "\r") {
		if c != '\t' && !unicode.IsPrint(c) {
			c = '?'
		}
		out = append(out, c)
	}
	return out
}

// withoutUserinfo hides what stands between "//" and "@", one character for one: whatever
// is wrong with a line, a password in it is not shown.
func withoutUserinfo(line []rune) []rune {
	for i := 2; i < len(line); i++ {
		if line[i-2] != '/' || line[i-1] != '/' {
			continue
		}
		end := i
		for k := i; k < len(line) && !strings.ContainsRune(" \t\"/", line[k]); k++ {
			if line[k] == '@' {
				end = k
			}
		}
		for k := i; k < end; k++ {
			line[k] = '*'
		}
	}
	return line
}

// escape writes control and other invisible characters as Go does; the rest stays.
func escape(s string) string {
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x80:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// wrap breaks text at blanks into lines of at most width characters.
func wrap(text string, width int) []string {
	if text == "" {
		return nil
	}
	if width <= 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
