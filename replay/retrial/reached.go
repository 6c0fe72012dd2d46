package retrial

import (
	"net/netip"

	"scupper.dev/scupper/capability"
)

// reached judges the address that the name led to. Behind a proxy there is none.
func reached(upstream string, g *capability.Grant) capability.Reason {
	at, err := netip.ParseAddrPort(upstream)
	if err != nil {
		return capability.Granted
	}
	return capability.CheckAddress(at.Addr(), g.Networks, nil)
}
