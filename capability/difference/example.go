package difference

import (
	"cmp"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"scupper.dev/scupper/capability"
)

// probe is one request of a box, and what is expected to go out.
type probe struct {
	request *capability.Request
	path    string            // escaped
	sent    map[string]string // headers as they go out; empty: not sent
	content []byte            // of the body; nil: not looked at
	address netip.Addr        // that the host leads to; the zero Addr: a public one
	issue   string            // what the answer hands out; empty: nothing
}

// handedOut holds one token for every host.
type handedOut struct{}

func (handedOut) Holds(_ capability.Host, _ capability.Where, _, value string) bool {
	return value == issuedExample
}

// firstMoment is when examples are made where the time does not matter: before every
// expiry that a policy can name.
func firstMoment() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// probe makes a request of b; ok is false where none was found.
func (c *comparison) probe(s *side, b *box) (p probe, ok bool) {
	escaped, found, sure := c.pathOf(b.dims[dimPath].(paths))
	if !found || !sure {
		return probe{}, false
	}
	path, err := capability.ParsePath(escaped)
	if err != nil {
		return probe{}, false
	}
	g := b.grant
	p = probe{path: escaped, sent: make(map[string]string), request: &capability.Request{
		Time: firstMoment(), Kind: capability.KindHTTP, Host: capability.Host(b.dims[dimHost].(hosts).example()),
		Port: g.Port, Scheme: g.Scheme, Method: b.dims[dimMethod].(words)[0], Path: path, Header: make(map[string][]string),
	}}
	if from := b.dims[dimTime].(span).from; !from.IsZero() {
		p.request.Time = from
	}
	ws := b.dims[dimWebSocket].(words)
	p.request.WebSocket = ws[0] == "websocket"
	if n := b.dims[dimNetworks].(networks); !n.public {
		p.address, _ = outside(n.ranges[0], n.without)
	}
	if b.only[dimIssues] {
		p.issue = b.dims[dimIssues].(words)[0]
	}
	if !c.probeParameters(&p, b) {
		return probe{}, false
	}
	probeBody(&p, b)
	s.probeCredential(&p, b)
	return p, true
}

func (c *comparison) pathOf(p paths) (escaped string, found, sure bool) {
	return c.path(p.of, p.without)
}

// probeParameters fills the query, the headers and the fields of a form.
func (c *comparison) probeParameters(p *probe, b *box) bool {
	var form capability.Query
	for _, name := range slices.Sorted(maps.Keys(b.dims)) {
		kind, key, ok := strings.Cut(name, " ")
		if !ok {
			continue
		}
		v := b.dims[name].(values)
		text := ""
		if !v.absent {
			var found bool
			var err error
			if text, found, err = c.value(v, v.without); !found || err != nil || len(text) > capability.MaxValue {
				return false
			}
		}
		switch {
		case kind+" " == prefixHeader:
			p.sent[key] = text
			if !v.absent {
				p.request.Header[key] = []string{text}
			}
		case v.absent:
		case kind+" " == prefixQuery:
			p.request.Query = append(p.request.Query, capability.Parameter{Name: key, Value: text})
		default:
			form = append(form, capability.Parameter{Name: key, Value: text})
		}
	}
	if b.dims[dimQuery].key() == others {
		p.request.Query = append(p.request.Query, undeclared(b, prefixQuery))
	}
	if d := b.dims[dimForm]; d != nil && (d.key() == others || len(form) > 0 || b.only[dimForm]) {
		if d.key() == others {
			form = append(form, undeclared(b, prefixForm))
		}
		p.content = encode(form)
	}
	return true
}

// undeclared is a parameter that b's dimensions do not name.
func undeclared(b *box, prefix string) capability.Parameter {
	name := "x"
	for b.dims[prefix+name] != nil {
		name += "x"
	}
	return capability.Parameter{Name: name, Value: "a"}
}

func probeBody(p *probe, b *box) {
	if b.dims[dimBody].(words)[0] == noBody {
		return
	}
	kind, coding, _ := strings.Cut(b.dims[dimBody].(words)[0], " in ")
	length := cmp.Or(int64(len(p.content)), 2)
	if s := b.dims[dimSize].(size); s.over >= 0 || length > s.most {
		length = s.most
		if s.over >= 0 && s.over < math.MaxInt64 {
			length = s.over + 1
		}
		p.content = nil
	}
	p.request.Body = capability.Body{Present: true, Type: kind, Encoding: coding, Length: length}
	p.request.Header["Content-Type"] = []string{kind}
}

// probeCredential carries what b is about; nothing where it is about something else.
func (s *side) probeCredential(p *probe, b *box) {
	way := b.dims[dimCredential].(words)[0]
	way, foreign := strings.CutSuffix(way, andForeign)
	header := p.request.Header
	switch kind, rest, _ := strings.Cut(way, " "); {
	case way == carriesNone:
	case kind+" " == carriesSecret:
		p.place(b.grant.Credential.Place, placeholderExample(rest))
	case kind+" " == carriesPinned:
		header["Authorization"] = []string{"Bearer " + pinnedExample(rest)}
	case way == carriesIssued:
		header["Authorization"] = []string{"Bearer " + issuedExample}
		p.request.Issued = handedOut{}
	}
	if foreign {
		name := "X-Api-Key"
		if len(header[name]) > 0 || b.grant.Credential.Place.Header() == name {
			name = "X-Auth-Token"
		}
		header[name] = []string{"of-somebody-else"}
	}
}

// place puts a placeholder where the sandbox may have it.
func (p *probe) place(at capability.Place, placeholder string) {
	switch at.In {
	case capability.InQuery:
		p.request.Query = append(p.request.Query, capability.Parameter{Name: at.Name, Value: placeholder})
	case capability.InCookie:
		p.request.Header["Cookie"] = []string{at.Name + "=" + placeholder}
	case capability.InHeader:
		p.request.Header[at.Name] = []string{at.Before + placeholder + at.After}
	case capability.InBasic:
		p.request.Header["Authorization"] = []string{"Bearer " + placeholder}
	}
}
