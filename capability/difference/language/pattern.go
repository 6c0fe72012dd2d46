package language

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"scupper.dev/scupper/capability"
)

// maxValue is the longest value in bytes.
const maxValue = capability.MaxValue

const (
	slugByte = `[A-Za-z0-9._~-]`
	number   = `(?:0|[1-9][0-9]{0,9})`
	core     = number + `\.` + number + `\.` + number
	goFirst  = `[0-9a-z_~!-]`
	goByte   = `[0-9a-z._~!-]`
)

// maxModule is the length of a module path in bytes.
const maxModule = 128

// named has the expressions of the patterns with a name.
func named(name string) (expr string, ok bool) {
	switch name {
	case "slug":
		return `[A-Za-z0-9_~-]` + slugByte + `{0,99}|\.[A-Za-z0-9_~-]` + slugByte + `{0,98}|\.\.` + slugByte + `{1,98}`, true
	case "int":
		return `0|[1-9][0-9]{0,18}`, true
	case "bool":
		return `true|false`, true
	case "date":
		return `[0-9]{4}-[0-9]{2}-[0-9]{2}`, true
	case "semver":
		return core + `(?:-[A-Za-z0-9.-]{1,34})?`, true
	case "sha1":
		return `[0-9a-f]{40}`, true
	case "sha256":
		return `[0-9a-f]{64}`, true
	case "uuid":
		return `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`, true
	case "npm_scope":
		return `[A-Za-z0-9]` + slugByte + `{0,39}`, true
	case "npm_base":
		return `[A-Za-z0-9]` + slugByte + `{0,79}`, true
	case "npm_name":
		return `(?:@[A-Za-z0-9]` + slugByte + `{0,39}/)?[A-Za-z0-9]` + slugByte + `{0,79}`, true
	case "go_module":
		return goFirst + `+\.` + goByte + `*(?:/` + goFirst + goByte + `*)*`, true
	case "go_version":
		return `v` + core + `(?:-[0-9a-z.!-]{1,48})?(?:\+incompatible)?`, true
	}
	return "", false
}

// Of is the machine of p. It fails for a pattern that it has no reading of.
func Of(p capability.Pattern) (Machine, error) {
	m, long, err := read(p)
	if long {
		m = AtMost(m, maxValue)
	}
	return m, err
}

// Loose is the machine of p without the bound on the length of all values. It is smaller;
// where values are compared with values, the bound is the same on both sides.
func Loose(p capability.Pattern) (Machine, error) {
	m, _, err := read(p)
	if err != nil {
		return nil, err
	}
	return remember(m), nil
}

func read(p capability.Pattern) (m Machine, long bool, err error) {
	if values := p.Values(); values != nil {
		return Words(slices.DeleteFunc(values, func(v string) bool { return len(v) > maxValue })...), false, nil
	}
	text := p.String()
	if text == "" {
		return Words(), false, nil
	}
	if expr, ok := named(text); ok {
		m, _, err := compiled(expr)
		if text == "go_module" && err == nil {
			m = AtMost(m, maxModule)
		}
		return m, false, err
	}
	if inner, ok := call(text, "regex"); ok {
		expr, err := strconv.Unquote(inner)
		if err != nil {
			return nil, false, fmt.Errorf("read pattern %s: %w", text, err)
		}
		return compiled(expr)
	}
	if inner, ok := call(text, "go_module"); ok {
		m, err := modules(inner)
		return m, false, err
	}
	return nil, false, fmt.Errorf("read pattern %s: it is not known", text)
}

func call(text, name string) (inner string, ok bool) {
	inner, ok = strings.CutPrefix(text, name+"(")
	if !ok || !strings.HasSuffix(inner, ")") {
		return "", false
	}
	return strings.TrimSuffix(inner, ")"), true
}

// modules reads the arguments of go_module("example.com/a", "example.com/b").
func modules(inner string) (Machine, error) {
	var each []string
	for inner != "" {
		quoted, err := strconv.QuotedPrefix(inner)
		if err != nil {
			return nil, fmt.Errorf("read modules %s: %w", inner, err)
		}
		name, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("read modules %s: %w", inner, err)
		}
		each = append(each, regexp.QuoteMeta(name))
		inner = strings.TrimPrefix(inner[len(quoted):], ", ")
	}
	under, _, err := compiled(`(?:` + strings.Join(each, "|") + `)(?:/(?s:.)*)?`)
	if err != nil {
		return nil, err
	}
	all, _ := named("go_module")
	module, _, err := compiled(all)
	if err != nil {
		return nil, err
	}
	return AtMost(And(module, under), maxModule), nil
}

// Joined reports whether p is for several segments as a whole, never for each alone.
func Joined(p capability.Pattern) bool { return strings.HasPrefix(p.String(), "go_module") }

// text accepts every value that a query or a header can hold.
type text struct{ tab bool }

// Text accepts every decoded value of a query: valid UTF-8 without control characters.
func Text() Machine { return text{} }

// Field accepts every value of a header, which may hold tabs.
func Field() Machine { return text{tab: true} }

func (t text) Start() State       { return 0 }
func (t text) Accepts(State) bool { return true }

func (t text) Step(s State, r rune) State {
	if r < ' ' && !(t.tab && r == '\t') || r == 0x7f {
		return Dead
	}
	return s
}

func (t text) Cut(c *Cuts) {
	c.Range(0, ' '-1)
	c.Range('\t', '\t')
	c.Range(0x7f, 0x7f)
}
