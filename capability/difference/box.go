package difference

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/payload"
)

// box is a set of requests that is a product: every host of it with every method, every
// path, and so on. An allow block is a few boxes.
type box struct {
	grant *capability.Grant
	allow *capability.Allow
	dims  map[string]set
	only  map[string]bool // the dimensions in which it is less than its allow block
	doubt bool            // it was too much to compare
	id    string          // its key, where that is known
}

// The dimensions of every box. Besides, there is one for each parameter, header and
// field that is declared: "query page", "header Range", "form state".
const (
	dimEndpoint   = "endpoint"
	dimHost       = "host"
	dimMethod     = "method"
	dimWebSocket  = "websocket"
	dimBody       = "body"
	dimSize       = "size"
	dimCredential = "credential"
	dimTime       = "time"
	dimPath       = "path"
	dimQuery      = "query"
	dimContent    = "content"
	dimForm       = "form"
	dimNetworks   = "networks"
	dimIssues     = "issues"

	prefixQuery  = "query "
	prefixHeader = "header "
	prefixForm   = "form "
)

// fixed are the dimensions in the order in which boxes are compared: cheap ones first.
var fixed = [...]string{
	dimEndpoint, dimHost, dimMethod, dimBody, dimWebSocket, dimSize, dimCredential, dimTime, dimNetworks, dimIssues, dimQuery, dimForm, dimContent,
}

const (
	noBody   = "none"
	declared = "declared parameters"
	others   = "others"
)

// boxes are those of one allow block. Whether a request without a body is granted
// depends on its method, so there are up to four.
func (c *comparison) boxes(s *side, g *capability.Grant, a *capability.Allow) (out []box) {
	common := c.common(s, g, a)
	for _, writing := range []bool{true, false} {
		methods := slices.DeleteFunc(slices.Clone(a.Methods), func(m string) bool { return writes(m) != writing })
		if len(methods) == 0 {
			continue
		}
		if a.Body == nil || a.Body.Inspector == nil || !writing {
			b := box{grant: g, allow: a, dims: maps.Clone(common)}
			b.dims[dimMethod], b.dims[dimBody] = words(methods), words{noBody}
			out = append(out, b)
		}
		if a.Body != nil {
			b := box{grant: g, allow: a, dims: maps.Clone(common)}
			b.dims[dimMethod] = words(methods)
			c.body(b.dims, a.Body)
			out = append(out, b)
		}
	}
	return out
}

