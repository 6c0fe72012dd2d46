package capability

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits of a template.
const (
	MaxVariables = 12
	MaxMulti     = 2 // variables over several segments
)

// Template is a path with variables, as in net/http's ServeMux: {name} stands for
// one segment or a part of one, {name...} for one or more whole segments, the last of
// them up to a literal where one follows, as in "{module...}@{version}". A variable
// that occurs again must have the same value again, so
// "/{pkg}/-/{pkg}-{version}.tgz" ties the file to the package. A trailing slash
// matches only a template that ends in one.
type Template struct {
	text      string
	segments  []segment
	slash     bool
	variables []variable
}

type variable struct {
	name    string
	pattern Pattern
}

// segment is a sequence of literals and variables. Where it begins with a variable
// that takes several segments, it is matched with all of them.
type segment struct {
	key   string // equal keys match equally: edges of the trie are shared by it
	parts []part
	multi bool
}

type part struct {
	literal  string // decoded
	raw      string // as the template has it, and as it is sent
	variable int    // index into variables where literal is empty
	again    bool   // the variable has its value from further left
}

// isLiteral reports whether s has no variable.
func (s segment) isLiteral() bool { return len(s.parts) == 1 && s.parts[0].literal != "" }

// bindings holds the values of a template's variables.
type bindings [MaxVariables]string

// ParseTemplate compiles text. Variables without an entry in where match Slug; an
// entry that names no variable is a mistake.
func ParseTemplate(text string, where map[string]Pattern) (*Template, error) {
	if !strings.HasPrefix(text, "/") {
		return nil, errors.New("a path template begins with a slash")
	}
	t := &Template{text: text, slash: strings.HasSuffix(text, "/")}
	rest := strings.TrimSuffix(text[1:], "/")
	if rest != "" {
		for _, s := range strings.Split(rest, "/") {
			if err := t.addSegment(s, where); err != nil {
				return nil, err
			}
		}
	}
	for name := range where {
		if t.index(name) < 0 {
			return nil, fmt.Errorf("the path has no variable {%s}", name)
		}
	}
	return t, nil
}

// String is the template as policies write it.
func (t *Template) String() string { return t.text }

// Variables lists the variables with their patterns, in the order of the path.
func (t *Template) Variables() (names []string, patterns []Pattern) {
	for _, v := range t.variables {
		names, patterns = append(names, v.name), append(patterns, v.pattern)
	}
	return names, patterns
}

func (t *Template) index(name string) int {
	for i := range t.variables {
		if t.variables[i].name == name {
			return i
		}
	}
	return -1
}

func (t *Template) addSegment(text string, where map[string]Pattern) error {
	var s segment
	for rest := text; rest != ""; {
		open := strings.IndexByte(rest, '{')
		if open != 0 {
			if open < 0 {
				open = len(rest)
			}
			if err := s.addLiteral(rest[:open]); err != nil {
				return err
			}
			rest = rest[open:]
			continue
		}
		name, more, ok := strings.Cut(rest[1:], "}")
		if !ok {
			return fmt.Errorf("the variable in %q is not closed", text)
		}
		if err := t.addVariable(&s, name, where); err != nil {
			return err
		}
		rest = more
	}
	if len(s.parts) == 0 {
		return errors.New("a path template has no empty segments")
	}
	t.segments = append(t.segments, s)
	if t.multis() > MaxMulti {
		return fmt.Errorf("a path template has at most %d variables over several segments", MaxMulti)
	}
	return nil
}

// multis is the number of segments that begin with a variable over several.
func (t *Template) multis() (n int) {
	for i := range t.segments {
		if t.segments[i].multi {
			n++
		}
	}
	return n
}

func (s *segment) addLiteral(raw string) error {
	if strings.IndexByte(raw, '}') >= 0 {
		return fmt.Errorf("a closing brace without an opening one in %q", raw)
	}
	decoded, err := decodeSegment(raw)
	// A literal next to a variable may be any piece of a segment, "." included.
	if err != nil && !errors.Is(err, errPathDots) && !errors.Is(err, errPathEmpty) {
		return fmt.Errorf("literal %q: %w", raw, err)
	}
	s.parts = append(s.parts, part{literal: decoded, raw: raw})
	s.key += strconv.Quote(decoded)
	return nil
}

func (t *Template) addVariable(s *segment, name string, where map[string]Pattern) error {
	name, multi := strings.CutSuffix(name, "...")
	if !isName(name) {
		return fmt.Errorf("%q is not a variable name: letters, digits and underscores", name)
	}
	if multi && len(s.parts) > 0 {
		return fmt.Errorf("a variable over several segments begins right after a slash, not where {%s...} stands", name)
	}
	i := t.index(name)
	p := part{variable: i, again: i >= 0}
	if i < 0 {
		if len(t.variables) == MaxVariables {
			return fmt.Errorf("a path template has at most %d variables", MaxVariables)
		}
		if n := len(s.parts); n > 0 && s.parts[n-1].literal == "" && !s.parts[n-1].again {
			return fmt.Errorf("{%s} follows a variable directly: put a literal between them", name)
		}
		pattern, ok := where[name]
		if !ok {
			pattern = Slug()
		}
		p.variable = len(t.variables)
		t.variables = append(t.variables, variable{name, pattern})
	}
	s.multi = s.multi || multi
	s.parts = append(s.parts, p)
	s.key += fmt.Sprintf("{%d %t %s}", p.variable, multi, t.variables[p.variable].pattern)
	return nil
}

