package language

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"scupper.dev/scupper/capability"
)

// Template is a path template, taken apart.
type Template struct {
	*capability.Template
	segments []segment
	patterns []capability.Pattern
	slash    bool
	repeats  bool // a variable occurs again
}

type segment struct {
	parts []part
	multi bool
}

type part struct {
	literal  string // decoded; empty for a variable
	variable int
	again    bool
}

// Parse takes a compiled template apart.
func Parse(t *capability.Template) *Template {
	out := &Template{Template: t, slash: strings.HasSuffix(t.String(), "/")}
	names, patterns := t.Variables()
	out.patterns = patterns
	seen := make([]bool, len(names))
	rest := strings.TrimSuffix(strings.TrimPrefix(t.String(), "/"), "/")
	if rest == "" {
		return out
	}
	for _, text := range strings.Split(rest, "/") {
		s := parseSegment(text, names, seen)
		for _, p := range s.parts {
			out.repeats = out.repeats || p.again
		}
		out.segments = append(out.segments, s)
	}
	return out
}

func parseSegment(text string, names []string, seen []bool) (s segment) {
	for text != "" {
		open := strings.IndexByte(text, '{')
		if open != 0 {
			if open < 0 {
				open = len(text)
			}
			literal, _ := url.PathUnescape(text[:open]) // it has been checked
			s.parts = append(s.parts, part{literal: literal})
			text = text[open:]
			continue
		}
		name, rest, _ := strings.Cut(text[1:], "}")
		name, multi := strings.CutSuffix(name, "...")
		i := slices.Index(names, name)
		s.parts = append(s.parts, part{variable: i, again: seen[i]})
		s.multi = s.multi || multi
		seen[i], text = true, rest
	}
	return s
}

// Shape is equal for templates that have the same literals and variables in the same
// places, whatever their names and patterns.
func (t *Template) Shape() string {
	var b strings.Builder
	for _, s := range t.segments {
		b.WriteByte('/')
		for _, p := range s.parts {
			switch {
			case p.literal != "":
				b.WriteString(strconv.Quote(p.literal))
			case s.multi && p == s.parts[0]:
				b.WriteString("{" + strconv.Itoa(p.variable) + "...}")
			default:
				b.WriteString("{" + strconv.Itoa(p.variable) + "}")
			}
		}
	}
	if t.slash {
		b.WriteByte('/')
	}
	return b.String()
}

// Patterns are those of the variables, in the order of the path.
func (t *Template) Patterns() []capability.Pattern { return t.patterns }

// Apart reports whether the literals of two templates say that no path is of both. It
// may miss some.
func (t *Template) Apart(o *Template) bool {
	if t.slash != o.slash {
		return true
	}
	for i := 0; i < len(t.segments) && i < len(o.segments); i++ {
		a, b := t.segments[i], o.segments[i]
		if a.multi || b.multi {
			return false
		}
		if apart(a, b) {
			return true
		}
	}
	return len(t.segments) != len(o.segments) && !t.open() && !o.open()
}

// apart compares literal beginnings.
func apart(a, b segment) bool {
	x, y := a.parts[0].literal, b.parts[0].literal
	if len(a.parts) == 1 && len(b.parts) == 1 && x != "" && y != "" {
		return x != y
	}
	n := min(len(x), len(y))
	return x[:n] != y[:n] || len(a.parts) == 1 && x != "" && len(x) < len(y) || len(b.parts) == 1 && y != "" && len(y) < len(x)
}

// open reports whether the template has a variable over several segments.
func (t *Template) open() bool {
	return slices.ContainsFunc(t.segments, func(s segment) bool { return s.multi })
}

// Literal is the path of a template without variables, with separators; ok is false
// where it has some.
func (t *Template) Literal() (path string, ok bool) {
	var b strings.Builder
	for i, s := range t.segments {
		if len(s.parts) != 1 || s.parts[0].literal == "" {
			return "", false
		}
		if i > 0 {
			b.WriteRune(Separator)
		}
		b.WriteString(s.parts[0].literal)
	}
	if t.slash {
		b.WriteRune(Slash)
	}
	return b.String(), true
}

// maxExpanded is how many values of variables that occur again are tried one by one.
const maxExpanded = 64

// Path is the machine of the paths of t. Where a variable occurs again, its values are
// tied to each other, which no automaton can say unless they are listed: then exact is
// false, and the machine accepts other values in the second place too.
func Path(t *Template) (m Machine, exact bool, err error) {
	bound := make(map[int]string)
	var repeated []int
	total := 1
	for _, s := range t.segments {
		for _, p := range s.parts {
			if p.again && !slices.Contains(repeated, p.variable) {
				repeated = append(repeated, p.variable)
				total *= min(len(t.patterns[p.variable].Values()), maxExpanded+1)
			}
		}
	}
	if total < 1 || total > maxExpanded {
		repeated = nil
	}
	if m, err = t.expand(repeated, bound); err != nil {
		return nil, false, err
	}
	return remember(m), !t.repeats || repeated != nil, nil
}

