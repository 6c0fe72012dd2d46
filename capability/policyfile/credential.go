package policyfile

import (
	"fmt"
	"maps"
	"net/textproto"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"scupper.dev/scupper/capability"
)

// Credential is where a secret comes from and where it goes. The secret itself is in no
// policy. One of Env, File and Exec is set.
type Credential struct {
	Name     string
	Position capability.Position
	Env      string        // a variable of scupper's environment
	File     string        // absolute where the policy's name is, else relative to the same folder
	Exec     []string      // a command that prints the secret; it runs in the policy's folder
	Timeout  time.Duration // of the command; zero: the default
	Place    capability.Place
	Expose   string // the sandbox has a placeholder under this name; empty: none
}

// Source says where the secret comes from, without the arguments of a command.
func (c Credential) Source() string {
	switch {
	case c.Env != "":
		return "env " + c.Env
	case c.File != "":
		return "file " + c.File
	case len(c.Exec) > 0:
		return "exec " + c.Exec[0]
	}
	return ""
}

// SameCredentials reports whether the grants of two files bind the same credentials,
// wherever these are declared.
func SameCredentials(a, b *File) bool {
	same := func(x, y Credential) bool {
		x.Position, y.Position = capability.Position{}, capability.Position{}
		return reflect.DeepEqual(x, y)
	}
	return slices.EqualFunc(a.CredentialsOf(a.Policy), b.CredentialsOf(b.Policy), same)
}

// CredentialsOf are the credentials that grants of policy bind, in the order of the file.
func (f *File) CredentialsOf(policy *capability.Policy) (out []Credential) {
	bound := make(map[string]bool)
	for _, g := range policy.Grants() {
		bound[g.Credential.Name] = true
	}
	for _, c := range f.Credentials {
		if bound[c.Name] {
			out = append(out, c)
		}
	}
	return out
}

// declaredCredential is a credential block that is being read.
type declaredCredential struct {
	Credential
	at   hcl.Range
	used bool
}

var (
	credentialBlock = shape{attributes: []string{"expose"}, blocks: []string{"source", "basic"}, labelled: []string{"header", "query", "cookie"}}
	sourceBlock     = shape{attributes: []string{"env", "file", "exec", "timeout"}}
	valueBlock      = shape{attributes: []string{"value", "also"}}
	basicBlock      = shape{attributes: []string{"user"}}
	emptyBlock      = shape{}
)

const (
	sourceExample = `source { env = "API_KEY" }, or file = "/run/secrets/key", or exec = ["broker", "get", "key"]`
	placeExample  = `header "Authorization" { value = "Bearer ${secret}" }, or basic, query or cookie`
)

// credentialBlock reads one credential.
func (p *parser) credentialBlock(b *hcl.Block) {
	d := &declaredCredential{at: b.LabelRanges[0]}
	d.Name, d.Position = b.Labels[0], p.position(b.DefRange.Start)
	if !made(d.Name, 64, "_-") || !lower(d.Name) || !letter(d.Name[0]) {
		p.fail(d.at, fmt.Sprintf("%q is not the name of a credential", d.Name), "a name has 1 to 64 of a-z, 0-9, '-' and '_', and begins with a letter: grants write credential.NAME")
	}
	if first := p.credentials[d.Name]; first != nil {
		p.fail(d.at, fmt.Sprintf("two credentials are named %q", d.Name), "the first is at "+p.place(first.at))
		return
	}
	p.credentials[d.Name] = d
	content := p.content(b.Body, credentialBlock)
	p.sourceOf(d, content, b)
	p.credentialPlace(d, content, b)
	if a := content.Attributes["expose"]; a != nil {
		p.expose(d, a.Expr)
	}
	p.file.Credentials = append(p.file.Credentials, d.Credential)
}

func (p *parser) expose(d *declaredCredential, e hcl.Expression) {
	v, ok := p.str(e)
	if !ok {
		return
	}
	if !isVariable(v) {
		p.fail(e.Range(), "expose is not the name of a variable", "letters, digits and underscores: expose = \"API_KEY\"")
	}
	for _, other := range p.file.Credentials {
		if other.Expose == v {
			p.fail(e.Range(), fmt.Sprintf("two credentials are exposed as %q", v), "the first is "+other.Name)
		}
	}
	if slices.ContainsFunc(p.file.Environment, func(o Variable) bool { return o.Name == v }) {
		p.fail(e.Range(), fmt.Sprintf("%q is in the policy's environment already", v), "the sandbox gets the placeholder under that name: take one of the two out")
	}
	d.Expose = v
}

