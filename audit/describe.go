package audit

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"scupper.dev/scupper/capability"
)

// Caps of what a request brings into a record, in bytes, so that no request makes a
// record that readers choke on.
const (
	maxPath       = 2 << 10
	maxSmallest   = 4 << 10
	maxSentence   = 1 << 10
	maxExcerpt    = 256
	maxWord       = 64
	maxName       = 128
	maxParameters = 64
)

// masked stands for a query value.
const masked = "…"

// describe is the record of d about r. It takes nothing from r that could be a
// secret: no header, no byte of a body, no query value unless the policy lists it.
func describe(r *capability.Request, d capability.Decision) *Record {
	rec := &Record{
		Event: Decided, Kind: string(r.Kind), Verdict: d.Verdict(), Reason: string(d.Reason),
		Host: string(r.Host), Port: r.Port, Scheme: string(r.Scheme),
		Method: escaped(r.Method, maxWord), Path: capped(r.Path.Shown(), maxPath), Query: parameters(r.Query, d),
		Front: string(r.Front), Protocol: escaped(r.Protocol, maxWord), Excerpt: escaped(r.Excerpt, maxExcerpt),
	}
	if r.Address.IsValid() {
		rec.Address = capped(r.Address.String(), maxName)
	}
	if r.Body.Present {
		rec.Body = &Body{Type: escaped(r.Body.Type, maxName), Encoding: escaped(r.Body.Encoding, maxWord), Length: r.Body.Length}
	}
	rec.Upgrade, rec.Override = r.WebSocket, r.Overrides()
	if d.Allowed() && d.Allow != nil {
		rec.Bound = d.Grant.Credential.Name
	}
	rec.place(d.Grant, d.Allow)
	if r.Kind == capability.KindTool {
		rec.describeTool(r, d)
	}
	return rec
}

// place says where in the policy g and a stand. What a preset allows stands in the
// preset; the policy's own place is the one that uses it.
func (rec *Record) place(g *capability.Grant, a *capability.Allow) {
	if g == nil {
		return
	}
	rec.Grant, rec.Position, rec.Preset = g.Name, g.Position.String(), ""
	switch {
	case a == nil:
	case a.Position.File == g.Position.File:
		rec.Position = a.Position.String()
	default:
		rec.Preset = a.Position.String()
	}
}

// describeDenial adds to rec what the operator needs to understand it.
func describeDenial(rec *Record, p *capability.Policy, r *capability.Request, d capability.Decision) {
	if r.Kind == capability.KindPacket || d.Reason.Malformed() {
		rec.Mismatch = d.Reason.Sentence()
		return
	}
	e := p.Explain(r, d)
	rec.place(e.Nearest, e.Allow)
	rec.Mismatch, rec.Smallest = capped(e.Mismatch, maxSentence), capped(e.Smallest, maxSmallest)
}

func parameters(q capability.Query, d capability.Decision) []Parameter {
	n := min(len(q), maxParameters)
	out := make([]Parameter, 0, n)
	for _, p := range q[:n] {
		shown := masked
		if d.Allow != nil && listed(d.Allow, p) {
			shown = capped(p.Value, maxName)
		}
		length := len(p.Value)
		if secret(d.Grant, p.Name) {
			length = 0 // a placeholder is as long as its secret
		}
		out = append(out, Parameter{Name: capped(p.Shown(), maxName), Value: shown, Length: length})
	}
	return out
}

// secret reports whether a credential rides in the parameter with that name.
func secret(g *capability.Grant, name string) bool {
	var c capability.Credential
	if g != nil {
		c = g.Credential
	}
	return c.InParameter(name)
}

// listed reports whether the policy itself spells out the value of p.
func listed(a *capability.Allow, p capability.Parameter) bool {
	for i := range a.Query.Parameters {
		if rule := &a.Query.Parameters[i]; rule.Name == p.Name {
			return slices.Contains(rule.Value.Values(), p.Value)
		}
	}
	return false
}

// capped is s in valid UTF-8, cut after at most n bytes on the border of a rune.
func capped(s string, n int) string {
	long := len(s) > n
	if long {
		s = s[:n]
		for i := 1; i < utf8.UTFMax && i < len(s); i++ {
			if c := s[len(s)-i]; utf8.RuneStart(c) {
				if !utf8.FullRuneInString(s[len(s)-i:]) {
					s = s[:len(s)-i]
				}
				break
			}
		}
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if long {
		return s + masked
	}
	return s
}

// escaped is the first n bytes of s in printable ASCII, as Go writes it in a string.
func escaped(s string, n int) string {
	long := len(s) > n
	if long {
		s = s[:n]
	}
	if !plain(s) {
		q := strconv.QuoteToASCII(s)
		s = strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
	}
	if long {
		return s + masked
	}
	return s
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// packet is the request that stands for traffic no enforcer speaks.
func packet(protocol string, to netip.AddrPort) *capability.Request {
	return &capability.Request{Kind: capability.KindPacket, Protocol: protocol, Address: to.Addr(), Port: to.Port()}
}
