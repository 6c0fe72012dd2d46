package proxy

import (
	"net"
	"net/netip"

	"scupper.dev/scupper/capability"
)

// openTransparent finds out where l was going and lets it in.
func (f *front) openTransparent(l *link) {
	to, ok := l.LocalAddr().(*net.TCPAddr)
	if !ok {
		l.Close()
		return
	}
	l.addr = to.AddrPort().Addr().Unmap().WithZone("")
	l.port = to.AddrPort().Port()
	l.host = f.p.nameOf(l.addr)
	f.admit(l)
}

// nameOf is the name that addr was leased for, or else the literal itself: an address
// has no name from anywhere but the leases.
func (p *Proxy) nameOf(addr netip.Addr) capability.Host {
	if name, ok := p.cfg.Names.Name(addr); ok {
		return name
	}
	return capability.Host(addr.String())
}
