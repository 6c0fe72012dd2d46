package difference

import (
	"bytes"
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/payload"
)

// verdict is what a policy says of a probe.
type verdict struct {
	allowed bool
	reason  string
}

// judge asks the policy itself, and what stands behind the decision: the headers that
// go out, the inspector of the body, the check of the address.
func judge(policy *capability.Policy, p probe) verdict {
	d := policy.Decide(p.request)
	if !d.Allowed() {
		return verdict{false, string(d.Reason)}
	}
	header, _ := d.Header(p.request)
	for name, want := range p.sent {
		if got := strings.Join(header[name], ", "); got != want && !(want == "" && name == "User-Agent" && got == capability.UserAgent) {
			return verdict{false, fmt.Sprintf("it goes out with another %s", name)}
		}
	}
	if p.address.IsValid() {
		if reason := capability.CheckAddress(p.address, d.Grant.Networks, nil); reason != capability.Granted {
			return verdict{false, string(reason)}
		}
	}
	if p.content != nil && d.Allow.Body != nil && d.Allow.Body.Inspector != nil {
		if _, err := d.Allow.Body.Inspector.Inspect(bytes.Clone(p.content)); err != nil {
			return verdict{false, string(capability.BodyNotGranted)}
		}
	}
	if p.issue != "" && !slices.Contains(issued(d.Allow.Issues, d.Grant.Host), p.issue) {
		return verdict{false, "its answer hands out nothing like it"}
	}
	return verdict{true, string(d.Reason)}
}

// prove finds a request of b that s allows and o does not.
func (c *comparison) prove(s, o *side, b *box) (Example, bool) {
	p, ok := c.probe(s, b)
	if !ok {
		return Example{}, false
	}
	for _, content := range contents(&p, b) {
		p.content = content
		if content != nil && b.dims[dimSize].(size).over < 0 {
			p.request.Body.Length = int64(len(content))
		}
		mine, theirs := judge(s.proof, p), judge(o.proof, p)
		if mine.allowed && !theirs.allowed {
			return example(p, b, mine, theirs), true
		}
	}
	return Example{}, false
}

// contents are what the body may be: what was made already, or where the inspection is
// what differs, texts that inspectors differ about.
func contents(p *probe, b *box) [][]byte {
	if !b.only[dimContent] {
		return [][]byte{p.content}
	}
	out := [][]byte{p.content}
	for _, s := range []string{"{}", `{"x":1}`, `"a"`, "1", "null", "[]", "[{}]", "x=a", "a"} {
		out = append(out, []byte(s))
	}
	if t, ok := b.at(nil, dimContent).(content); ok {
		if m, ok := t.inspector().(*payload.Multipart); ok {
			out = append(out, filled(m, false), filled(m, true))
		}
	}
	return out
}

// filled is a body for m, with the parts that are required or all.
func filled(m *payload.Multipart, all bool) []byte {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if w.SetBoundary("example") != nil {
		return nil
	}
	for _, part := range m.Parts {
		if !all && !part.Required {
			continue
		}
		params := map[string]string{"name": part.Name}
		disposition := fmt.Sprintf(`form-data; name="%s"`, part.Name)
		if part.Filename.String() != "" {
			params["filename"] = shortest(part.Filename)
			disposition += fmt.Sprintf(`; filename="%s"`, params["filename"])
		}
		h := textproto.MIMEHeader{"Content-Disposition": {disposition}}
		if part.Type != "" {
			h.Set("Content-Type", mime.FormatMediaType(part.Type, nil))
		}
		text := "a"
		if part.Value.String() != "" {
			text = shortest(part.Value)
		}
		if into, err := w.CreatePart(h); err == nil {
			fmt.Fprint(into, text)
		}
	}
	w.Close()
	return b.Bytes()
}

// shortest is a shortest value of a pattern.
func shortest(p capability.Pattern) string {
	c := newComparison()
	text, _, _ := c.value(values{pattern: c.pattern(p)}, nil)
	return text
}

func encode(form capability.Query) []byte {
	pairs := make([]string, len(form))
	for i, f := range form {
		pairs[i] = url.QueryEscape(f.Name) + "=" + url.QueryEscape(f.Value)
	}
	return []byte(strings.Join(pairs, "&"))
}

// example is p for people and programs.
func example(p probe, b *box, mine, theirs verdict) Example {
	r := p.request
	e := Example{Method: r.Method, URL: address(r, p.path), Header: make(map[string]string), Here: mine.reason, There: theirs.reason}
	for name, v := range r.Header {
		e.Header[name] = strings.Join(v, ", ")
	}
	for name, v := range p.sent { // constants go without saying, unless they are what differs
		if delete(e.Header, name); v != "" && b.only[prefixHeader+name] {
			e.Header[name] = v
		}
	}
	if r.Body.Present {
		e.Body = fmt.Sprintf("%d bytes of %s", r.Body.Length, r.Body.Type)
		if r.Body.Encoding != "" {
			e.Body += " in " + r.Body.Encoding
		}
		if p.content != nil {
			e.Body += ": " + quoted(p.content)
		}
	}
	if !r.Time.Equal(firstMoment()) {
		e.Time = moment(r.Time)
	}
	if p.address.IsValid() {
		e.Address = p.address.String()
	}
	e.WebSocket, e.Issues = r.WebSocket, p.issue
	e.probe = p
	return e
}

func address(r *capability.Request, path string) string {
	host := string(r.Host)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if r.Port != r.Scheme.DefaultPort() {
		host += fmt.Sprintf(":%d", r.Port)
	}
	u := string(r.Scheme) + "://" + host + path
	if len(r.Query) > 0 {
		u += "?" + string(encode(r.Query))
	}
	return u
}

// maxContent is how much of a body is shown.
const maxContent = 100

// quoted is the body of an example.
func quoted(content []byte) string {
	s := string(content[:min(len(content), maxContent)])
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		s = strconv.Quote(s)
	}
	if len(content) > maxContent {
		s += "..."
	}
	return s
}
