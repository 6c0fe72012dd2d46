package main

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"unicode"

	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/clientconfig"
)

// TestPrivateRegistry drafts policies of registries whose names lead to such addresses.
func TestPrivateRegistry(t *testing.T) {
	for _, c := range []struct {
		name  string
		addrs []string
		want  string
	}{
		{"public", []string{"203.0.113.7", "2001:db8::7"}, ""},
		{"private", []string{"10.1.2.3", "fd00::3", "203.0.113.7"}, `networks = ["10.1.2.3/32", "fd00::3/128"]`},
		{"mapped", []string{"::ffff:10.1.2.3"}, `networks = ["10.1.2.3/32"]`},
		{"metadata", []string{"169.254.169.254"}, "# Not in force: it leads to 169.254.169.254"},
		{"unknown", nil, "# npm.example.com did not resolve when this was written; a private address needs:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := draft{owner: "alice", lookup: func(string) ([]netip.Addr, error) {
				var addrs []netip.Addr
				for _, a := range c.addrs {
					addrs = append(addrs, netip.MustParseAddr(a))
				}
				if addrs == nil {
					return nil, errors.New("no such host")
				}
				return addrs, nil
			}}
			text := string(d.policy([]clientconfig.Setting{{Client: "npm", Name: "registry", Value: "https://npm.example.com/", From: "~/.npmrc"}}))
			if !strings.Contains(text, c.want) {
				t.Errorf("%q is not in\n%s", c.want, text)
			}
			if inForce := strings.Contains(text, "\n  networks = "); inForce != strings.HasPrefix(c.want, "networks") {
				t.Errorf("networks in force: %v, in\n%s", inForce, text)
			}
			if _, diags := policyfile.Parse("policy.hcl", []byte(text), policyfile.Options{}); diags.HasErrors() {
				t.Errorf("%v in\n%s", diags, text)
			}
		})
	}
}

// FuzzDraft has settings that say anything: the policy loads, and nothing in it drives a
// terminal. What came with the folder is in force only if somebody agreed.
func FuzzDraft(f *testing.F) {
	f.Add("npm", "registry", "https://npm.example.com/", true)
	f.Add("npm", "@a\"/b:registry", "http://203.0.113.7/\"}\ngrant \"all\" {", true)
	f.Add("go", "GOPROXY", "https://u:p@go.example.com|direct,\x1b[2J", false)
	f.Add("go", "GOSUMDB", "sum.example.com+key https://x@\n", false)
	f.Add("git", "remote \u202e", "https://git.example.com/${a}/b.git", true)
	f.Add("pip", "index-url", "}\nuse \"npm\" {", true)
	f.Fuzz(func(t *testing.T, client, name, value string, agreed bool) {
		none := func(string) ([]netip.Addr, error) { return nil, errors.New("no such host") }
		d := draft{owner: name, lookup: none, modules: []string{value}, ask: func(string) (bool, error) { return agreed, nil }}
		text := string(d.policy([]clientconfig.Setting{{Client: client, Name: name, Value: value, From: ".npmrc", Repository: true, Suites: []string{value}}}))
		file, diags := policyfile.Parse("policy.hcl", []byte(text), policyfile.Options{})
		if diags.HasErrors() {
			t.Errorf("%v in\n%s", diags, text)
		}
		if n := len(file.Policy.Grants()); n > 1 || n == 1 && !agreed && client != "go" {
			t.Errorf("%d grants in\n%s", n, text)
		}
		if strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
			t.Errorf("not printable: %q", text)
		}
	})
}
