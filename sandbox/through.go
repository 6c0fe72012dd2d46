package sandbox

import (
	"fmt"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/proxy"
)

// Through sends everything that goes outside through the proxy at host and port, with
// Basic authentication unless user and password are empty. No error holds them.
func (e *Egress) Through(host capability.Host, port uint16, user, password string) error {
	via, err := proxy.NewVia(host, port, user, password)
	if err != nil {
		return usage("see the upstream block of the policy", "%v", err)
	}
	e.via = via
	return nil
}

// addressCheck is the control over where names lead. Behind another proxy, that one
// resolves them.
func addressCheck(via *proxy.Via) Control {
	if via == nil {
		return Control{"address check", true, "every address that a name leads to: private ones by networks clauses only, metadata services never"}
	}
	return Control{"address check", false, fmt.Sprintf("the proxy %s resolves names; only literal addresses and overrides are checked", via)}
}
