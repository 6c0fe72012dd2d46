package policyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/presets"
)

// preset is a preset's file, read. What its allow blocks say depends on the arguments.
type preset struct {
	source
	name, summary string
	version       int64
	arguments     []Argument
	keyed         bool   // of no use without a credential
	at, only      string // arguments: where the host comes from, and what narrows the paths
	content       *hcl.BodyContent
}

// Preset describes a preset.
type Preset struct {
	Name      string     `json:"name"`
	Version   int64      `json:"version"`
	Summary   string     `json:"summary"`
	Arguments []Argument `json:"arguments"`
}

var (
	presetTop   = shape{labelled: []string{"preset"}}
	presetBlock = shape{
		attributes: []string{"version", "summary", "credential", "at", "only", "headers", "environment"},
		blocks:     []string{"allow", "git"}, labelled: []string{"argument"},
	}
	conditions = shape{attributes: []string{"when", "at"}} // of an allow block in a preset
)

// Presets describes all presets.
func Presets() ([]Preset, error) {
	var out []Preset
	for _, name := range presets.Names() {
		var diags Diagnostics
		text, _ := presets.Text(name)
		p, ok := readPreset(name, text, &diags)
		if !ok {
			return nil, fmt.Errorf("read preset %q: %w", name, diags)
		}
		out = append(out, Preset{p.name, p.version, p.summary, p.arguments})
	}
	return out, nil
}

func readPreset(name string, text []byte, diags *Diagnostics) (*preset, bool) {
	p := &preset{source: source{name: "presets/" + name + ".hcl", text: text, diags: diags}, name: name}
	before := diags.Count(Error)
	body := p.syntax()
	if body == nil {
		return nil, false
	}
	for _, b := range p.source.content(body, presetTop).Blocks {
		p.read(b)
	}
	return p, diags.Count(Error) == before
}

func (p *preset) read(b *hcl.Block) {
	p.content = p.source.content(b.Body, presetBlock)
	for name, a := range p.content.Attributes {
		switch name {
		case "version":
			p.version, _ = p.integer(a.Expr, 1<<31)
		case "summary":
			p.summary, _ = p.str(a.Expr)
		case "credential":
			p.keyed = hcl.ExprAsKeyword(a.Expr) == "required"
		case "at":
			p.at = hcl.ExprAsKeyword(a.Expr)
		case "only":
			p.only = hcl.ExprAsKeyword(a.Expr)
		}
	}
	for _, inner := range p.content.Blocks {
		if inner.Type == "argument" {
			p.arguments = append(p.arguments, p.argument(inner))
		}
	}
}

// title is how grants of the preset call it.
func (p *preset) title() string { return fmt.Sprintf("preset %s v%d", p.name, p.version) }

// useBlock is what may stand in `use`: the arguments, and what any grant may say.
func (p *preset) useBlock() shape {
	h := shape{attributes: []string{"as", "reason", "owner", "expires", "networks", "credential", "foreign"}, blocks: []string{"limits"}}
	for _, a := range p.arguments {
		h.attributes = append(h.attributes, a.Name)
	}
	return h
}

// places are the arguments that say where a host is, the preset's own first.
func (p *preset) places() []string {
	out := []string{p.at}
	for _, a := range p.arguments {
		if a.Type == "url" && a.Name != p.at {
			out = append(out, a.Name)
		}
	}
	return out
}

// allows reads the blocks that hold for these arguments, by the place of their host.
func (p *preset) allows(args bound) map[string][]*capability.Allow {
	s := p.source
	s.bound = args.values
	headers := s.headers(p.content)
	out := make(map[string][]*capability.Allow)
	for _, b := range p.content.Blocks {
		switch b.Type {
		case "git":
			out[p.at] = append(out[p.at], s.git(b)...)
		case "allow":
			at, inner, holds := p.conditions(b, args)
			if !holds {
				continue
			}
			if a, ok := s.allow(inner); ok {
				a.Headers = append(a.Headers, headers...)
				out[at] = append(out[at], a)
			}
		}
	}
	return out
}

// conditions takes `at` and `when` out of an allow block of the preset: whose host it
// is for, and which arguments have to be given for it.
func (p *preset) conditions(b *hcl.Block, args bound) (at string, rest *hcl.Block, holds bool) {
	content, remain, diags := b.Body.PartialContent(conditions.schema())
	p.adopt(diags)
	inner := *b
	inner.Body = remain
	at = p.at
	if a := content.Attributes["at"]; a != nil {
		at = hcl.ExprAsKeyword(a.Expr)
	}
	needed := []string{at}
	if a := content.Attributes["when"]; a != nil {
		needed = append(needed, keywords(a.Expr)...)
	}
	return at, &inner, !slices.ContainsFunc(needed, func(name string) bool { return !args.values[name].given })
}

// keywords are one name, or a list of them.
func keywords(e hcl.Expression) []string {
	tuple, ok := bare(e).(*hclsyntax.TupleConsExpr)
	if !ok {
		return []string{hcl.ExprAsKeyword(e)}
	}
	out := make([]string, len(tuple.Exprs))
	for i, item := range tuple.Exprs {
		out[i] = hcl.ExprAsKeyword(item)
	}
	return out
}

// environ is the preset's environment. A variable whose arguments were not given is
// left out.
func (p *preset) environ(args bound) []Variable {
	a := p.content.Attributes["environment"]
	if a == nil {
		return nil
	}
	s := p.source
	s.bound = args.values
	items, _ := s.object(a.Expr, `environment = { CI = "1" }`)
	var out []Variable
	for _, i := range items {
		if v := s.setting(i.value); v != "" {
			out = append(out, Variable{Name: i.key, Value: v})
		}
	}
	return out
}

// setting is what a variable is set to: a string, an argument, words(a, b) of the
// arguments that are given, or choose(argument, given, otherwise).
func (s *source) setting(e hcl.Expression) string {
	name, args, ok := call(e)
	switch {
	case !ok:
		v, isArgument := s.bound[hcl.ExprAsKeyword(e)]
		if !isArgument {
			text, _ := s.str(e)
			return text
		}
		return v.setting()
	case name == "choose" && len(args) == 3:
		if s.bound[hcl.ExprAsKeyword(args[0])].given {
			return s.setting(args[1])
		}
		return s.setting(args[2])
	case name == "words":
		var words []string
		for _, a := range args {
			if v := s.setting(a); v != "" {
				words = append(words, v)
			}
		}
		return strings.Join(words, " ")
	}
	s.fail(e.Range(), "not a setting", `write a string, an argument, words(a, b) or choose(argument, "given", "otherwise")`)
	return ""
}

// under puts a host's own path in front of the templates of a, and where there is a
// list of packages, puts them in the place of the variables.
func under(prefix string, allows []*capability.Allow, only []npmPackage) []*capability.Allow {
	var out []*capability.Allow
	for _, a := range allows {
		if only != nil {
			out = append(out, narrow(a, prefix, only)...)
		} else if moved, ok := withPath(a, prefix+a.Path.String()); ok {
			out = append(out, moved)
		}
	}
	return out
}
