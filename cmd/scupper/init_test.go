package main

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

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
