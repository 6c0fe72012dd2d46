package payload

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string and writes it anew: escaped is only what has to be (RFC 8259
// section 7), in one spelling.
func (r *reader) str() (string, error) {
	if r.peek() != '"' {
		return "", errSyntax
	}
	r.at++
	var b []byte
	for {
		from := r.at
		for r.at < len(r.in) && r.in[r.at] >= ' ' && r.in[r.at] != '"' && r.in[r.at] != '\\' {
			r.at++
		}
		run := r.in[from:r.at]
		switch r.peek() {
		case '"':
			if r.at++; b == nil {
				b = run
			} else {
				b = append(b, run...)
			}
			r.out = appendString(r.out, b)
			return string(b), nil
		case '\\':
			char, err := r.escape()
			if err != nil {
				return "", err
			}
			b = utf8.AppendRune(append(b, run...), char)
		default:
			return "", errSyntax // the end of the text as well
		}
	}
}

// escape reads one escape sequence, or the two that are one character.
func (r *reader) escape() (rune, error) {
	r.at++
	c := r.peek()
	r.at = min(r.at+1, len(r.in))
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 && c != 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, errSyntax
	}
	char, err := r.hex()
	if err != nil || !utf16.IsSurrogate(char) {
		return char, err
	}
	if !r.skip(`\`) || !r.skip("u") {
		return 0, errSurrogate
	}
	low, err := r.hex()
	if char = utf16.DecodeRune(char, low); err == nil && char == unicode.ReplacementChar {
		err = errSurrogate
	}
	return char, err
}

// hex reads four digits. NUL ends a string for some parsers, and is refused.
func (r *reader) hex() (rune, error) {
	if len(r.in)-r.at < 4 {
		return 0, errSyntax
	}
	n, err := strconv.ParseUint(string(r.in[r.at:r.at+4]), 16, 16)
	if err != nil {
		return 0, errSyntax
	}
	if n == 0 {
		return 0, errNUL
	}
	r.at += 4
	return rune(n), nil
}

func appendString(out, s []byte) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for _, c := range s {
		switch {
		case c > '\\' || c >= ' ' && c != '"' && c != '\\':
			out = append(out, c)
		case c >= ' ':
			out = append(out, '\\', c)
		case strings.IndexByte("\b\f\n\r\t", c) >= 0:
			out = append(out, '\\', "bfnrt"[strings.IndexByte("\b\f\n\r\t", c)])
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(out, '"')
}

// inRange: neither infinite nor zero by rounding in a double, and no exponent that
// costs more to compute with than the number is long.
func inRange(number string) bool {
	if len(number) > maxNumber {
		return false
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(f, 0) {
		return false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	if e, err := strconv.Atoi(exponent); exponent != "" && (err != nil || e > 308 || e < -308) {
		return false
	}
	return f != 0 || strings.Trim(mantissa, "-0.") == ""
}

// nameSet are the names of one object; most have few, for which a map is large.
type nameSet struct {
	few  []string
	many map[string]struct{}
}

// add reports whether the name was not there before.
func (n *nameSet) add(name string) bool {
	if n.many == nil && len(n.few) < 8 {
		if slices.Contains(n.few, name) {
			return false
		}
		n.few = append(n.few, name)
		return true
	}
	if n.many == nil {
		n.many = make(map[string]struct{})
		for _, f := range n.few {
			n.many[f] = struct{}{}
		}
	}
	before := len(n.many)
	n.many[name] = struct{}{}
	return len(n.many) > before
}

// fold is one spelling for all that differ in case only, as encoding/json and
// strings.EqualFold have it: the long s and the Kelvin sign are among them.
func fold(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s) // which is what the rest comes to for those
	}
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
