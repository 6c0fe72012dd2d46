package dnsfilter

import (
	"encoding/binary"
	"net/netip"
	"sync"

	"scupper.dev/scupper/capability"
)

// Lease is the pair of synthetic addresses of one name.
type Lease struct {
	V4 netip.Addr // in 198.18.0.0/15 (RFC 2544)
	V6 netip.Addr // in fd00:64:198::/96 (RFC 4193), with the bytes of V4 at its end
}

// Leases hands out addresses, one pair to a name, never the same to another. It is
// safe for concurrent use.
type Leases struct {
	most int

	mu     sync.RWMutex
	byName map[capability.Host]Lease
	byAddr map[netip.Addr]capability.Host
}

// maxLeases is what the range holds: the last byte is neither 0 nor 255.
const maxLeases = 512 * 254

// NewLeases makes an empty set for one run, for at most most names; 0 means
// capability.MaxNames.
func NewLeases(most int) *Leases {
	if most <= 0 {
		most = capability.MaxNames
	}
	return &Leases{most: min(most, maxLeases), byName: make(map[capability.Host]Lease), byAddr: make(map[netip.Addr]capability.Host)}
}

// Lease is the lease of h, made now when there is none; ok is false when there is
// none and no more are made.
func (l *Leases) Lease(h capability.Host) (lease Lease, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lease, ok := l.byName[h]; ok {
		return lease, true
	}
	if len(l.byName) >= l.most {
		return Lease{}, false
	}
	lease = leaseAt(len(l.byName))
	l.byName[h] = lease
	l.byAddr[lease.V4], l.byAddr[lease.V6] = h, h
	return lease, true
}

// Name is the name that addr was leased to.
func (l *Leases) Name(addr netip.Addr) (capability.Host, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	h, ok := l.byAddr[addr.Unmap()]
	return h, ok
}

func leaseAt(i int) Lease {
	const first = 198<<24 | 18<<16
	v6 := [16]byte{0xfd, 0, 0, 0x64, 0x01, 0x98}
	binary.BigEndian.PutUint32(v6[12:], uint32(first+i/254<<8+i%254+1))
	return Lease{V4: netip.AddrFrom4([4]byte(v6[12:])), V6: netip.AddrFrom16(v6)}
}
