package scenario

import (
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/replay/canary"
)

// scenario reads a block into s.
func (r reader) scenario(s *Scenario, hb *hclsyntax.Block) {
	b := r.open(hb, 1, "describe source cases policy role needs for_each", "given attempt expect")
	s.Describe, s.Source = b.needed("describe"), b.text("source")
	s.Cases, s.Needs = b.texts("cases"), b.texts("needs")
	s.Policy, s.Role = b.text("policy"), b.text("role")
	expects := 0
	for _, inner := range hb.Body.Blocks {
		switch inner.Type {
		case "given":
			r.given(&s.Given, inner)
		case "attempt":
			s.Attempts = append(s.Attempts, r.attempts(inner)...)
		case "expect":
			expects++
			s.Expect = r.expect(inner, s.Canaries)
		}
	}
	if len(s.Attempts) == 0 && len(*r.diags) == 0 {
		r.wrong(hb.DefRange(), fmt.Sprintf("scenario %q attempts nothing", b.label()), `attempt { http { url = "https://…" } }`)
	}
	if expects != 1 {
		r.wrong(hb.DefRange(), fmt.Sprintf("scenario %q has %d blocks expect, not 1: it has to be able to fail", b.label(), expects), `expect { verdict = "deny" }`)
	}
	for _, a := range s.Attempts {
		if (a.Tool != nil) != s.Calls() {
			r.wrong(hb.DefRange(), "a scenario calls tools in all its attempts or in none", "make two scenarios of it")
			break
		}
	}
}

func (r reader) given(g *Given, hb *hclsyntax.Block) {
	b := r.open(hb, 0, "env credential", "file outside link dns certificate")
	g.Env, g.Credentials = b.pairs("env"), b.pairs("credential")
	for _, inner := range hb.Body.Blocks {
		switch inner.Type {
		case "file", "outside":
			f := r.open(inner, 1, "text text_base64 mode", "")
			g.Files = append(g.Files, File{Name: f.path(), Content: f.bytes("text"), Mode: f.mode(), Outside: inner.Type == "outside"})
		case "link":
			l := r.open(inner, 1, "to", "")
			g.Files = append(g.Files, File{Name: l.path(), Link: l.needed("to")})
		case "dns":
			g.DNS = append(g.DNS, r.answers(inner))
		case "certificate":
			c := r.open(inner, 1, "fault", "")
			g.Certificates = append(g.Certificates, Certificate{c.host(c.label(), "fault"), c.oneOf("fault", "expired", "self_signed", "wrong_name")})
		}
	}
}

// path is the block's name as a file in a folder.
func (b block) path() string {
	if !filepath.IsLocal(b.label()) {
		b.wrong(b.DefRange(), fmt.Sprintf("file %q is not below its folder", b.label()), `file "notes/secrets.env" { … }`)
	}
	return b.label()
}

func (b block) mode() uint32 {
	if !b.has("mode") {
		return 0o644
	}
	n, err := strconv.ParseUint(b.text("mode"), 8, 9)
	if err != nil {
		b.wrong(b.at("mode"), "a mode has three octal digits", `mode = "0755"`)
	}
	return uint32(n)
}

func (r reader) answers(hb *hclsyntax.Block) Answers {
	b := r.open(hb, 1, "answers", "")
	a := Answers{Host: b.host(b.label(), "answers")}
	v := b.value("answers")
	if v == cty.NilVal || !v.CanIterateElements() || v.LengthInt() == 0 {
		b.wrong(b.at("answers"), "dns says no answers", `answers = [["203.0.113.7"], ["127.0.0.1"]]`)
		return a
	}
	for it := v.ElementIterator(); it.Next(); {
		_, turn := it.Element()
		a.Turn = append(a.Turn, b.textsOf(turn, "answers"))
	}
	for _, word := range slices.Concat(a.Turn...) {
		if _, err := netip.ParseAddr(word); err != nil && word != "nxdomain" {
			b.wrong(b.at("answers"), fmt.Sprintf("%q is no address", word), `answers = [["203.0.113.7"], ["nxdomain"]]`)
		}
	}
	return a
}

