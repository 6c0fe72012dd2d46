package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os/user"
	"path"
	"slices"
	"strings"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/clientconfig"
)

// draft becomes a policy.
type draft struct {
	used      map[string]bool // clients that the folder shows traces of
	modules   []string        // that go.sum names
	owner     string
	ask       func(question string) (bool, error)
	lookup    func(host string) ([]netip.Addr, error)
	proposals []*proposal
	remarks   []string // what no preset can express
	err       error    // of asking
}

// proposal is one use block.
type proposal struct {
	preset, as string
	from       []string    // comments: where its addresses come from
	arguments  [][2]string // name and expression
	urls       []string
	suggest    []string // lines that stand as comments in the block
	networks   []string
	repository string // what of it came with the folder; empty: nothing
	aside      string // why it is not in force; empty: it is
}

// policy is the text of the policy.
func (d *draft) policy(settings []clientconfig.Setting) []byte {
	d.npm(ofClient(settings, "npm"))
	d.golang(ofClient(settings, "go"))
	d.git(ofClient(settings, "git"))
	d.apt(ofClient(settings, "apt"))
	for _, s := range ofClient(settings, "pip") {
		d.remark("pip %s is %s (%s): there is no preset for it yet; scupper explain shows the grant after a refusal", s.Name, s.Value, s.From)
	}
	for _, p := range d.proposals {
		d.confirm(p)
		d.findNetworks(p)
		p.check(d.owner)
	}
	return d.text()
}

func ofClient(all []clientconfig.Setting, client string) []clientconfig.Setting {
	return slices.DeleteFunc(slices.Clone(all), func(s clientconfig.Setting) bool { return s.Client != client })
}

func (d *draft) add(p *proposal) { d.proposals = append(d.proposals, p) }

func (d *draft) remark(format string, args ...any) {
	d.remarks = append(d.remarks, audit.Printable(fmt.Sprintf(format, args...)))
}

// wanted reports whether a client is to be granted its registry: the folder uses it, or
// the folder is new and shows nothing.
func (d *draft) wanted(client string) bool { return d.used[client] || len(d.used) == 0 }

// unused is the reason for setting a proposal aside that nothing in the folder needs.
func (d *draft) unused(client string) string {
	if d.wanted(client) {
		return ""
	}
	return "nothing in this folder uses " + client
}

// npm proposes one block for each registry. What the folder says about the same
// setting stands above what the user's own configuration says, as in npm itself.
func (d *draft) npm(settings []clientconfig.Setting) {
	seen := make(map[string]*proposal)
	for _, s := range settings {
		key := strings.TrimSuffix(s.Value, "/")
		if seen[key] != nil {
			continue
		}
		p := &proposal{preset: "npm", from: []string{said(s)}, arguments: [][2]string{{"registry", capability.Quote(s.Value)}}, urls: []string{s.Value}, aside: d.unused("npm")}
		if scope, ok := strings.CutSuffix(s.Name, ":registry"); ok {
			p.as = "npm-" + nameOf(strings.TrimPrefix(scope, "@"))
			p.from = append(p.from, fmt.Sprintf("npm inside must be told too: %s=%s in .npmrc of this folder", s.Name, s.Value))
		} else if s.Repository {
			p.as = "npm-folder"
		}
		if exists("package-lock.json") {
			p.suggest = append(p.suggest, "Only what the lockfile names; npm install NAME of anything new is then refused.", `lockfile = "package-lock.json"`)
		}
		p.origin(s)
		seen[key] = p
		d.add(p)
	}
	d.preferFolder()
}

