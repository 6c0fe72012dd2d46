package proxy

import (
	"net"
	"net/netip"

	"scupper.dev/scupper/capability"
)

// openTransparent finds out where l was going and lets it in.
func (f *front) openTransparent(l *link) {
	if !l.find() {
		l.Close()
		return
	}
	f.admit(l)
}

// find fills in where l was going when it was caught.
func (l *link) find() bool {
	to, ok := l.LocalAddr().(*net.TCPAddr)
	if !ok {
		return false
	}
	l.addr = to.AddrPort().Addr().Unmap().WithZone("")
	l.port = to.AddrPort().Port()
	l.host = l.front.p.nameOf(l.addr)
	return true
}

// nameOf is the name that addr was leased for, or else the literal itself: an address
// has no name from anywhere but the leases.
func (p *Proxy) nameOf(addr netip.Addr) capability.Host {
	if name, ok := p.cfg.Names.Name(addr); ok {
		return name
	}
	return capability.Host(addr.String())
}
