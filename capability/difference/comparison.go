package difference

import (
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/difference/language"
)

// comparison is what two policies share while they are compared: machines, and answers
// that were found already.
type comparison struct {
	budget    *language.Budget
	patterns  map[string]*pattern
	templates map[string]*template
	answers   map[string]answer
	found     map[string]witness
	any       *pattern
}

type answer struct{ yes, sure bool }

// witness is a path that was looked for.
type witness struct {
	path        string
	found, sure bool
}

func newComparison() *comparison {
	return &comparison{
		budget:    language.NewBudget(),
		patterns:  make(map[string]*pattern),
		templates: make(map[string]*template),
		answers:   make(map[string]answer),
		found:     make(map[string]witness),
		any:       anything(),
	}
}

// remember asks once.
func (c *comparison) remember(key string, ask func() (yes, sure bool)) (yes, sure bool) {
	a, known := c.answers[key]
	if !known {
		a.yes, a.sure = ask()
		c.answers[key] = a
	}
	return a.yes, a.sure
}

func (c *comparison) pattern(p capability.Pattern) *pattern {
	text := canonical(p)
	if known := c.patterns[text]; known != nil {
		return known
	}
	made := &pattern{text: text, make: func() (language.Machine, error) { return language.Loose(p) }}
	c.patterns[text] = made
	return made
}

// canonical is the text of a pattern, in which the order of listed values does not
// matter.
func canonical(p capability.Pattern) string {
	values := p.Values()
	if values == nil {
		return p.String()
	}
	values = sorted(values)
	if len(values) == 1 {
		return capability.Literal(values[0]).String()
	}
	return capability.OneOf(values...).String()
}

func (c *comparison) template(t *capability.Template) *template {
	parsed := language.Parse(t)
	made := &template{Template: parsed, shape: parsed.Shape()}
	made.text = made.shape
	for _, p := range parsed.Patterns() {
		of := c.pattern(p)
		made.patterns = append(made.patterns, of)
		made.text += "\x03" + of.text
	}
	if known := c.templates[made.text]; known != nil {
		return known
	}
	c.templates[made.text] = made
	return made
}