// host checks that a stand-in answers for host, which the attribute name says.
func (b block) host(host, name string) string {
	bare := strings.ToLower(strings.TrimSuffix(host, "."))
	if bare == "" || b.known != nil && !numeric(bare) && !b.known(bare) {
		b.wrong(b.at(name), fmt.Sprintf("no stand-in and no service is named %q", host), `service "name" { host = "`+bare+`" } makes one that answers with what it received`)
	}
	return host
}

// numeric reports whether a host is, or is meant to pass for, an address.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.ContainsAny(host, ":[]%") || last != "" && (last[0] >= '0' && last[0] <= '9')
}

func (r reader) expect(hb *hclsyntax.Block, canaries []canary.Canary) (e Expect) {
	b := r.open(hb, 0, "verdict reason status exit output leak bits arrives unseen", "")
	if len(hb.Body.Attributes) == 0 {
		b.wrong(b.DefRange(), "the scenario expects nothing, so that it cannot fail", `expect { verdict = "deny" }`)
	}
	e.Verdict = b.oneOf("verdict", "", Allow, Deny)
	e.Reasons, e.Output, e.Arrives, e.Leak, e.Unseen = b.texts("reason"), b.texts("output"), b.texts("arrives"), b.texts("leak"), b.texts("unseen")
	e.LeakSet, e.ArrivesSet = b.has("leak"), b.has("arrives")
	for _, s := range b.texts("status") {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.wrong(b.at("status"), fmt.Sprintf("status %q is no number", s), "status = 403")
		}
		e.Status = append(e.Status, n)
	}
	if b.has("exit") {
		n := b.integer("exit", 0)
		e.Exit = &n
	}
	if b.has("bits") {
		n := b.integer("bits", 0)
		e.Bits = &n
	}
	b.expected(e, canaries)
	return e
}

// expected checks the words of an expectation.
func (b block) expected(e Expect, canaries []canary.Canary) {
	unknown := capability.Reason("no reason at all").Sentence()
	for _, reason := range e.Reasons {
		if capability.Reason(reason).Sentence() == unknown {
			b.wrong(b.at("reason"), fmt.Sprintf("no refusal has the reason %q", reason), "the reasons are those of the log, such as path_not_granted")
		}
	}
	if len(e.Reasons) > 0 && e.Verdict != Deny {
		b.wrong(b.at("reason"), "a reason is expected of a refusal", `verdict = "deny"`)
	}
	for _, name := range append(slices.Clone(e.Leak), e.Unseen...) {
		if !slices.ContainsFunc(canaries, func(c canary.Canary) bool { return c.Name == name }) {
			b.wrong(b.DefRange(), fmt.Sprintf("the scenario has no canary %q", name), "canary."+name+" makes it")
		}
	}
	for _, a := range e.Arrives {
		method, url, ok := strings.Cut(a, " ")
		if !ok || method != strings.ToUpper(method) || !strings.Contains(url, "://") {
			b.wrong(b.at("arrives"), fmt.Sprintf("%q is no request", a), `arrives = ["GET https://npm.example.com/left-pad"]`)
			continue
		}
		b.urlHost(url, "arrives")
	}
}

func (r reader) service(hb *hclsyntax.Block) (Service, bool) {
	before := len(*r.diags)
	b := r.open(hb, 1, "host", "respond")
	s := Service{Name: b.label(), Host: strings.ToLower(b.needed("host"))}
	for _, inner := range hb.Body.Blocks {
		a := r.open(inner, 0, "method path status headers body body_base64", "")
		s.Responses = append(s.Responses, Response{
			Method: a.text("method"), Path: a.text("path"), Status: a.integer("status", 200), Headers: maps.Clone(a.pairs("headers")), Body: a.bytes("body"),
		})
	}
	return s, len(*r.diags) == before
}
