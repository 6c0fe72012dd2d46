package difference

import (
	"fmt"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/difference/language"
)

// pattern is what a value looks like, with the machine of it.
type pattern struct {
	text string // equal texts are equal patterns
	make func() (language.Machine, error)

	machine language.Machine
	err     error
}

// built is p once its machine has been made.
func (p *pattern) built() *pattern {
	if p.make != nil {
		p.machine, p.err = p.make()
		p.make = nil
	}
	return p
}

// values is what a parameter, a field or a header can be: absent, or with a value.
type values struct {
	absent  bool
	pattern *pattern // of a value; nil: none
	without []*pattern
	field   bool // of a header
	doubt   bool
}

func (v values) minus(c *comparison, other set) (set, relation) {
	o, ok := other.(values)
	if !ok {
		return v, partly
	}
	rest := v
	rest.absent = v.absent && !o.absent
	met := v.absent && o.absent
	if v.pattern != nil && o.pattern != nil {
		without := append(v.without[:len(v.without):len(v.without)], o.pattern)
		empty, sure := c.noValue(v, without)
		switch {
		case empty:
			rest.pattern, rest.without, met = nil, nil, true
		case c.meet(v, o.pattern):
			rest.without, met = without, true
			rest.doubt = v.doubt || !sure
		}
	}
	switch {
	case !rest.absent && rest.pattern == nil:
		return nil, covered
	case !met:
		return v, apart
	}
	return rest, partly
}

func (v values) key() string {
	s := "-"
	if v.absent {
		s = "?"
	}
	if v.pattern != nil {
		s += v.pattern.text
	}
	for _, w := range v.without {
		s += "\x00" + w.text
	}
	return s
}

func (v values) String() string {
	if v.pattern == nil {
		return "absent"
	}
	s := v.pattern.text
	if len(v.without) > 0 {
		texts := make([]string, len(v.without))
		for i, w := range v.without {
			texts[i] = w.text
		}
		s += " beyond " + strings.Join(texts, ", ")
	}
	if v.absent {
		s += ", or absent"
	}
	return s
}

func (v values) unsure() bool { return v.doubt }

// anything is every value of a query or of a form.
func anything() *pattern { return &pattern{text: "any value", machine: language.Text()} }

// noValue reports whether no value of v is outside of the patterns; sure is false where
// the answer is that there may be one.
func (c *comparison) noValue(v values, without []*pattern) (empty, sure bool) {
	key := fmt.Sprintf("no value\x00%t%s", v.field, v.pattern.text)
	for _, w := range without {
		if w.text == v.pattern.text {
			return true, true
		}
		key += "\x00" + w.text
	}
	return c.remember(key, func() (bool, bool) {
		_, found, err := c.value(v, without)
		return !found && err == nil, err == nil
	})
}

// value is a shortest value of v that is in none of the patterns.
func (c *comparison) value(v values, without []*pattern) (text string, found bool, err error) {
	out := make([]language.Machine, len(without))
	for i, w := range without {
		if w.built().err != nil {
			return "", false, w.err
		}
		out[i] = w.machine
	}
	if v.pattern.built().err != nil {
		return "", false, v.pattern.err
	}
	universe := language.Text()
	if v.field {
		universe = language.Field()
	}
	return language.Common(c.budget, []language.Machine{v.pattern.machine, universe}, out...)
}

// meet reports whether a value of v may be one of o.
func (c *comparison) meet(v values, o *pattern) bool {
	if v.pattern.built().err != nil || o.built().err != nil {
		return true
	}
	key := "meet\x00" + v.key() + "\x00\x00" + o.text
	met, _ := c.remember(key, func() (bool, bool) {
		out := make([]language.Machine, 0, len(v.without))
		for _, w := range v.without {
			if w.built().err == nil {
				out = append(out, w.machine)
			}
		}
		_, found, err := language.Common(c.budget, []language.Machine{v.pattern.machine, language.Field(), o.machine}, out...)
		return found || err != nil, true
	})
	return met
}

// safe are the headers that pass under every grant in these spellings.
func safe(name string) (expr string, most int) {
	const item = ` *(?:gzip|deflate|br|zstd|identity|\*)? *(?:; *q=[01](?:\.[0-9]{0,3})? *)?`
	switch name {
	case "Accept":
		return `[A-Za-z0-9/*+\-._;=, "]*`, 512
	case "Accept-Encoding":
		return item + `(?:,` + item + `)*`, 128
	}
	return "", 0
}

// unlisted is what goes out of a header that an allow block does not list.
func (c *comparison) unlisted(name string) values {
	v := values{absent: true, field: true}
	expr, most := safe(name)
	if expr == "" {
		return v
	}
	re, err := capability.Regexp(expr)
	if err != nil {
		return v
	}
	m, err := language.Loose(re)
	if err == nil {
		m = language.AtMost(m, most)
	}
	v.pattern = &pattern{text: "usual values of " + name, machine: m, err: err}
	return v
}