// preferFolder asks first about the registry that the folder names; agreed to, it
// stands in place of the user's.
func (d *draft) preferFolder() {
	mine := slices.IndexFunc(d.proposals, func(p *proposal) bool { return p.preset == "npm" && p.as == "" })
	folder := slices.IndexFunc(d.proposals, func(p *proposal) bool { return p.as == "npm-folder" })
	if folder < 0 || d.proposals[folder].aside != "" {
		return
	}
	p := d.proposals[folder]
	if d.confirm(p); p.aside == "" && mine >= 0 {
		p.as = ""
		d.proposals[mine].as, d.proposals[mine].aside = "npm-user", "the folder's own registry stands in its place"
	}
}

// golang proposes one block: the first proxy, and the checksum database.
func (d *draft) golang(settings []clientconfig.Setting) {
	p := &proposal{preset: "go", aside: d.unused("go")}
	for _, s := range settings {
		switch s.Name {
		case "GOPROXY":
			d.goProxies(p, s)
		case "GOSUMDB":
			p.checksumDatabase(s)
		case "GOPRIVATE", "GONOPROXY":
			d.remark("%s is %s (%s): such modules come from their own hosts, each of which needs a grant", s.Name, s.Value, s.From)
		}
	}
	if slices.ContainsFunc(p.arguments, func(a [2]string) bool { return a[0] == "proxy" }) {
		d.goModules(p)
		p.suggest = append(p.suggest, "The toolchain that is installed is used; to let go.mod choose a newer one:", "toolchains = true")
		d.add(p)
	}
}

func (d *draft) goProxies(p *proposal, s clientconfig.Setting) {
	var rest []string
	for _, u := range strings.FieldsFunc(s.Value, func(c rune) bool { return c == ',' || c == '|' }) {
		clean := withoutUser(u)
		switch {
		case !strings.HasPrefix(u, "http"):
			rest = append(rest, u)
		case len(p.urls) == 0:
			p.arguments, p.urls = append(p.arguments, [2]string{"proxy", capability.Quote(clean)}), append(p.urls, clean)
			p.from = append(p.from, "GOPROXY, said by "+s.From)
			if clean != u {
				p.from = append(p.from, credentialNote)
			}
		default:
			rest = append(rest, clean)
		}
	}
	if len(rest) > 0 {
		p.from = append(p.from, "what it falls back to is not granted: "+strings.Join(rest, ", "))
	}
}

// checksumDatabase reads GOSUMDB (go help module-auth): a name with perhaps a key behind
// it, and perhaps a URL.
func (p *proposal) checksumDatabase(s clientconfig.Setting) {
	words := strings.Fields(s.Value)
	if len(words) == 0 || words[0] == "off" {
		return
	}
	p.from = append(p.from, said(s))
	p.arguments = append(p.arguments, [2]string{"sumdb", capability.Quote(words[0])})
	if len(words) > 1 {
		u := withoutUser(words[1])
		p.arguments, p.urls = append(p.arguments, [2]string{"sumdb_url", capability.Quote(u)}), append(p.urls, u)
	}
}

// maxModules is how many modules a suggestion lists.
const maxModules = 100

// goModules suggests to grant only what go.sum names.
func (d *draft) goModules(p *proposal) {
	about := "Any module is granted: the proxy fetches a path from the host in it, so a path can carry data to anybody."
	if n := len(d.modules); n == 0 || n > maxModules {
		p.suggest = append(p.suggest, about+" List yours:", `modules = ["example.com/team"]`)
		return
	}
	p.suggest = append(p.suggest, about+" These are in go.sum:", "modules = "+quotedList(d.modules))
}

func quotedList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = capability.Quote(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// git proposes to fetch from each remote that is spoken to by HTTP.
func (d *draft) git(settings []clientconfig.Setting) {
	for _, s := range settings {
		u, err := url.Parse(s.Value)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			d.remark("git %s is %s (%s): only https remotes can be granted", s.Name, s.Value, s.From)
			continue
		}
		host := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
		repository := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
		p := &proposal{preset: "git", as: "git-" + nameOf(strings.TrimPrefix(s.Name, "remote ")), from: []string{said(s)}, urls: []string{host},
			arguments: [][2]string{{"url", capability.Quote(host)}, {"repositories", quotedList([]string{repository})}}}
		p.origin(s)
		d.add(p)
	}
}

