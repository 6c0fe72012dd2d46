package difference

import (
	"fmt"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
)

// describe says which allow block f is about.
func (s *side) describe(f found) Set {
	at := place(f.grant, f.allow)
	set := Set{
		Grant: f.grant.Name, Place: short(at), position: at, Methods: f.allow.Methods,
		URL: address(&capability.Request{Host: capability.Host(f.grant.Host.String()), Port: f.grant.Port, Scheme: f.grant.Scheme}, f.allow.Path.String()),
	}
	if f.allow.Position.File != at.File {
		set.Preset = short(f.allow.Position)
	}
	if f.nearest != nil {
		set.Nearest = short(place(f.nearest.grant, f.nearest.allow))
	}
	set.Conveys, set.Terms = conveys(f.allow, f.grant), s.terms(f.grant)
	return set
}

// short is file:line.
func short(p capability.Position) string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// conveys is what else an allow block says.
func conveys(a *capability.Allow, g *capability.Grant) []string {
	out := []string{}
	names, patterns := a.Path.Variables()
	for i, n := range names {
		if text := patterns[i].String(); text != "slug" {
			out = append(out, n+" = "+text)
		}
	}
	if a.Query.Any {
		out = append(out, "any query")
	}
	for _, p := range a.Query.Parameters {
		text := "query " + p.Name + " = " + p.Value.String()
		if p.Required && len(p.Value.Values()) != 1 {
			text += ", required"
		}
		out = append(out, text)
	}
	for _, h := range a.Headers {
		out = append(out, "header "+h.Name+" = "+h.Value.String())
	}
	if b := a.Body; b != nil {
		out = append(out, fmt.Sprintf("body %s up to %s, %s", b.Type, amount(b.Max), content{b}))
	}
	if a.WebSocket {
		out = append(out, "WebSocket")
	}
	if a.Issues != nil {
		out = append(out, "answers hand out "+issued(a.Issues, g.Host)[1:].String())
	}
	return out
}

// terms are what a grant says of all its allow blocks.
func (s *side) terms(g *capability.Grant) []string {
	out := []string{"credential " + s.binding(g.Credential)}
	if len(g.Networks) > 0 {
		out = append(out, "networks "+prefixes(g.Networks))
	}
	if !g.Expires.IsZero() {
		out = append(out, "until "+lastDay(g.Expires))
	}
	return append(out, bounds(g)...)
}

// binding is a credential with its source; no secret is read.
func (s *side) binding(c capability.Credential) string {
	text := c.String()
	if c.Mode == capability.Bound {
		for _, declared := range s.file.Credentials {
			if declared.Name == c.Name {
				text += " (" + declared.Source() + ", in " + c.Place.String() + ")"
			}
		}
	}
	if c.Strip {
		text += ", foreign ones left out"
	}
	return text
}

// restrictions say in what b is less than its allow block.
func (s *side) restrictions(b *box) []string {
	out := []string{}
	for _, name := range slices.Concat(fixed[:], []string{dimPath}) {
		if b.only[name] {
			out = append(out, s.say(b, name))
		}
	}
	var own []string
	for name := range b.only {
		if strings.Contains(name, " ") {
			own = append(own, s.restriction(name, b.dims[name]))
		}
	}
	slices.Sort(own)
	return append(out, own...)
}

func (s *side) say(b *box, name string) string {
	if name != dimCredential {
		return s.restriction(name, b.dims[name])
	}
	way := b.dims[name].(words)[0]
	switch kind, _, _ := strings.Cut(way, " "); {
	case strings.HasSuffix(way, andForeign):
		return "requests that carry a foreign credential, which is left out"
	case kind+" " == carriesSecret:
		return "requests that go out with " + s.binding(b.grant.Credential)
	case kind+" " == carriesPinned:
		return "requests that carry " + b.grant.Credential.String()
	case way == carriesIssued:
		return "requests that carry what answers of this run have handed out"
	}
	return "requests without a credential"
}

func (s *side) restriction(name string, v set) string {
	switch name {
	case dimHost:
		return "host " + v.String()
	case dimMethod:
		return "method " + v.String()
	case dimWebSocket:
		return "as a WebSocket"
	case dimBody:
		if v.key() == noBody {
			return "without a body"
		}
		return "body of " + v.String()
	case dimSize:
		return "bodies " + v.String()
	case dimTime:
		return v.String()
	case dimPath:
		return "path " + v.String()
	case dimQuery:
		return "parameters that are not declared"
	case dimForm:
		return "fields that are not declared"
	case dimContent:
		return "bodies that are " + v.String()
	case dimNetworks:
		return "where the host leads to " + v.String()
	case dimIssues:
		return "answers that hand out " + v.String()
	}
	if values, ok := v.(values); ok && values.pattern == nil {
		return "without " + name
	}
	return name + " = " + v.String()
}

// amount is a number of bytes as policies write it.
func amount(n int64) string {
	units := []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}
	for _, u := range units {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d%s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%dB", n)
}
