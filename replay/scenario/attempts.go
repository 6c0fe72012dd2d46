package scenario

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"scupper.dev/scupper/replay/attempt"
)

// attempts reads a block attempt, once for each item of its for_each.
func (r reader) attempts(hb *hclsyntax.Block) (out []attempt.Attempt) {
	b := r.open(hb, 0, "for_each", "http raw tcp udp icmp dns run tool")
	if len(hb.Body.Blocks) != 1 {
		b.wrong(b.DefRange(), fmt.Sprintf("an attempt is one thing, not %d", len(hb.Body.Blocks)), `attempt { http { url = "https://…" } }`)
		return nil
	}
	items := []item{{}}
	if b.has("for_each") {
		items = r.items(hb.Body.Attributes["for_each"].Expr)
	}
	for _, it := range items {
		inner := r
		if it.set {
			inner.ctx = r.ctx.NewChild()
			inner.ctx.Variables = map[string]cty.Value{"item": it.object()}
		}
		out = append(out, inner.attempt(hb.Body.Blocks[0]))
	}
	return out
}

func (r reader) attempt(hb *hclsyntax.Block) attempt.Attempt {
	a := attempt.Attempt{Line: hb.DefRange().Start.Line}
	switch hb.Type {
	case "http":
		a.HTTP = r.http(hb)
	case "raw":
		a.Raw = r.raw(hb)
	case "tcp":
		b := r.open(hb, 0, "to bytes bytes_base64", "")
		a.Raw = &attempt.Raw{Connect: b.endpoint("to"), Bytes: b.bytes("bytes")}
	case "udp":
		b := r.open(hb, 0, "to bytes bytes_base64", "")
		a.UDP = &attempt.Send{To: b.endpoint("to"), Bytes: b.bytes("bytes")}
	case "icmp":
		b := r.open(hb, 0, "to bytes bytes_base64", "")
		a.ICMP = &attempt.Send{To: b.host(b.needed("to"), "to"), Bytes: b.bytes("bytes")}
	case "dns":
		a.DNS = r.dns(hb)
	case "run":
		b := r.open(hb, 0, "command", "")
		a.Run = &attempt.Run{Command: b.texts("command")}
		if len(a.Run.Command) == 0 {
			b.wrong(b.DefRange(), "run has no command", `command = ["sh", "-c", "…"]`)
		}
	case "tool":
		a.Tool = r.tool(hb)
	}
	return a
}

func (r reader) http(hb *hclsyntax.Block) *attempt.HTTP {
	b := r.open(hb, 0, "method url headers body body_base64 version follow", "")
	h := &attempt.HTTP{Method: "GET", URL: b.needed("url"), Version: b.oneOf("version", "1.1", "2"), Body: b.bytes("body"), Follow: b.boolean("follow")}
	if b.has("method") {
		h.Method = b.text("method")
	}
	b.urlHost(h.URL, "url")
	v := b.value("headers")
	if v == cty.NilVal {
		return h
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		b.wrong(b.at("headers"), "headers are no map", `headers = { Accept = "application/json" }`)
		return h
	}
	for it := v.ElementIterator(); it.Next(); {
		name, values := it.Element()
		for _, s := range b.textsOf(values, "headers") {
			h.Headers = append(h.Headers, attempt.Header{Name: name.AsString(), Value: s})
		}
	}
	return h
}

// urlHost checks the host of a URL.
func (b block) urlHost(url, name string) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || scheme != "http" && scheme != "https" {
		if url != "" {
			b.wrong(b.at(name), fmt.Sprintf("%q is no URL", url), name+` = "https://api.example.com/…"`)
		}
		return
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if host, _, err := net.SplitHostPort(rest); err == nil {
		rest = host
	}
	b.host(rest, name)
}

// endpoint is a host and a port.
func (b block) endpoint(name string) string {
	s := b.needed(name)
	host, _, err := net.SplitHostPort(s)
	if err != nil {
		if s != "" {
			b.wrong(b.at(name), fmt.Sprintf("%q is not a host and a port", s), name+` = "203.0.113.9:25"`)
		}
		return s
	}
	b.host(host, name)
	return s
}

func (r reader) raw(hb *hclsyntax.Block) *attempt.Raw {
	b := r.open(hb, 0, "connect tls sni alpn bytes bytes_base64 responses", "")
	return &attempt.Raw{
		Connect: b.endpoint("connect"), TLS: b.boolean("tls"), SNI: b.text("sni"), ALPN: b.texts("alpn"), Bytes: b.bytes("bytes"), Responses: b.integer("responses", 1),
	}
}

func (r reader) dns(hb *hclsyntax.Block) *attempt.DNS {
	b := r.open(hb, 0, "name type server network", "")
	d := &attempt.DNS{Name: b.needed("name"), Type: b.text("type"), Server: b.text("server"), Network: b.oneOf("network", "udp", "tcp")}
	if b.has("type") && !attempt.KnowsType(d.Type) {
		b.wrong(b.at("type"), fmt.Sprintf("no record type %q is known here", d.Type), `type = "TXT"`)
	}
	return d
}

// builtIn are the tools of the gateway.
func builtIn() []string { return []string{"read", "write", "edit", "glob", "grep", "bash"} }

func (r reader) tool(hb *hclsyntax.Block) *attempt.Tool {
	b := r.open(hb, 0, "name arguments", "")
	t := &attempt.Tool{Name: b.needed("name"), Arguments: json.RawMessage("{}")}
	if !slices.Contains(builtIn(), t.Name) && b.text("name") != "" && !isName(t.Name) {
		b.wrong(b.at("name"), fmt.Sprintf("%q cannot be the name of a tool", t.Name), "")
	}
	if v := b.value("arguments"); v != cty.NilVal {
		text, err := ctyjson.Marshal(v, v.Type())
		if err != nil {
			b.wrong(b.at("arguments"), "arguments cannot be written as JSON", err.Error())
		}
		t.Arguments = text
	}
	return t
}
