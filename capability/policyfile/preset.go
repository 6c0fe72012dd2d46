package policyfile

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/presets"
)

// preset is a preset's file, read.
type preset struct {
	source
	name, summary string
	version       int64
	arguments     []Argument
	at, only      string // arguments: where the host comes from, and what narrows the paths
	allow         []*capability.Allow
	environment   hcl.Expression
}

// Argument is one thing that a preset has to be told.
type Argument struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // "url" or "npm_lockfile"
	Required bool   `json:"required"`
	Example  string `json:"example"`
	About    string `json:"about"`
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
		attributes: []string{"version", "summary", "at", "only", "headers", "environment"},
		blocks:     []string{"allow"}, labelled: []string{"argument"},
	}
	argumentBlock = shape{attributes: []string{"type", "required", "example", "about"}}
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
	for _, b := range p.content(body, presetTop).Blocks {
		p.read(b)
	}
	return p, diags.Count(Error) == before
}

func (p *preset) read(b *hcl.Block) {
	content := p.content(b.Body, presetBlock)
	for name, a := range content.Attributes {
		switch name {
		case "version":
			p.version, _ = p.integer(a.Expr, 1<<31)
		case "summary":
			p.summary, _ = p.str(a.Expr)
		case "at":
			p.at = hcl.ExprAsKeyword(a.Expr)
		case "only":
			p.only = hcl.ExprAsKeyword(a.Expr)
		case "environment":
			p.environment = a.Expr
		}
	}
	headers := p.headers(content)
	for _, inner := range content.Blocks {
		if inner.Type == "argument" {
			p.arguments = append(p.arguments, p.argument(inner))
			continue
		}
		if a, ok := p.source.allow(inner); ok {
			a.Headers = append(a.Headers, headers...)
			p.allow = append(p.allow, a)
		}
	}
}

func (p *preset) argument(b *hcl.Block) Argument {
	content := p.content(b.Body, argumentBlock)
	a := Argument{Name: b.Labels[0]}
	for name, attr := range content.Attributes {
		switch name {
		case "type":
			a.Type = hcl.ExprAsKeyword(attr.Expr)
		case "required":
			a.Required, _ = p.boolean(attr.Expr)
		case "example":
			a.Example, _ = p.str(attr.Expr)
		case "about":
			a.About, _ = p.str(attr.Expr)
		}
	}
	return a
}

// title is how grants of the preset call it.
func (p *preset) title() string { return fmt.Sprintf("preset %s v%d", p.name, p.version) }

// useBlock is what may stand in `use`: the arguments, and what any grant may say.
func (p *preset) useBlock() shape {
	h := shape{attributes: []string{"as", "reason", "owner", "expires", "networks"}, blocks: []string{"limits"}}
	for _, a := range p.arguments {
		h.attributes = append(h.attributes, a.Name)
	}
	return h
}

// environ is the preset's environment; an argument's name stands for its value.
func (p *preset) environ(args map[string]string) []Variable {
	if p.environment == nil {
		return nil
	}
	s := p.source
	s.bound = args
	return s.environment(p.environment)
}

// expand puts the registry's own path in front of the preset's templates, and where
// there is a list of packages, puts them in the place of the variables.
func (p *preset) expand(prefix string, only []npmPackage) []*capability.Allow {
	var out []*capability.Allow
	for _, a := range p.allow {
		if only != nil {
			out = append(out, narrow(a, prefix, only)...)
		} else if under, ok := withPath(a, prefix+a.Path.String()); ok {
			out = append(out, under)
		}
	}
	return out
}

// base is where a registry is: the host, and the path that all of its own begin with.
type base struct {
	scheme capability.Scheme
	host   capability.Host
	port   uint16
	prefix string // "" or "/repository/npm"
	at     hcl.Range
}

// String is the URL with a slash at its end, as clients want it.
func (b base) String() string {
	host := string(b.host)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if b.port != b.scheme.DefaultPort() {
		host = fmt.Sprintf("%s:%d", host, b.port)
	}
	return string(b.scheme) + "://" + host + b.prefix + "/"
}

// base reads a URL of a registry.
func (s *source) base(e hcl.Expression) (base, bool) {
	v, ok := s.word(e)
	if !ok {
		return base{}, false
	}
	if strings.Contains(authority(v), "@") {
		s.conceal(e.Range(), "the URL of the registry holds a credential", "this version sends none: take everything up to the @ out")
		return base{}, false
	}
	b, name, err := parseBase(v)
	if err != nil {
		s.fail(e.Range(), fmt.Sprintf("%q is not the URL of a registry", v), err.Error()+`; write it as in "https://npm.example.com" or "https://repo.example.com/repository/npm/"`)
		return base{}, false
	}
	b.at = e.Range()
	b.host, ok = s.hostName(name, b.at)
	return b, ok && s.checkAddress(b.host, b.at)
}

func parseBase(v string) (b base, host string, err error) {
	u, err := url.Parse(v)
	switch {
	case err != nil:
		return b, "", errors.New("it does not parse")
	case u.Scheme != "https" && u.Scheme != "http":
		return b, "", errors.New("it begins with https:// or http://")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return b, "", errors.New("it has no query and no fragment")
	case strings.ContainsAny(v, "{}"):
		return b, "", errors.New("its path has no variables")
	}
	b.scheme, b.prefix = capability.Scheme(u.Scheme), strings.TrimSuffix(u.EscapedPath(), "/")
	b.port = b.scheme.DefaultPort()
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return b, "", errors.New("a port is a number from 1 to 65535")
		}
		b.port = uint16(n)
	}
	if b.prefix != "" {
		if _, err := capability.ParsePath(b.prefix); err != nil {
			return b, "", err
		}
	}
	return b, u.Hostname(), nil
}