func isName(s string) bool {
	return s != "" && !isDigit(s[0]) && allOf(s, func(c byte) bool { return isAlnum(c) || c == '_' })
}

// match matches one segment and binds its variables. A variable ends where the
// literal after it first occurs; there is no backtracking inside a segment.
func (s *segment) match(value string, vars []variable, b *bindings) bool {
	for i := range s.parts {
		p := &s.parts[i]
		switch {
		case p.literal != "":
			if !strings.HasPrefix(value, p.literal) {
				return false
			}
			value = value[len(p.literal):]
		case p.again:
			if !strings.HasPrefix(value, b[p.variable]) {
				return false
			}
			value = value[len(b[p.variable]):]
		default:
			end := s.end(i, value, b)
			if end < 0 || !vars[p.variable].pattern.Match(value[:end]) {
				return false
			}
			b[p.variable] = value[:end]
			value = value[end:]
		}
	}
	return value == ""
}

// end is where the variable at part i ends in value, -1 when nowhere.
func (s *segment) end(i int, value string, b *bindings) int {
	if i == len(s.parts)-1 {
		return len(value)
	}
	next := s.parts[i+1].literal
	if next == "" {
		next = b[s.parts[i+1].variable]
	}
	if i+1 == len(s.parts)-1 {
		if !strings.HasSuffix(value, next) {
			return -1
		}
		return len(value) - len(next)
	}
	return strings.Index(value, next)
}

// bind matches the whole path from segment i of the template and j of the path.
func (t *Template) bind(p Path, i, j int, b *bindings) bool {
	if i == len(t.segments) {
		return j == p.Len() && p.slash == t.slash
	}
	s := &t.segments[i]
	if !s.multi {
		return j < p.Len() && s.match(p.Segment(j), t.variables, b) && t.bind(p, i+1, j+1, b)
	}
	for end := j + 1; end <= p.Len(); end++ {
		if s.matchMulti(p, j, end, t.variables, b) && t.bind(p, i+1, end, b) {
			return true
		}
	}
	return false
}

// matchMulti binds segments j to end-1. The pattern is for the joined value where it
// admits a slash, else for every segment alone.
func (s *segment) matchMulti(p Path, j, end int, vars []variable, b *bindings) bool {
	joined, ok := p.join(j, end)
	if !ok {
		return false
	}
	if len(s.parts) > 1 {
		return s.matchTail(joined, vars, b)
	}
	v := s.parts[0]
	if v.again {
		return joined == b[v.variable]
	}
	b[v.variable] = joined
	if vars[v.variable].pattern.Match(joined) {
		return true
	}
	if vars[v.variable].pattern.joined {
		return false
	}
	for k := j; k < end; k++ {
		if !vars[v.variable].pattern.Match(p.Segment(k)) {
			return false
		}
	}
	return true
}

// matchTail matches several segments where literals and variables follow the variable
// that takes them: only that one may hold a slash, or it would be encoded when sent.
func (s *segment) matchTail(joined string, vars []variable, b *bindings) bool {
	if !s.match(joined, vars, b) {
		return false
	}
	for _, p := range s.parts[1:] {
		if p.literal == "" && strings.Contains(b[p.variable], "/") {
			return false
		}
	}
	return true
}

// Match reports whether p is a path of the template.
func (t *Template) Match(p Path) bool {
	var b bindings
	return p.Valid() && t.bind(p, 0, 0, &b)
}

// render writes p as the template has it: literals as written, variables by the one
// encoder.
func (t *Template) render(p Path) (string, bool) {
	var b bindings
	if !p.Valid() || !t.bind(p, 0, 0, &b) {
		return "", false
	}
	out := make([]byte, 0, len(p.decoded)+8)
	for i := range t.segments {
		out = append(out, '/')
		for k, part := range t.segments[i].parts {
			switch {
			case part.literal != "":
				out = append(out, part.raw...)
			case t.segments[i].multi && k == 0:
				out = appendSegments(out, b[part.variable])
			default:
				out = appendEscaped(out, b[part.variable])
			}
		}
	}
	if t.slash {
		out = append(out, '/')
	}
	return string(out), true
}

func appendSegments(out []byte, joined string) []byte {
	for first, rest, more := "", joined, true; more; {
		first, rest, more = strings.Cut(rest, "/")
		if len(out) > 0 && out[len(out)-1] != '/' {
			out = append(out, '/')
		}
		out = appendEscaped(out, first)
	}
	return out
}
