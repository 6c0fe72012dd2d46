package policyfile

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/payload"
)

// Format lays a policy out in the one usual way: it changes blanks only, and a text
// that it made stays as it is. A text that is not HCL is returned with its mistakes.
func Format(name string, text []byte) ([]byte, Diagnostics) {
	var diags Diagnostics
	s := source{name: name, text: text, diags: &diags}
	if s.syntax() == nil {
		return text, diags
	}
	return layOut(text), nil
}

// Print writes grants in the policy language, so that a preset can be read, reviewed
// or pasted after its expansion. What it writes loads to the same grants.
func Print(grants []*capability.Grant) []byte {
	var b bytes.Buffer
	for i, g := range grants {
		if i > 0 {
			b.WriteByte('\n')
		}
		printGrant(&b, g)
	}
	return layOut(b.Bytes())
}

func printGrant(b *bytes.Buffer, g *capability.Grant) {
	fmt.Fprintf(b, "grant %s {\n", capability.Quote(g.Name))
	attribute(b, "reason", g.Why)
	attribute(b, "owner", g.Owner)
	if !g.Expires.IsZero() {
		attribute(b, "expires", g.Expires.UTC().Format(time.RFC3339))
	}
	attribute(b, "host", g.Host.String())
	if g.Scheme != capability.HTTPS {
		attribute(b, "scheme", string(g.Scheme))
	}
	if g.Port != g.Scheme.DefaultPort() {
		fmt.Fprintf(b, "port = %d\n", g.Port)
	}
	fmt.Fprintf(b, "credential = %s\n", g.Credential)
	if g.Credential.Strip {
		b.WriteString("foreign = strip\n")
	}
	printNetworks(b, g.Networks)
	for _, a := range g.Allows {
		printAllow(b, a)
	}
	printLimits(b, g.Limits)
	b.WriteString("}\n")
}

func attribute(b *bytes.Buffer, name, value string) {
	if value != "" {
		fmt.Fprintf(b, "%s = %s\n", name, capability.Quote(value))
	}
}

func printNetworks(b *bytes.Buffer, networks []netip.Prefix) {
	if len(networks) == 0 {
		return
	}
	items := make([]string, len(networks))
	for i, n := range networks {
		items[i] = capability.Quote(n.String())
	}
	fmt.Fprintf(b, "networks = [%s]\n", strings.Join(items, ", "))
}

func printAllow(b *bytes.Buffer, a *capability.Allow) {
	items := make([]string, len(a.Methods))
	body := false
	for i, m := range a.Methods {
		items[i] = capability.Quote(m)
		body = body || writes(m)
	}
	fmt.Fprintf(b, "\nallow {\nmethods = [%s]\n", strings.Join(items, ", "))
	attribute(b, "path", a.Path.String())
	names, patterns := a.Path.Variables()
	pairs(b, "where", names, patterns)
	printRule(b, "query", a.Query)
	names, patterns = nil, nil
	for _, h := range a.Headers {
		names, patterns = append(names, capability.Quote(h.Name)), append(patterns, h.Value)
	}
	pairs(b, "headers", names, patterns)
	if a.WebSocket {
		b.WriteString("websocket = true\n")
	}
	switch {
	case a.Body != nil:
		printBody(b, a.Body)
	case body:
		b.WriteString("body = none\n")
	}
	printIssues(b, a.Issues)
	b.WriteString("}\n")
}

func printBody(b *bytes.Buffer, body *capability.BodyRule) {
	fmt.Fprintf(b, "body {\ntype = %s\nmax = \"%dB\"\n", capability.Quote(body.Type), body.Max)
	attribute(b, "coding", body.Coding)
	switch how := body.Inspector.(type) {
	case nil:
		if known(body.Type) {
			b.WriteString("inspect = false\n")
		}
	case payload.JSON:
		if how.Schema != nil {
			b.WriteString(schemaCall(how.Schema.String()))
		}
	case *payload.Form:
		printRule(b, "form", how.Rule)
	case *payload.Multipart:
		printParts(b, how.Parts)
	default:
		fmt.Fprintf(b, "schema = %s\n", how)
	}
	b.WriteString("}\n")
}

func schemaCall(name string) string {
	if embedded, ok := strings.CutPrefix(name, fromPreset+":"); ok {
		return fmt.Sprintf("schema = %s(%s)\n", fromPreset, capability.Quote(embedded))
	}
	return fmt.Sprintf("schema = file(%s)\n", capability.Quote(name))
}

func printParts(b *bytes.Buffer, parts []payload.Part) {
	b.WriteString("parts = {\n")
	for _, p := range parts {
		fmt.Fprintf(b, "%s = {\n", capability.Quote(p.Name))
		attribute(b, "type", p.Type)
		fmt.Fprintf(b, "max = \"%dB\"\n", p.Max)
		if p.Filename.String() != "" {
			fmt.Fprintf(b, "filename = %s\n", pattern(p.Filename))
		}
		if p.Value.String() != "" {
			fmt.Fprintf(b, "value = %s\n", pattern(p.Value))
		}
		if p.Required {
			b.WriteString("required = true\n")
		}
		b.WriteString("}\n")
	}
	b.WriteString("}\n")
}

func pairs(b *bytes.Buffer, attribute string, names []string, patterns []capability.Pattern) {
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(b, "%s = {\n", attribute)
	for i, name := range names {
		fmt.Fprintf(b, "%s = %s\n", name, pattern(patterns[i]))
	}
	b.WriteString("}\n")
}

func printRule(b *bytes.Buffer, attribute string, q capability.QueryRule) {
	if q.Any {
		fmt.Fprintf(b, "%s = any\n", attribute)
		return
	}
	names, patterns := make([]string, len(q.Parameters)), make([]string, len(q.Parameters))
	for i, p := range q.Parameters {
		names[i], patterns[i] = capability.Quote(p.Name), pattern(p.Value)
		if p.Required && len(p.Value.Values()) != 1 {
			patterns[i] = "required(" + patterns[i] + ")"
		}
	}
	if len(names) == 0 && attribute == "query" {
		return
	}
	fmt.Fprintf(b, "%s = {\n", attribute)
	for i := range names {
		fmt.Fprintf(b, "%s = %s\n", names[i], patterns[i])
	}
	b.WriteString("}\n")
}

// pattern is p as it is written: Pattern.String quotes as Go does, which HCL reads
// differently where a template begins.
func pattern(p capability.Pattern) string {
	values := p.Values()
	if values == nil {
		return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(p.String())
	}
	for i, v := range values {
		values[i] = capability.Quote(v)
	}
	if len(values) == 1 {
		return values[0]
	}
	return "one_of(" + strings.Join(values, ", ") + ")"
}

func printLimits(b *bytes.Buffer, l capability.Limits) {
	if l == (capability.Limits{}) {
		return
	}
	b.WriteString("\nlimits {\n")
	number(b, "requests", l.Requests, "%d")
	number(b, "upload", l.Upload, `"%dB"`)
	number(b, "download", l.Download, `"%dB"`)
	if l.Rate.Requests > 0 {
		unit := map[time.Duration]string{time.Second: "s", time.Minute: "m", time.Hour: "h"}[l.Rate.Per]
		fmt.Fprintf(b, "rate = \"%d/%s\"\n", l.Rate.Requests, unit)
	}
	number(b, "misses", l.Misses, "%d")
	number(b, "names", l.Names, "%d")
	b.WriteString("}\n")
}

func number(b *bytes.Buffer, name string, n int64, format string) {
	if n > 0 {
		fmt.Fprintf(b, "%s = "+format+"\n", name, n)
	}
}
