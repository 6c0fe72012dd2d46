package policyfile

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Caller is who may use the gateway over HTTP: whoever has the token.
type Caller struct {
	Name  string
	Role  string
	Token [32]byte // SHA-256 of the token
}

// Inspect is an operator's classifier, which sees results before the agent does.
type Inspect struct {
	Exec     []string      // the program and its arguments, or
	Dir      string        // where the program starts: the policy's folder
	URL      string        // where the result is posted
	Deadline time.Duration // of one inspection
	FailOpen bool          // a classifier that fails lets results pass, marked
}

const (
	defaultDeadline = 5 * time.Second
	tokenExample    = `write token_sha256 = "..." with the 64 hexadecimal digits that "sha256sum" prints for the token`
	inspectExample  = `inspect { exec = ["classify"] } or inspect { http = "http://127.0.0.1:8088/classify" }`
)

func (p *parser) callers(blocks hcl.Blocks) {
	for _, b := range blocks {
		name, at := p.label(b)
		if slices.ContainsFunc(p.file.Callers, func(c Caller) bool { return c.Name == name }) {
			p.fail(at, fmt.Sprintf("two callers are named %q", name), "each has a name of its own")
		}
		content := p.content(b.Body, callerBlock)
		c := Caller{Name: name, Role: p.callerRole(content, b), Token: p.tokenHash(content, b)}
		if i := slices.IndexFunc(p.file.Callers, func(o Caller) bool { return o.Token == c.Token }); i >= 0 && c.Token != [32]byte{} {
			p.fail(at, fmt.Sprintf("callers %q and %q have the same token", p.file.Callers[i].Name, name), "a token says who somebody is: make another")
		}
		p.file.Callers = append(p.file.Callers, c)
	}
}

func (p *parser) callerRole(content *hcl.BodyContent, b *hcl.Block) string {
	a := content.Attributes["role"]
	if a == nil {
		p.fail(b.DefRange, "the caller has no role", `write role = "dev": its tools are what the caller gets`)
		return ""
	}
	v, ok := p.word(a.Expr)
	var known []string
	for _, r := range p.file.Roles {
		known = append(known, r.Name)
	}
	if ok && !slices.Contains(known, v) {
		p.fail(a.Expr.Range(), fmt.Sprintf("no role is named %q", v), "a caller has a role of this file"+suggest(v, known...))
	}
	return v
}

func (p *parser) tokenHash(content *hcl.BodyContent, b *hcl.Block) (hash [32]byte) {
	a := content.Attributes["token_sha256"]
	if a == nil {
		p.fail(b.DefRange, "the caller has no token", tokenExample)
		return hash
	}
	v, ok := p.word(a.Expr)
	if !ok {
		return hash
	}
	digits, err := hex.DecodeString(v)
	if err != nil || len(digits) != len(hash) {
		p.fail(a.Expr.Range(), "not the hash of a token", tokenExample)
		return hash
	}
	copy(hash[:], digits)
	return hash
}

func (p *parser) inspect(b *hcl.Block) *Inspect {
	content := p.content(b.Body, inspectBlock)
	i := &Inspect{Deadline: defaultDeadline, Dir: filepath.Dir(p.name)}
	exec, post := content.Attributes["exec"], content.Attributes["http"]
	if (exec == nil) == (post == nil) {
		p.fail(b.DefRange, "a classifier is one of exec and http", "write "+inspectExample)
	}
	if exec != nil {
		items, _ := p.list(exec.Expr, `exec = ["classify"]`)
		for k, e := range items {
			v, ok := p.str(e)
			if !ok {
				continue
			}
			i.Exec = append(i.Exec, v)
			if !filepath.IsAbs(v) && (k > 0 || strings.Contains(v, "/")) {
				p.partOfCommand(v)
			}
		}
		if len(i.Exec) > 0 && i.Exec[0] == "" {
			p.fail(exec.Expr.Range(), "the command is empty", "write "+inspectExample)
		}
	}
	if post != nil {
		i.URL = p.classifierURL(post.Expr)
	}
	if a := content.Attributes["deadline"]; a != nil {
		i.Deadline, _ = p.duration(a.Expr)
	}
	if a := content.Attributes["on_failure"]; a != nil {
		v, ok := p.word(a.Expr)
		if i.FailOpen = v == "open"; ok && !i.FailOpen && v != "closed" {
			p.fail(a.Expr.Range(), fmt.Sprintf("%q is not what happens on failure", v), `write on_failure = "closed" (the default: the result is withheld) or "open" (it passes, marked)`)
		}
		if i.FailOpen {
			p.warn(a.NameRange, "a classifier that fails lets results pass", "whoever can make it fail is not inspected: results that passed so are marked")
		}
	}
	return i
}

func (p *parser) classifierURL(e hcl.Expression) string {
	v, ok := p.word(e)
	if !ok {
		return ""
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		p.fail(e.Range(), fmt.Sprintf("%q is not the address of a classifier", v), "write it with http or https and without credentials: "+inspectExample)
		return ""
	}
	return v
}
