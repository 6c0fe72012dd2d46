package policyfile

import (
	"slices"
	"strings"
)

// made reports whether s is 1 to most of letters, digits and the extra characters.
func made(s string, most int, extra string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !letter(c) && !digit(c) && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= most
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }
func lower(s string) bool {
	return s == strings.ToLower(s)
}

// isName: of a grant, a role, a preset.
func isName(s string) bool {
	return made(s, 64, "._-") && lower(s) && (letter(s[0]) || digit(s[0]))
}

// isVariable: of the environment.
func isVariable(s string) bool { return made(s, 128, "_") && !digit(s[0]) }

// isHeader: a token (RFC 9110 section 5.6.2) without quotes.
func isHeader(s string) bool { return made(s, 64, "!#$%&*+.^_|~-") }

// isMediaType: type and subtype in lower case (RFC 6838 section 4.2).
func isMediaType(s string) bool {
	const extra = "!#$&^_.+-"
	kind, sub, ok := strings.Cut(s, "/")
	return ok && lower(s) && made(kind, 64, extra) && made(sub, 64, extra)
}

// mapVariables replaces each {name} and {name...} of a path template by f of what
// stands in the braces.
func mapVariables(path string, f func(name string) string) string {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(path, "{")
		b.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !open || !closed {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(f(name))
		path = after
	}
}

// variables lists the names of the variables of a path template.
func variables(path string) []string {
	var names []string
	mapVariables(path, func(name string) string {
		names = append(names, strings.TrimSuffix(name, "..."))
		return ""
	})
	slices.Sort(names)
	return slices.Compact(names)
}