func (p *parser) sourceOf(d *declaredCredential, content *hcl.BodyContent, b *hcl.Block) {
	p.once(content.Blocks, "source")
	block := firstOf(content.Blocks, "source")
	if block == nil {
		p.fail(b.DefRange, "the credential has no source", "write "+sourceExample)
		return
	}
	source := p.content(block.Body, sourceBlock)
	found := 0
	for _, name := range []string{"env", "file", "exec"} {
		if a := source.Attributes[name]; a != nil {
			found++
			p.readSource(d, name, a.Expr)
		}
	}
	if found != 1 {
		p.fail(block.DefRange, "a source is one of env, file and exec", "write "+sourceExample)
	}
	if a := source.Attributes["timeout"]; a != nil {
		d.Timeout, _ = p.duration(a.Expr)
		if d.Exec == nil {
			p.fail(a.NameRange, "a timeout without a command", "variables and files do not keep one waiting: take it out")
		}
	}
}

// readSource never shows a value: who misreads the language writes the secret there.
func (p *parser) readSource(d *declaredCredential, name string, e hcl.Expression) {
	if name == "exec" {
		p.command(d, e)
		return
	}
	v, ok := p.str(e)
	switch {
	case !ok:
	case name == "env" && !isVariable(v):
		p.conceal(e.Range(), "env is not the name of a variable", "letters, digits and underscores; the value stays in the environment of scupper")
	case name == "env":
		d.Env = v
	case v == "":
		p.fail(e.Range(), "file is empty", "write the path of a file outside of every folder that a sandbox gets")
	default:
		d.File = p.beside(v)
	}
}

func (p *parser) command(d *declaredCredential, e hcl.Expression) {
	items, _ := p.list(e, `exec = ["broker", "get", "key"]`)
	for k, i := range items {
		v, ok := p.str(i)
		if !ok {
			continue
		}
		d.Exec = append(d.Exec, v)
		if !filepath.IsAbs(v) && (k > 0 || strings.Contains(v, "/")) {
			p.partOfCommand(v)
		}
	}
	if len(d.Exec) > 0 && d.Exec[0] == "" {
		p.fail(e.Range(), "the command is empty", `write exec = ["broker", "get", "key"]`)
	}
}

// partOfCommand takes a file beside the policy into its hash: the command runs outside
// of every sandbox, and whoever accepts the policy accepts what it does. Other words
// are arguments.
func (p *parser) partOfCommand(word string) {
	if p.options.ReadFile == nil || word == "" {
		return
	}
	path := p.beside(word)
	if text, err := p.options.ReadFile(path); err == nil {
		p.hash.add(text)
		p.file.Files = append(p.file.Files, path)
	}
}

func (p *parser) credentialPlace(d *declaredCredential, content *hcl.BodyContent, b *hcl.Block) {
	found := 0
	for _, inner := range content.Blocks {
		if inner.Type == "source" {
			continue
		}
		if found++; found > 1 {
			p.fail(inner.DefRange, "a credential has one place", "a second credential block with the same source can have another")
			return
		}
		p.readPlace(d, inner)
	}
	if found == 0 {
		p.fail(b.DefRange, "the credential has no place", "say where in a request it goes: "+placeExample)
	}
}

func (p *parser) readPlace(d *declaredCredential, b *hcl.Block) {
	switch b.Type {
	case "basic":
		p.basic(d, b)
		return
	case "header":
		p.headerPlace(d, b)
		return
	}
	p.content(b.Body, emptyBlock)
	d.Place = capability.Place{In: capability.Where(b.Type), Name: b.Labels[0]}
	if !made(d.Place.Name, 64, "._~-") {
		p.fail(b.LabelRanges[0], fmt.Sprintf("%q is not the name of a %s", d.Place.Name, b.Type), "letters, digits, '-', '_', '.' and '~'")
	}
}

