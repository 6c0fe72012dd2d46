package policyfile

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Audit is how the log of a run is kept. A zero field is its default.
type Audit struct {
	Durability  string        // "commit" or "fsync"
	WriteTime   time.Duration // after which a write counts as hung
	Unavailable time.Duration // without a log, after which the run ends
	Every       time.Duration // between heads that are left at anchors
	Anchors     []Anchor
}

// Anchor is a place where signed heads of the log are left. One of the names is set.
type Anchor struct {
	File     string // absolute where the policy's name is, else relative to the same folder
	HTTP     string
	Syslog   string // "local" or HOST:PORT
	Required bool
}

func (p *parser) audit(b *hcl.Block) {
	content := p.content(b.Body, auditBlock)
	a := &p.file.Audit
	if x := content.Attributes["durability"]; x != nil {
		if s, ok := p.str(x.Expr); ok && s != "commit" && s != "fsync" {
			p.fail(x.Expr.Range(), "durability is neither commit nor fsync", `"commit" syncs within 20 ms of an effect, "fsync" before it`)
		} else if ok {
			a.Durability = s
		}
	}
	for name, to := range map[string]*time.Duration{"write_time": &a.WriteTime, "unavailable_time": &a.Unavailable, "every": &a.Every} {
		if x := content.Attributes[name]; x != nil {
			*to, _ = p.duration(x.Expr)
		}
	}
	for _, b := range content.Blocks {
		p.anchor(b)
	}
}

func (p *parser) anchor(b *hcl.Block) {
	content := p.content(b.Body, anchorBlock)
	var a Anchor
	named := 0
	for name, to := range map[string]*string{"file": &a.File, "http": &a.HTTP, "syslog": &a.Syslog} {
		x := content.Attributes[name]
		if x == nil {
			continue
		}
		named++
		s, ok := p.str(x.Expr)
		if ok && !isAnchor(name, s) {
			p.fail(x.Expr.Range(), "this is no place for heads", `write file = "/mnt/elsewhere/heads", http = "https://heads.example.com/scupper", syslog = "local" or syslog = "192.0.2.7:514"`)
		}
		*to = s
	}
	if named != 1 {
		p.fail(b.DefRange, "an anchor has one place", "file, http or syslog: write an anchor block for each")
		return
	}
	if a.File != "" {
		a.File = p.beside(a.File)
	}
	if x := content.Attributes["required"]; x != nil {
		a.Required, _ = p.boolean(x.Expr)
	}
	p.file.Audit.Anchors = append(p.file.Audit.Anchors, a)
}

// isAnchor reports whether heads can be left at that place. What goes over a network is
// encrypted, or stays on this machine; syslog has no other way.
func isAnchor(kind, s string) bool {
	switch kind {
	case "http":
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
			return false
		}
		ip, err := netip.ParseAddr(u.Hostname())
		return u.Scheme == "https" || u.Scheme == "http" && err == nil && ip.IsLoopback()
	case "syslog":
		_, port, err := net.SplitHostPort(s)
		return s == "local" || err == nil && port != ""
	}
	return s != "" && !strings.ContainsRune(s, 0)
}
