package policyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/presets"
	"scupper.dev/scupper/gitproto"
	"scupper.dev/scupper/payload"
)

// MaxInspected is the largest body that is held and read whole, in bytes.
const MaxInspected = 16 << 20

const (
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"

	schemaExample = `schema = file("comment.schema.json")`
	formExample   = `form = { state = one_of("open", "closed") }`
	partsExample  = `parts = { report = { type = "text/plain", max = "64KiB", filename = regex("[a-z]{1,40}[.]txt") } }`
)

func isJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// known reports whether bodies of the type are read and written anew.
func known(media string) bool {
	return isJSON(media) || media == formType || media == multipartType
}

// inspection reads how a body is looked at. Types that are known are looked at unless
// the policy says inspect = false.
func (s *source) inspection(rule *capability.BodyRule, content *hcl.BodyContent, b *hcl.Block) {
	if a := content.Attributes["inspect"]; a != nil {
		if inspected, ok := s.boolean(a.Expr); ok && !inspected {
			s.uninspected(rule, content, b)
			return
		}
		if !known(rule.Type) {
			s.fail(a.NameRange, fmt.Sprintf("nothing is known of bodies of type %q", rule.Type), "take inspect out: they are sent as they come")
		}
	}
	for name, a := range content.Attributes {
		if belongs := place[name]; belongs != nil && !belongs(rule.Type) {
			s.fail(a.NameRange, fmt.Sprintf("%s is not for bodies of type %q", name, rule.Type), "schema is for JSON, form for "+formType+", parts for "+multipartType)
		}
	}
	rule.Inspector = s.inspector(rule, content, b)
	if a := content.Attributes["max"]; a != nil && rule.Inspector != nil && rule.Max > MaxInspected {
		s.fail(a.Expr.Range(), fmt.Sprintf("an inspected body of more than %d bytes", MaxInspected), `it would be held whole: write a smaller max, or inspect = false to send it as it comes`)
	}
}

// place says which types the attributes are for.
var place = map[string]func(media string) bool{
	"form":  func(media string) bool { return media == formType },
	"parts": func(media string) bool { return media == multipartType },
}

func (s *source) uninspected(rule *capability.BodyRule, content *hcl.BodyContent, b *hcl.Block) {
	for _, name := range []string{"schema", "form", "parts"} {
		if a := content.Attributes[name]; a != nil {
			s.fail(a.NameRange, name+" where the body is not inspected", "take one of the two out")
			return
		}
	}
	s.opaque(rule, b)
}

func (s *source) opaque(rule *capability.BodyRule, b *hcl.Block) {
	if rule.Max == 0 {
		return // a mistake that has been reported
	}
	s.warn(b.DefRange, "the body is not inspected", fmt.Sprintf("each request can carry up to %s of anything, credentials and data included", amount(rule.Max)))
}

func (s *source) inspector(rule *capability.BodyRule, content *hcl.BodyContent, b *hcl.Block) capability.Inspector {
	if a := content.Attributes["schema"]; a != nil {
		return s.schema(rule, a)
	}
	switch {
	case isJSON(rule.Type):
		s.warn(b.DefRange, "the body has no schema", fmt.Sprintf("each request can carry up to %s of any JSON, credentials and data included: write %s", amount(rule.Max), schemaExample))
		return payload.JSON{}
	case rule.Type == formType:
		return s.form(rule, content.Attributes["form"], b)
	case rule.Type == multipartType:
		return s.multipart(rule, content.Attributes["parts"], b)
	}
	s.opaque(rule, b)
	return nil
}

func (s *source) schema(rule *capability.BodyRule, a *hcl.Attribute) capability.Inspector {
	if hcl.ExprAsKeyword(bare(a.Expr)) == fmt.Sprint(gitproto.Fetch{}) {
		return gitproto.Fetch{}
	}
	name, args, ok := call(a.Expr)
	if !ok || name != "file" && name != fromPreset || len(args) != 1 {
		s.fail(a.Expr.Range(), "not a schema", "write "+schemaExample)
		return nil
	}
	if !isJSON(rule.Type) {
		s.fail(a.NameRange, fmt.Sprintf("schema is not for bodies of type %q", rule.Type), `a schema describes JSON: write type = "application/json"`)
		return nil
	}
	if name == fromPreset {
		return s.embedded(args[0])
	}
	if s.files == nil {
		s.fail(a.Expr.Range(), "a preset names no files", "take the schema out")
		return nil
	}
	text, _, ok := s.files(args[0])
	if !ok {
		return nil
	}
	written, _ := s.str(args[0])
	return s.compiled(written, text, args[0].Range())
}

// fromPreset names schemas that come with the presets: schema = preset("openai-chat").
const fromPreset = "preset"

// embedded is a schema that comes with a preset. What it leaves open is said in the
// preset.
func (s *source) embedded(e hcl.Expression) capability.Inspector {
	name, ok := s.word(e)
	if !ok {
		return nil
	}
	text, ok := presets.Schema(name)
	if !ok {
		s.fail(e.Range(), fmt.Sprintf("no schema %q comes with the presets", name), "write "+schemaExample)
		return nil
	}
	schema, mistakes := payload.CompileSchema(fromPreset+":"+name, text)
	for _, m := range mistakes {
		s.fail(e.Range(), fmt.Sprintf("%q is not a schema that can be used", name), m.String())
	}
	if schema == nil {
		return nil
	}
	return payload.JSON{Schema: schema}
}

