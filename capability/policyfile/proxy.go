package policyfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

const (
	proxyExample      = `proxy = "http://proxy.example.com:3128"`
	credentialExample = `proxy_credential { user_env = "PROXY_USER" password_env = "PROXY_PASSWORD" }, each attribute on its own line`
)

// proxy reads the proxy that leads outside and where its credential is.
func (p *parser) proxy(content *hcl.BodyContent) {
	p.once(content.Blocks, "proxy_credential")
	a := content.Attributes["proxy"]
	if a == nil {
		for _, b := range content.Blocks {
			p.fail(b.DefRange, "a proxy_credential without a proxy", "write "+proxyExample+" beside it")
		}
		return
	}
	proxy, ok := p.proxyAddress(a.Expr)
	if !ok {
		return
	}
	for _, b := range content.Blocks {
		p.proxyCredential(b, proxy)
	}
	p.file.Upstream.Proxy = proxy
	p.warn(a.NameRange, "the addresses that names lead to are not checked",
		"the proxy resolves names, so that networks clauses mean nothing for them; it must itself keep its clients away from private and metadata addresses")
}

// proxyAddress reads http://host:port. What may be a secret is not shown.
func (p *parser) proxyAddress(e hcl.Expression) (*Proxy, bool) {
	v, ok := p.str(e)
	if !ok {
		return nil, false
	}
	if strings.Contains(v, "@") {
		p.conceal(e.Range(), "the URL of the proxy holds a credential", "a policy is not a place for secrets: write "+credentialExample)
		return nil, false
	}
	rest, found := strings.CutPrefix(v, "http://")
	rest = strings.TrimSuffix(rest, "/")
	colon := strings.LastIndexByte(rest, ':')
	if !found || colon < 0 {
		p.fail(e.Range(), fmt.Sprintf("%q is not the URL of a proxy", v), "write "+proxyExample+", with its port; the proxy is spoken to in clear, and TLS goes through it end to end")
		return nil, false
	}
	host, err := capability.ParseHost(rest[:colon])
	if err != nil {
		p.fail(e.Range(), fmt.Sprintf("%q is not a host: %v", rest[:colon], err), "write "+proxyExample)
		return nil, false
	}
	port, err := strconv.ParseUint(rest[colon+1:], 10, 16)
	if err != nil || port == 0 {
		p.fail(e.Range(), fmt.Sprintf("%q is not a port", rest[colon+1:]), "write "+proxyExample)
		return nil, false
	}
	return &Proxy{Host: host, Port: uint16(port)}, true
}

// proxyCredential reads one source for the user and one for the password.
func (p *parser) proxyCredential(b *hcl.Block, proxy *Proxy) {
	content := p.content(b.Body, proxyBlock)
	sources := []struct {
		name string
		to   *string
	}{{"user", &proxy.User}, {"user_env", &proxy.UserEnv}, {"password_env", &proxy.PasswordEnv}, {"password_file", &proxy.PasswordFile}}
	for _, s := range sources {
		if a := content.Attributes[s.name]; a != nil {
			*s.to = p.credentialSource(s.name, a.Expr)
		}
	}
	for _, pair := range [][2]string{{"user", "user_env"}, {"password_env", "password_file"}} {
		if (content.Attributes[pair[0]] == nil) == (content.Attributes[pair[1]] == nil) {
			p.fail(b.DefRange, fmt.Sprintf("a proxy_credential has either %s or %s", pair[0], pair[1]), "write "+credentialExample)
		}
	}
}

// credentialSource reads a user's name, the name of a variable or a path.
func (p *parser) credentialSource(name string, e hcl.Expression) string {
	v, ok := p.str(e)
	switch {
	case !ok:
	case strings.HasSuffix(name, "_env") && !isVariable(v):
		p.conceal(e.Range(), name+" is not the name of a variable", "letters, digits and underscores; the value stays in the environment of scupper")
	case name == "user" && (v == "" || strings.Contains(v, ":")):
		p.conceal(e.Range(), "the user is empty or holds a colon", "Basic authentication has no way to send it; the password comes from password_env or password_file")
	case name == "password_file" && v != "":
		return p.beside(v)
	case name == "password_file":
		p.fail(e.Range(), "password_file is empty", "write the path of a file outside of every folder that a sandbox gets")
	}
	return v
}