// expand is the union over the values of the variables that occur again.
func (t *Template) expand(repeated []int, bound map[int]string) (Machine, error) {
	if len(repeated) == 0 {
		m, err := t.machine(bound)
		return m, err
	}
	var all Machine
	for _, v := range t.patterns[repeated[0]].Values() {
		bound[repeated[0]] = v
		m, err := t.expand(repeated[1:], bound)
		if err != nil {
			return nil, err
		}
		if all != nil {
			m = Or(all, m)
		}
		all = m
	}
	delete(bound, repeated[0])
	return all, nil
}

func (t *Template) machine(bound map[int]string) (Machine, error) {
	var parts []Machine
	for i, s := range t.segments {
		if i > 0 {
			parts = append(parts, Words(string(Separator)))
		}
		m, err := t.segment(s, bound)
		if err != nil {
			return nil, err
		}
		parts = append(parts, m)
	}
	if t.slash {
		parts = append(parts, Words(string(Slash)))
	}
	return And(Concat(parts...), valid{}), nil
}

// segment mirrors how capability matches one: a variable takes everything to the end,
// to the last literal at the end, or to where the next literal first occurs.
func (t *Template) segment(s segment, bound map[int]string) (Machine, error) {
	if s.multi && len(s.parts) == 1 {
		return t.several(s.parts[0], bound)
	}
	var parts []Machine
	for i, p := range s.parts {
		if p.literal != "" {
			parts = append(parts, Words(p.literal))
			continue
		}
		m, err := t.variable(p, bound)
		if err != nil {
			return nil, err
		}
		if i < len(s.parts)-2 && !p.again {
			if next, ok := s.parts[i+1].text(bound); ok && next != "" {
				m = And(m, firstBefore(next))
			}
		}
		parts = append(parts, within{m, s.multi && i > 0})
	}
	m := Concat(parts...)
	if s.multi {
		m = across{m}
	}
	return m, nil
}

// text is what stands at p, where that is fixed.
func (p part) text(bound map[int]string) (string, bool) {
	if p.literal != "" {
		return p.literal, true
	}
	v, ok := bound[p.variable]
	return v, ok && p.again
}

func (t *Template) variable(p part, bound map[int]string) (Machine, error) {
	if v, ok := bound[p.variable]; ok {
		return Words(v), nil
	}
	return Of(t.patterns[p.variable])
}

// several is a variable over several segments: its pattern is for all of them joined,
// or for each alone.
func (t *Template) several(p part, bound map[int]string) (Machine, error) {
	m, err := t.variable(p, bound)
	if err != nil {
		return nil, err
	}
	if _, fixed := bound[p.variable]; fixed || Joined(t.patterns[p.variable]) {
		return across{m}, nil
	}
	again, err := t.variable(p, bound)
	if err != nil {
		return nil, err
	}
	return Or(across{m}, list{within{again, true}}), nil
}

// valid accepts what capability.ParsePath takes, in the form that machines read.
type valid struct{}

// States of valid: where in a part of a segment it is.
const (
	validStart State = iota // of the path
	validPart               // of a part, nothing read
	validDot
	validDots
	validText
	validEnd // behind the last slash
)

func (valid) Start() State         { return validStart }
func (valid) Accepts(s State) bool { return s == validText || s == validEnd }

func (valid) Step(s State, r rune) State {
	fresh := s == validStart || s == validPart
	switch {
	case r == Slash && (s == validStart || s == validText):
		return validEnd
	case (r == Separator || r == '/') && s == validText:
		return validPart
	case s == validEnd || r < ' ' || r == 0x7f || r == '\\' || r == '/':
		return Dead
	case r == '.' && fresh:
		return validDot
	case r == '.' && s == validDot:
		return validDots
	case r == ';' && (s == validDot || s == validDots):
		return Dead
	}
	return validText
}

func (valid) Cut(c *Cuts) {
	c.Range(Separator, Separator)
	c.Range(Slash, ' '-1)
	for _, r := range []rune{0x7f, '\\', '/', '.', ';'} {
		c.Range(r, r)
	}
}

// Escape writes a text that a path machine accepts as the path of a request.
func Escape(path string) string {
	const hex = "0123456789ABCDEF"
	b := []byte{'/'}
	for i := range len(path) {
		c := path[i]
		switch {
		case rune(c) == Separator || rune(c) == Slash && i > 0:
			b = append(b, '/')
		case rune(c) == Slash:
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~!$&'()*,=:@", c) >= 0:
			b = append(b, c)
		default:
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}
