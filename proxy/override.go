package proxy

import (
	"fmt"
	"net/netip"
	"strings"

	"scupper.dev/scupper/capability"
)

// Override points one name and port at an address, as curl's --resolve does. It is the
// operator's word: the address needs no networks clause. Metadata services and
// scupper's own listeners stay out of reach.
type Override struct {
	Host capability.Host
	Port uint16
	To   netip.AddrPort
}

// ParseOverride reads HOST:PORT:ADDR[:PORT]; IPv6 addresses stand in brackets.
func ParseOverride(s string) (Override, error) {
	wrong := func(what string) (Override, error) {
		return Override{}, fmt.Errorf("override %q: %s; write HOST:PORT:ADDR[:PORT], an IPv6 address in brackets", s, what)
	}
	split := strings.IndexByte(s, ':')
	if strings.HasPrefix(s, "[") {
		split = strings.Index(s, "]:") + 1
	}
	if split <= 0 {
		return wrong("there is no port")
	}
	host, err := capability.ParseHost(s[:split])
	if err != nil {
		return wrong(err.Error())
	}
	digits, rest, ok := strings.Cut(s[split+1:], ":")
	port, err := parsePort(digits)
	if !ok || err != nil {
		return wrong("there is no port between host and address")
	}
	to, err := parseAuthority(rest, port)
	if err != nil {
		return wrong(err.Error())
	}
	addr, literal := to.host.Addr()
	if !literal {
		return wrong("the second part is no address")
	}
	return Override{Host: host, Port: port, To: netip.AddrPortFrom(addr, to.port)}, nil
}

func (d *dialer) override(to authority) (netip.AddrPort, bool) {
	for _, o := range d.Overrides {
		if o.Host == to.host && o.Port == to.port {
			return netip.AddrPortFrom(o.To.Addr().Unmap(), o.To.Port()), true
		}
	}
	return netip.AddrPort{}, false
}