func writes(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

// common are the dimensions that do not depend on the body.
func (c *comparison) common(s *side, g *capability.Grant, a *capability.Allow) map[string]set {
	d := map[string]set{
		dimEndpoint:   words{fmt.Sprintf("%s:%d", g.Scheme, g.Port)},
		dimHost:       hostsOf(g, s.sharing(g)),
		dimWebSocket:  words{"plain"},
		dimCredential: words(s.carried(&g.Credential)),
		dimTime:       span{until: g.Expires},
		dimPath:       paths{of: c.template(a.Path)},
		dimNetworks:   networks{public: true, ranges: g.Networks},
		dimIssues:     issued(a.Issues, g.Host),
		dimQuery:      words{declared},
		dimSize:       size{-1, math.MaxInt64},
	}
	if a.WebSocket {
		d[dimWebSocket] = words{"plain", "websocket"}
	}
	if a.Query.Any {
		d[dimQuery] = words{declared, others}
	}
	for _, p := range a.Query.Parameters {
		d[prefixQuery+p.Name] = values{absent: !p.Required, pattern: c.pattern(p.Value)}
	}
	for _, h := range a.Headers {
		d[prefixHeader+h.Name] = c.header(h)
	}
	return d
}

// header is what goes out of a header that is listed: a single value always.
func (c *comparison) header(h capability.HeaderRule) values {
	return values{absent: len(h.Value.Values()) != 1, pattern: c.pattern(h.Value), field: true}
}

func (c *comparison) body(d map[string]set, b *capability.BodyRule) {
	codings := words{b.Type}
	if b.Inspector != nil && b.Coding != "" {
		codings = append(codings, b.Type+" in "+b.Coding)
	}
	d[dimBody], d[dimSize], d[dimContent] = codings, size{-1, b.Max}, content{b}
	form, ok := b.Inspector.(*payload.Form)
	if !ok {
		return
	}
	d[dimForm] = words{declared}
	if form.Rule.Any {
		d[dimForm] = words{declared, others}
	}
	for _, p := range form.Rule.Parameters {
		d[prefixForm+p.Name] = values{absent: !p.Required, pattern: c.pattern(p.Value)}
	}
}

// issued are the credentials that answers hand out.
func issued(r *capability.IssueRule, own capability.HostPattern) words {
	out := words{"nothing"}
	if r == nil {
		return out
	}
	to := []string{own.String()}
	if len(r.To) > 0 {
		to = to[:0]
		for _, h := range r.To {
			to = append(to, string(h))
		}
	}
	for kind, names := range map[string][]string{"field": r.Fields, "link": r.Links, "headers": r.Headers} {
		for _, name := range names {
			for _, h := range to {
				out = append(out, kind+" "+name+" for "+h)
			}
		}
	}
	for _, name := range r.Cookies {
		out = append(out, "cookie "+name)
	}
	slices.Sort(out[1:])
	return out
}

// at is a dimension of b, also where its allow block says nothing of it.
func (b *box) at(c *comparison, name string) set {
	if s, ok := b.dims[name]; ok {
		return s
	}
	free := values{absent: true, pattern: c.any}
	if header, ok := strings.CutPrefix(name, prefixHeader); ok {
		return c.unlisted(header)
	}
	switch {
	case name == dimForm:
		return words{declared, others}
	case name == dimContent:
		return content{}
	case strings.HasPrefix(name, prefixQuery):
		if b.open(dimQuery) {
			return free
		}
	case strings.HasPrefix(name, prefixForm):
		if b.dims[dimForm] == nil || b.open(dimForm) {
			return free
		}
	}
	return values{absent: true}
}

// open reports whether others than the declared parameters are taken.
func (b *box) open(dim string) bool {
	return len(b.dims[dim].(words)) == 2 || b.dims[dim].key() == others
}

// names are the dimensions in which two boxes can differ, but for the path.
func names(a, b *box) []string {
	out := slices.Clone(fixed[:])
	var own []string
	for _, d := range []map[string]set{a.dims, b.dims} {
		for name := range d {
			if strings.Contains(name, " ") && !slices.Contains(own, name) {
				own = append(own, name)
			}
		}
	}
	slices.Sort(own)
	return append(out, own...)
}

// key is equal for boxes that hold the same requests.
func (b *box) key() string {
	if b.id != "" {
		return b.id
	}
	var s strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b.dims)) {
		fmt.Fprintf(&s, "%s\x01%s\x02", name, b.dims[name].key())
	}
	return s.String()
}

// whole reports whether b is all of what its allow block says.
func (b *box) whole() bool { return len(b.only) == 0 }

// unsure reports whether b may hold no request after all.
func (b *box) unsure() bool {
	if b.doubt {
		return true
	}
	for _, s := range b.dims {
		if s.unsure() {
			return true
		}
	}
	return false
}

// with is b with less in one dimension.
func (b *box) with(name string, s set) box {
	out := *b
	out.id = ""
	out.dims, out.only = maps.Clone(b.dims), maps.Clone(b.only)
	if out.only == nil {
		out.only = make(map[string]bool)
	}
	out.dims[name], out.only[name] = s, true
	return out
}

// place is where the policy says it: the allow block, or the use of a preset.
func place(g *capability.Grant, a *capability.Allow) capability.Position {
	if a != nil && a.Position.File == g.Position.File {
		return a.Position
	}
	return g.Position
}

func comparePositions(a, b capability.Position) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
