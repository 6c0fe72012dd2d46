package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
)

// issuer reads one answer for what its allow block says that it hands out.
type issuer struct {
	rule *capability.IssueRule
	from capability.Host
	to   *issued
}

// askReadable makes a request whose answer is read ask for no coding.
func (x *exchange) askReadable(h http.Header) {
	if r := x.d.Allow.Issues; r != nil && len(r.Fields)+len(r.Links) > 0 {
		h["Accept-Encoding"] = []string{"identity"}
	}
}

// issue remembers what resp hands out, before the client can use it. An answer that
// cannot be read hands out nothing.
func (x *exchange) issue(resp *http.Response) {
	if x.d.Allow.Issues == nil || resp.StatusCode >= http.StatusBadRequest {
		return
	}
	i := issuer{rule: x.d.Allow.Issues, from: x.q.Host, to: x.p.issued}
	i.cookies(resp)
	if slices.Contains(i.rule.Links, "location") {
		i.link(resp.Header.Get("Location"))
	}
	if len(i.rule.Fields)+len(i.rule.Links) == 0 || !readable(resp) {
		return
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxIssuing+1))
	whole := resp.Body
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), whole), whole}
	if err == nil && len(body) <= maxIssuing {
		i.json(body)
	}
}

// readable: JSON in any of its types, without a coding.
func readable(resp *http.Response) bool {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	coded := resp.Header.Get("Content-Encoding")
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")) && (coded == "" || coded == "identity")
}

// cookies are good for the host that sets them and for no other, whatever they say.
func (i *issuer) cookies(resp *http.Response) {
	for _, c := range resp.Cookies() {
		if slices.Contains(i.rule.Cookies, c.Name) {
			i.to.add(i.from, capability.InCookie, c.Name, c.Value)
		}
	}
}

func (i *issuer) json(text []byte) {
	d := json.NewDecoder(bytes.NewReader(text))
	var tree any
	if d.Decode(&tree) == nil {
		i.walk(tree, 0)
	}
}

func (i *issuer) walk(tree any, depth int) {
	if depth > maxNesting {
		return
	}
	switch tree := tree.(type) {
	case []any:
		for _, item := range tree {
			i.walk(item, depth+1)
		}
	case map[string]any:
		for name, value := range tree {
			if text, ok := value.(string); ok {
				i.field(name, text, tree)
			}
			i.walk(value, depth+1)
		}
	}
}

// field is one member of an object that is a text.
func (i *issuer) field(name, text string, beside map[string]any) {
	if slices.Contains(i.rule.Fields, name) {
		for _, to := range i.targets() {
			i.to.add(to, capability.InHeader, "", text)
		}
	}
	if !slices.Contains(i.rule.Links, name) {
		return
	}
	to, ok := i.link(text)
	if !ok {
		return
	}
	for _, list := range i.rule.Headers {
		headers, _ := beside[list].(map[string]any)
		for name, value := range headers {
			if v, ok := value.(string); ok {
				i.to.add(to, capability.InHeader, textproto.CanonicalMIMEHeaderKey(name), v)
			}
		}
	}
}

func (i *issuer) targets() []capability.Host {
	if len(i.rule.To) == 0 {
		return []capability.Host{i.from}
	}
	return i.rule.To
}

// link hands out the query of a URL, where that is signed, for the host to which the URL
// leads.
func (i *issuer) link(text string) (to capability.Host, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil {
		return "", false
	}
	if to, err = capability.ParseHost(u.Hostname()); err != nil || !i.rule.Leads(i.from, to) {
		return "", false
	}
	query, err := capability.ParseQuery(u.RawQuery)
	if err != nil || !query.Signed() {
		return to, err == nil
	}
	for _, p := range query {
		i.to.add(to, capability.InQuery, p.Name, p.Value)
	}
	return to, true
}