// compiled reports what is wrong in a schema, or what it leaves open.
func (s *source) compiled(name string, text []byte, at hcl.Range) capability.Inspector {
	schema, mistakes := payload.CompileSchema(name, text)
	for _, m := range mistakes[:min(len(mistakes), 10)] {
		s.fail(at, fmt.Sprintf("%q is not a schema that can be used", name), m.String())
	}
	if schema == nil {
		return nil
	}
	var said []string
	places := make(map[string][]string)
	for _, r := range schema.Remarks() {
		if places[r.Says] == nil {
			said = append(said, r.Says)
		}
		places[r.Says] = append(places[r.Says], fmt.Sprintf("%q", r.Path))
	}
	for _, says := range said {
		what, how, _ := strings.Cut(says, ": ")
		s.warn(at, fmt.Sprintf("the schema %s", what), strings.TrimSuffix("at "+someOf(places[says], 5)+": "+how, ": "))
	}
	return payload.JSON{Schema: schema}
}

func (s *source) form(rule *capability.BodyRule, a *hcl.Attribute, b *hcl.Block) capability.Inspector {
	if a == nil || hcl.ExprAsKeyword(bare(a.Expr)) == "any" {
		s.warn(b.DefRange, "the body has no declared fields", fmt.Sprintf("each request can carry up to %s of any fields, credentials and data included: write %s", amount(min(rule.Max, capability.MaxQuery)), formExample))
		return &payload.Form{Rule: capability.QueryRule{Any: true}}
	}
	return &payload.Form{Rule: s.parameters(a.Expr, formExample)}
}

func (s *source) multipart(rule *capability.BodyRule, a *hcl.Attribute, b *hcl.Block) capability.Inspector {
	if a == nil {
		s.fail(b.DefRange, "the body declares no parts", "write "+partsExample+", or inspect = false to send it as it comes")
		return nil
	}
	rule.Sent = payload.MultipartType
	items, ok := s.object(a.Expr, partsExample)
	if ok && len(items) == 0 {
		s.fail(a.Expr.Range(), "no parts", "write "+partsExample)
	}
	m := &payload.Multipart{}
	for _, i := range items {
		switch {
		case payload.Reserved(i.key):
			s.reserved(i)
		case !payload.IsPartName(i.key):
			s.fail(i.at, fmt.Sprintf("%q is not the name of a part", i.key), "1 to 64 characters of printable ASCII, without quotes, backslash, slash, percent sign, colon and semicolon")
		default:
			m.Parts = append(m.Parts, s.part(i))
		}
	}
	return m
}

var partKeys = []string{"type", "max", "filename", "value", "required"}

func (s *source) part(i item) payload.Part {
	p := payload.Part{Name: i.key}
	keys, _ := s.object(i.value, partsExample)
	for _, k := range keys {
		switch k.key {
		case "type":
			if p.Type, _ = s.word(k.value); !isMediaType(p.Type) || strings.HasPrefix(p.Type, "multipart/") {
				s.fail(k.value.Range(), fmt.Sprintf("%q is not a type that a part may have", p.Type), `write it in lower case and without parameters, as in "text/plain"; parts are not nested`)
			}
		case "max":
			p.Max, _ = s.size(k.value)
		case "filename":
			p.Filename, _ = s.pattern(k.value)
		case "value":
			p.Value, _ = s.pattern(k.value)
		case "required":
			p.Required, _ = s.boolean(k.value)
		default:
			s.fail(k.at, fmt.Sprintf("a part has no %q", k.key), "it has "+strings.Join(partKeys, ", ")+suggest(k.key, partKeys...))
		}
	}
	has := func(name string) bool { return slices.ContainsFunc(keys, func(k item) bool { return k.key == name }) }
	switch {
	case !has("max") && !has("value"):
		s.fail(i.at, "the part has no maximum", `write max = "64KiB", or what its value looks like: value = int`)
	case !has("max"):
		p.Max = capability.MaxValue
	}
	return p
}

// coding reads which coding an inspected body may have.
func (s *source) coding(rule *capability.BodyRule, content *hcl.BodyContent) {
	a := content.Attributes["coding"]
	if a == nil {
		return
	}
	v, ok := s.word(a.Expr)
	switch {
	case ok && v != "gzip":
		s.fail(a.Expr.Range(), fmt.Sprintf("no coding %q", v), `write coding = "gzip", or leave it out: then only bodies without a coding are granted`)
	case ok && rule.Inspector == nil:
		s.fail(a.NameRange, "a coding without inspection", "what is not inspected is not decoded: take coding out")
	case ok:
		rule.Coding = v
	}
}

const dnsType = "application/dns-message"

// checkResolver wants a grant of DNS over HTTPS (RFC 8484) to say on which path: names
// asked for there are asked past the filter.
func (s *source) checkResolver(a *capability.Allow, b *hcl.Block) {
	if a.Body == nil || a.Body.Type != dnsType || a.Path == nil {
		return
	}
	if literal := mapVariables(a.Path.String(), func(string) string { return "" }); strings.Trim(literal, "/") == "" {
		s.fail(b.DefRange, "DNS over HTTPS on any path", `name the path that the resolver has: path = "/dns-query"`)
		return
	}
	s.warn(b.DefRange, "DNS over HTTPS", "names that are asked for there are not filtered and not recorded")
}

// amount is a number of bytes as policies write it.
func amount(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d%s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%dB", n)
}
