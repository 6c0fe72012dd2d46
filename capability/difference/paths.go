package difference

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/difference/language"
)

// template is a path template with its machine.
type template struct {
	*language.Template
	text     string // equal texts match equal paths
	shape    string
	patterns []*pattern
	made     bool
	machine  language.Machine
	exact    bool // the machine accepts nothing else
	err      error
}

// built is t once its machine has been made.
func (t *template) built() *template {
	if !t.made {
		t.machine, t.exact, t.err = language.Path(t.Template)
		t.made = true
	}
	return t
}

// paths are the paths of a template that others do not match.
type paths struct {
	of      *template
	without []*template
	doubt   bool
}

func (p paths) minus(c *comparison, other set) (set, relation) {
	o, ok := other.(paths)
	switch {
	case !ok:
		return p, partly
	case p.of.Apart(o.of.Template):
		return p, apart
	}
	rest := p
	rest.without = append(p.without[:len(p.without):len(p.without)], o.of)
	empty, sure := c.noPath(p.of, rest.without)
	switch {
	case empty:
		return nil, covered
	case !c.crosses(p, o.of):
		return p, apart
	}
	rest.doubt = p.doubt || !sure
	return rest, partly
}

func (p paths) key() string {
	s := p.of.text
	for _, w := range p.without {
		s += "\x00" + w.text
	}
	return s
}

func (p paths) String() string {
	if len(p.without) == 1 && p.without[0].shape == p.of.shape {
		if text := p.of.beyond(p.without[0]); text != "" {
			return text
		}
	}
	s := p.of.String()
	if n := len(p.without); n > 0 {
		var shown []string
		for _, w := range p.without[:min(n, 3)] {
			shown = append(shown, w.String())
		}
		s += " beyond " + strings.Join(shown, " and ")
		if n > 3 {
			s += " and others"
		}
	}
	return s
}

// beyond says which variables of t take more than those of o, which has its shape.
func (t *template) beyond(o *template) string {
	names, _ := t.Variables()
	var out []string
	for i, p := range t.patterns {
		if p.text != o.patterns[i].text {
			out = append(out, fmt.Sprintf("{%s} = %s beyond %s", names[i], p.text, o.patterns[i].text))
		}
	}
	return strings.Join(out, ", or ")
}

func (p paths) unsure() bool { return p.doubt }

// String is the template with the patterns that are not the usual one.
func (t *template) String() string {
	names, patterns := t.Variables()
	var where []string
	for i, n := range names {
		if text := patterns[i].String(); text != "slug" {
			where = append(where, n+" = "+text)
		}
	}
	if len(where) == 0 {
		return t.Template.String()
	}
	return t.Template.String() + " (" + strings.Join(where, ", ") + ")"
}

// noPath reports whether no path of t is outside of the templates. It errs to the side
// of paths that may be: sure is false then.
func (c *comparison) noPath(t *template, without []*template) (empty, sure bool) {
	near := make([]*template, 0, len(without))
	for _, w := range without {
		switch {
		case w.text == t.text || c.fits(t, w):
			return true, true
		case !t.Apart(w.Template):
			near = append(near, w)
		}
	}
	if len(near) == 0 {
		return c.impossible(t)
	}
	key := "no path\x00" + t.text
	for _, w := range near {
		key += "\x00" + w.text
	}
	return c.remember(key, func() (bool, bool) {
		_, found, sure := c.path(t, near)
		return !found && sure, sure
	})
}

func (c *comparison) impossible(t *template) (empty, sure bool) {
	return c.remember("impossible\x00"+t.text, func() (bool, bool) {
		_, found, sure := c.path(t, nil)
		return !found && sure, sure
	})
}

// fits reports whether t is o with narrower patterns. It is exact about variables that
// occur again, which machines are not.
func (c *comparison) fits(t, o *template) bool {
	if t.shape != o.shape {
		return false
	}
	mine, theirs := t.Patterns(), o.Patterns()
	for i, p := range t.patterns {
		if language.Joined(mine[i]) != language.Joined(theirs[i]) {
			return false
		}
		if empty, _ := c.noValue(values{pattern: p, field: true}, []*pattern{o.patterns[i]}); !empty {
			return false
		}
	}
	return true
}

// path is a path of t, escaped, that none of the templates matches. Where sure is false,
// the answer may be wrong: found may be false although there is one.
func (c *comparison) path(t *template, without []*template) (escaped string, found, sure bool) {
	key := paths{of: t, without: without}.key()
	w, known := c.found[key]
	if !known {
		w.path, w.found, w.sure = c.search(t, without)
		c.found[key] = w
	}
	return w.path, w.found, w.sure
}