func (p *parser) basic(d *declaredCredential, b *hcl.Block) {
	content := p.content(b.Body, basicBlock)
	d.Place.In = capability.InBasic
	a := content.Attributes["user"]
	if a == nil {
		p.fail(b.DefRange, "basic has no user", `write basic { user = "x-access-token" }`)
		return
	}
	v, ok := p.str(a.Expr)
	if ok && strings.Contains(v, ":") {
		p.conceal(a.Expr.Range(), "the user holds a colon", "Basic authentication has no way to send it; the password is the secret")
	}
	d.Place.User = v
}

func (p *parser) headerPlace(d *declaredCredential, b *hcl.Block) {
	content := p.content(b.Body, valueBlock)
	name := textproto.CanonicalMIMEHeaderKey(b.Labels[0])
	d.Place = capability.Place{In: capability.InHeader, Name: name}
	why, reserved := reservedHeaders[name]
	switch {
	case !isHeader(b.Labels[0]):
		p.fail(b.LabelRanges[0], fmt.Sprintf("%q is not a header name", b.Labels[0]), "letters, digits and hyphens")
	case name == "Cookie":
		p.fail(b.LabelRanges[0], "a cookie has a name of its own", `write cookie "session" {}`)
	case reserved:
		p.fail(b.LabelRanges[0], fmt.Sprintf("a credential does not go into the header %q", name), why)
	case slices.Contains([]string{"Accept", "Accept-Encoding", "User-Agent", "Range"}, name):
		p.fail(b.LabelRanges[0], fmt.Sprintf("a credential does not go into the header %q", name), "every client sends it")
	}
	if a := content.Attributes["also"]; a != nil {
		d.Place.Also = p.also(a.Expr, name)
	}
	a := content.Attributes["value"]
	if a == nil {
		p.fail(b.DefRange, "the header has no value", `write value = "Bearer ${secret}"`)
		return
	}
	var ok bool
	if d.Place.Before, d.Place.After, ok = around(a.Expr); !ok {
		p.conceal(a.Expr.Range(), "the value is not text around ${secret}", `write value = "Bearer ${secret}", or value = "${secret}": the one template that a policy has`)
	}
}

// also reads in which other header clients may have the placeholder: some have changed
// theirs from one version to the next.
func (p *parser) also(e hcl.Expression, first string) string {
	v, ok := p.word(e)
	name := textproto.CanonicalMIMEHeaderKey(v)
	if ok && (name == first || !judgedForeign(capability.Request{Header: map[string][]string{name: {"x"}}}) || name == "Cookie") {
		p.fail(e.Range(), fmt.Sprintf("%q is not another header in which credentials ride", v), `write also = "Authorization" beside header "x-api-key"`)
	}
	return name
}

// around reads the one template of the language off the syntax tree: text, the word
// secret once, text.
func around(e hcl.Expression) (before, after string, ok bool) {
	switch e := bare(e).(type) {
	case *hclsyntax.TemplateWrapExpr:
		return "", "", isSecret(e.Wrapped)
	case *hclsyntax.TemplateExpr:
		seen := 0
		for _, part := range e.Parts {
			lit, isText := part.(*hclsyntax.LiteralValueExpr)
			switch {
			case isSecret(part):
				seen++
			case !isText || lit.Val.Type() != cty.String || !isFieldText(lit.Val.AsString()):
				return "", "", false
			case seen == 0:
				before += lit.Val.AsString()
			default:
				after += lit.Val.AsString()
			}
		}
		return before, after, seen == 1
	}
	return "", "", false
}

func isSecret(e hcl.Expression) bool { return hcl.ExprAsKeyword(e) == "secret" }

// isFieldText: printable ASCII.
func isFieldText(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
}

// boundTo is the credential that a grant binds by name.
func (p *parser) boundTo(name string, at hcl.Range) capability.Credential {
	d := p.credentials[name]
	if d == nil {
		p.fail(at, fmt.Sprintf("no credential is named %q", name), "declare it: credential \""+name+"\" { ... }"+suggest(name, slices.Sorted(maps.Keys(p.credentials))...))
		return capability.Credential{Mode: capability.Bound, Name: name}
	}
	d.used = true
	return capability.Credential{Mode: capability.Bound, Name: name, Place: d.Place}
}