// apt proposes its sources for whoever needs them: most sandboxes do not.
func (d *draft) apt(settings []clientconfig.Setting) {
	for i, s := range settings {
		p := &proposal{preset: "apt", from: []string{said(s)}, arguments: [][2]string{{"mirror", capability.Quote(s.Value)}}, urls: []string{s.Value},
			aside: "only for sandboxes that run apt-get"}
		for _, list := range []struct {
			name  string
			words []string
		}{{"suites", s.Suites}, {"components", s.Components}} {
			if len(list.words) > 0 {
				p.arguments = append(p.arguments, [2]string{list.name, quotedList(list.words)})
			}
		}
		if i > 0 {
			p.as = fmt.Sprintf("apt-%d", i+1)
		}
		p.origin(s)
		d.add(p)
	}
}

const credentialNote = "the configuration has a credential for it; this version sends none"

func said(s clientconfig.Setting) string { return s.Name + ", said by " + s.From }

func (p *proposal) origin(s clientconfig.Setting) {
	if s.Secret {
		p.from = append(p.from, credentialNote)
	}
	if s.Repository {
		p.repository = fmt.Sprintf("%s %s %s, said by %s, which came with this folder", s.Client, s.Name, s.Value, s.From)
	}
}

// confirm asks about what came with the folder, once.
func (d *draft) confirm(p *proposal) {
	if p.repository == "" || p.aside != "" || d.err != nil {
		return
	}
	yes, err := d.ask("use " + audit.Printable(p.repository) + "?")
	p.repository, d.err = "", err
	if !yes {
		p.aside = "it came with this folder and nobody has agreed to it (scupper init --yes agrees to all)"
	}
}

// findNetworks resolves the hosts, so that a private one is granted as such.
func (d *draft) findNetworks(p *proposal) {
	if p.aside != "" {
		return
	}
	for _, u := range p.urls {
		parsed, err := url.Parse(u)
		if err != nil || parsed.Hostname() == "" {
			continue
		}
		addrs, err := d.lookup(parsed.Hostname())
		if err != nil {
			p.suggest = append(p.suggest, parsed.Hostname()+" did not resolve when this was written; a private address needs:", `networks = ["10.0.0.0/8"]`)
		}
		for _, addr := range addrs {
			p.allowNetwork(addr)
		}
	}
}

func (p *proposal) allowNetwork(addr netip.Addr) {
	addr = addr.Unmap().WithZone("")
	switch capability.CheckAddress(addr, nil, ownAddresses()) {
	case capability.MetadataAddress:
		p.aside = fmt.Sprintf("it leads to %s, a metadata service, which nothing reaches", addr)
	case capability.NetworkNotGranted:
		if n := netip.PrefixFrom(addr, addr.BitLen()).String(); !slices.Contains(p.networks, n) {
			p.networks = append(p.networks, n)
		}
	}
}

// lookup resolves a name as the system does; an address stands for itself.
func lookup(host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// ownAddresses are this host's, which count as private.
func ownAddresses() []netip.Addr {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var own []netip.Addr
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr().Unmap())
		}
	}
	return own
}

// operator is the name of whoever runs this.
func operator(env func(string) string) string {
	if u, err := user.Current(); err == nil {
		return path.Base(u.Username)
	}
	return env("USER")
}

func withoutUser(u string) string {
	parsed, err := url.Parse(u)
	if err != nil || parsed.User == nil {
		return u
	}
	parsed.User = nil
	return parsed.String()
}

// nameOf makes a name for a grant of a word that somebody else chose.
func nameOf(word string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(word) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '.':
			b.WriteRune(c)
		default:
			b.WriteByte('-')
		}
	}
	name := b.String()
	return name[:min(len(name), 40)]
}
