package policyfile

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"

	"github.com/hashicorp/hcl/v2"
)

func (p *parser) upstream(b *hcl.Block) {
	content := p.content(b.Body, upstreamBlock)
	if a := content.Attributes["resolver"]; a != nil {
		if v, ok := p.word(a.Expr); ok {
			addr, err := netip.ParseAddrPort(v)
			if err != nil {
				p.fail(a.Expr.Range(), fmt.Sprintf("%q is not an address and a port", v), `write resolver = "203.0.113.53:53"; a name would have to be resolved first`)
			}
			p.file.Upstream.Resolver = addr.String()
		}
	}
	if a := content.Attributes["ca"]; a != nil {
		p.ca(a.Expr)
	}
	p.proxy(content)
}

func (p *parser) ca(e hcl.Expression) {
	text, path, ok := p.hashedFile(e)
	if !ok {
		return
	}
	if err := checkCertificates(text); err != nil {
		p.fail(e.Range(), fmt.Sprintf("%q holds no usable certificates", path), err.Error())
	}
	p.file.Upstream.ExtraCA = text
}

func checkCertificates(text []byte) error {
	found := false
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil {
			break
		}
		if b.Type != "CERTIFICATE" {
			return fmt.Errorf("a PEM block of type %q: the file holds certificates only", b.Type)
		}
		if _, err := x509.ParseCertificate(b.Bytes); err != nil {
			return fmt.Errorf("parse certificate: %w", err)
		}
		found = true
	}
	if !found {
		return errors.New("it is a file of PEM blocks: -----BEGIN CERTIFICATE-----")
	}
	return nil
}

// hashedFile reads a file that can widen the policy.
func (p *parser) hashedFile(e hcl.Expression) (text []byte, path string, ok bool) {
	if text, path, ok = p.namedFile(e); ok {
		p.hash.add(text)
	}
	return text, path, ok
}

// namedFile reads a file that the policy names.
func (p *parser) namedFile(e hcl.Expression) (text []byte, path string, ok bool) {
	name, ok := p.str(e)
	if !ok {
		return nil, "", false
	}
	path = p.beside(name)
	p.file.Files = append(p.file.Files, path)
	if p.options.ReadFile == nil {
		p.fail(e.Range(), fmt.Sprintf("%q is a file, and none are read here", name), "")
		return nil, path, false
	}
	text, err := p.options.ReadFile(path)
	if err != nil {
		p.fail(e.Range(), fmt.Sprintf("%q cannot be read: %v", name, cause(err)), "paths are relative to the policy's folder; looked for "+path)
		return nil, path, false
	}
	return text, path, true
}
