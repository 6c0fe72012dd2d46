package policyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

// Argument is one thing that a preset has to be told.
type Argument struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"` // "url", "bool", "size", "npm_lockfile", "sumdb", or a list: "names", "go_modules", "git_repositories"
	Required bool     `json:"required"`
	Default  []string `json:"default,omitempty"`
	Example  string   `json:"example"`
	About    string   `json:"about"`

	missing string // what to remark where it is not given
}

var argumentBlock = shape{attributes: []string{"type", "required", "default", "example", "about", "missing"}}

func (p *preset) argument(b *hcl.Block) Argument {
	content := p.source.content(b.Body, argumentBlock)
	a := Argument{Name: b.Labels[0]}
	for name, attr := range content.Attributes {
		switch name {
		case "type":
			a.Type = hcl.ExprAsKeyword(attr.Expr)
		case "required":
			a.Required, _ = p.boolean(attr.Expr)
		case "default":
			a.Default = p.namesOf(attr.Expr, a.Example)
		case "example":
			a.Example, _ = p.str(attr.Expr)
		case "about":
			a.About, _ = p.str(attr.Expr)
		case "missing":
			a.missing, _ = p.str(attr.Expr)
		}
	}
	return a
}

// written is text as a policy gives it to the argument; lists have commas in text.
func (a Argument) written(text string) string {
	switch a.Type {
	case "bool":
		return text
	case "names", "go_modules", "git_repositories":
		items := strings.Split(text, ",")
		for i, item := range items {
			items[i] = capability.Quote(strings.TrimSpace(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return capability.Quote(text)
}

// value is what an argument's name stands for in its preset.
type value struct {
	given    bool
	text     string // in paths, headers and patterns
	variable string // in the environment, where that differs
	list     []string
}

func (v value) setting() string {
	if v.variable != "" {
		return v.variable
	}
	return v.text
}

// given reports whether e has a value: only an argument may have none.
func (s *source) given(e hcl.Expression) bool {
	v, isArgument := s.bound[hcl.ExprAsKeyword(e)]
	return !isArgument || v.given
}

// bound are the arguments that a use block gives.
type bound struct {
	values   map[string]value
	urls     map[string]base
	packages map[string][]npmPackage
}

// only is the lockfile's list, nil where none was given: then the templates stand.
func (b bound) only(name string) []npmPackage { return b.packages[name] }

func (p *parser) arguments(preset *preset, content *hcl.BodyContent, b *hcl.Block) bound {
	out := bound{make(map[string]value), make(map[string]base), make(map[string][]npmPackage)}
	for _, a := range preset.arguments {
		attr := content.Attributes[a.Name]
		switch {
		case attr != nil:
			out.values[a.Name] = p.bind(a, attr.Expr, out, preset.at)
			continue
		case a.Required:
			p.fail(b.DefRange, fmt.Sprintf("preset %q needs %s", preset.name, a.Name), fmt.Sprintf("%s: write %s = %s", a.About, a.Name, a.written(a.Example)))
		case a.missing != "":
			p.warn(b.DefRange, "no "+a.Name, fmt.Sprintf("%s: %s = %s", a.missing, a.Name, a.written(a.Example)))
		}
		out.values[a.Name] = value{given: a.Default != nil, list: a.Default}
	}
	return out
}

// bind reads one argument as its type has it.
func (p *parser) bind(a Argument, e hcl.Expression, out bound, at string) value {
	switch a.Type {
	case "url":
		u, ok := p.base(e)
		if ok {
			out.urls[a.Name] = u
		}
		return value{given: ok, text: u.String()}
	case "npm_lockfile":
		out.packages[a.Name] = p.lockfile(e, out.urls[at].host)
		return value{given: true}
	case "bool":
		v, _ := p.boolean(e)
		return value{given: v}
	case "size":
		_, ok := p.size(e)
		text, _ := p.str(e)
		return value{given: ok, text: text}
	case "sumdb":
		return p.sumdb(e)
	case "git_repositories":
		return value{given: true, list: p.repositoryNames(e)}
	case "go_modules":
		return value{given: true, list: p.modules(e)}
	}
	return value{given: true, list: p.namesOf(e, a.Example)}
}

// namesOf reads a list of names: suites, components, architectures.
func (s *source) namesOf(e hcl.Expression, example string) []string {
	items, _ := s.list(e, "["+capability.Quote(example)+"]")
	var out []string
	for _, i := range items {
		v, ok := s.word(i)
		switch {
		case !ok:
		case !made(v, 64, "._+-") || !letter(v[0]) && !digit(v[0]):
			s.fail(i.Range(), fmt.Sprintf("%q is not a name", v), "letters, digits, '-', '+', '_' and '.', a letter or a digit first")
		case slices.Contains(out, v):
			s.fail(i.Range(), fmt.Sprintf("%q is given twice", v), "each name stands once")
		default:
			out = append(out, v)
		}
	}
	return out
}

func (s *source) modules(e hcl.Expression) []string {
	items, _ := s.list(e, `modules = ["example.com/team"]`)
	var out []string
	for _, i := range items {
		v, ok := s.word(i)
		if !ok {
			continue
		}
		path, ok := s.modulePath(v, i.Range())
		if ok && slices.Contains(out, path) {
			s.fail(i.Range(), fmt.Sprintf("%q is given twice", v), "each module stands once")
			continue
		}
		if ok {
			out = append(out, path)
		}
	}
	return out
}

// sumdb reads what GOSUMDB may be: the name of a checksum database, and its key in the
// form of golang.org/x/mod/sumdb/note where the go command does not know it.
func (s *source) sumdb(e hcl.Expression) value {
	v, ok := s.word(e)
	if !ok {
		return value{}
	}
	name, key, keyed := strings.Cut(v, "+")
	if !made(name, 128, ".-") || !strings.Contains(name, ".") || keyed && !made(key, 256, "+/=") {
		s.fail(e.Range(), fmt.Sprintf("%q is not a checksum database", v), `write its name, as in "sum.example.com", or its name and key, as in "sum.example.com+01234567+AbC..."; where it is goes into sumdb_url`)
		return value{}
	}
	return value{given: true, text: name, variable: v}
}