func (c *comparison) search(t *template, without []*template) (escaped string, found, sure bool) {
	if t.built().err != nil {
		return "", false, false
	}
	out, exact := machines(without)
	if t.exact && exact {
		text, found, err := language.Witness(c.budget, t.machine, out...)
		return language.Escape(text), found, err == nil
	}
	if all, ok := t.all(); ok {
		i := slices.IndexFunc(all, func(p string) bool { return t.only(p, without) })
		if i < 0 {
			return "", false, true
		}
		return all[i], true, true
	}
	if escaped, ok := c.tried(t, without); ok {
		return escaped, true, true
	}
	_, found, err := language.Witness(c.budget, t.machine, out...)
	return "", false, !found && err == nil // the machine accepts too much: nothing found is nothing
}

// machines are those of templates; the literal ones have one together. A template whose
// machine accepts too much is left out, and exact is false.
func machines(ts []*template) (out []language.Machine, exact bool) {
	exact = true
	var literals []string
	for _, t := range ts {
		if literal, ok := t.Literal(); ok {
			literals = append(literals, literal)
			continue
		}
		if t.built().err != nil || !t.exact {
			exact = false
			continue
		}
		out = append(out, t.machine)
	}
	if len(literals) > 0 {
		out = append(out, language.Words(literals...))
	}
	return out, exact
}

// only reports, by the judge's own matching, whether an escaped path is of t and of
// none of the others.
func (t *template) only(escaped string, without []*template) bool {
	p, err := capability.ParsePath(escaped)
	if err != nil || !t.Match(p) {
		return false
	}
	return !slices.ContainsFunc(without, func(w *template) bool { return w.Match(p) })
}

// maxListed is how many paths are looked at one by one.
const maxListed = 2000

// all lists the paths of t, where its variables list their values.
func (t *template) all() ([]string, bool) {
	patterns := t.Patterns()
	choices := make([][]string, len(patterns))
	total := 1
	for i, p := range patterns {
		choices[i] = p.Values()
		total *= len(choices[i])
		if total == 0 || total > maxListed {
			return nil, false
		}
	}
	return t.fill(choices), true
}

// fill puts every combination of the values into the template.
func (t *template) fill(choices [][]string) []string {
	names, _ := t.Variables()
	out := []string{t.Template.String()}
	for i, name := range names {
		var next []string
		for _, text := range out {
			for _, v := range choices[i] {
				one := strings.ReplaceAll(text, "{"+name+"}", url.PathEscape(v))
				many := strings.ReplaceAll(url.PathEscape(v), "%2F", "/")
				next = append(next, strings.ReplaceAll(one, "{"+name+"...}", many))
			}
		}
		out = next
	}
	return out
}

// maxTried is how many values in all are tried.
const maxTried = 12

// tried looks for a path among values that are likely to be outside: a shortest one of
// each variable, one that no template of the same shape takes, and another.
func (c *comparison) tried(t *template, without []*template) (string, bool) {
	choices := make([][]string, len(t.patterns))
	if len(choices) > maxTried/3 {
		return "", false
	}
	for i, p := range t.patterns {
		v := values{pattern: p, field: true}
		var others []*pattern
		for _, w := range without {
			if w.shape == t.shape {
				others = append(others, w.patterns[i])
			}
		}
		for _, out := range [][]*pattern{nil, others} {
			if text, found, err := c.value(v, out); found && err == nil && !slices.Contains(choices[i], text) {
				choices[i] = append(choices[i], text)
				others = append(others[:len(others):len(others)], c.pattern(capability.Literal(text)))
			}
		}
		if text, found, err := c.value(v, others); found && err == nil {
			choices[i] = append(choices[i], text)
		}
		if len(choices[i]) == 0 {
			return "", false
		}
	}
	all := t.fill(choices)
	if i := slices.IndexFunc(all, func(p string) bool { return t.only(p, without) }); i >= 0 {
		return all[i], true
	}
	return "", false
}

// crosses reports whether a path of p may be one of o.
func (c *comparison) crosses(p paths, o *template) bool {
	if p.of.built().err != nil || o.built().err != nil {
		return true
	}
	if literal, ok := o.Literal(); ok {
		return p.of.only(language.Escape(literal), p.without)
	}
	met, _ := c.remember("cross\x00"+p.key()+"\x00\x00"+o.text, func() (bool, bool) {
		out, _ := machines(p.without)
		_, found, err := language.Common(c.budget.Quick(), []language.Machine{p.of.machine, o.machine}, out...)
		return found || err != nil, true
	})
	return met
}
