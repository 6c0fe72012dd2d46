package dnsfilter

import (
	"net/netip"
	"strings"
	"sync"
	"testing"

	"scupper.dev/scupper/capability"
)

func TestConcurrentLeases(t *testing.T) {
	l := NewLeases(0)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range capability.MaxNames {
				h := capability.Host("n" + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + ".test")
				lease, ok := l.Lease(h)
				if back, known := l.Name(lease.V4); !ok || !known || back != h {
					t.Errorf("%s: lease %v leads to %s", h, lease, back)
					return
				}
			}
		})
	}
	wg.Wait()
	if _, ok := l.Lease("one.more.test"); ok {
		t.Error("one lease too many")
	}
	if first, _ := l.Lease("na.test"); !first.V4.IsValid() {
		t.Error("an old lease is gone")
	}
}

func TestLeaseRange(t *testing.T) {
	v4, v6 := netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("fd00:64:198::/96")
	seen := make(map[netip.Addr]bool, maxLeases)
	for i := range maxLeases {
		l := leaseAt(i)
		last := l.V4.As4()[3]
		if !v4.Contains(l.V4) || !v6.Contains(l.V6) || last == 0 || last == 255 || seen[l.V4] {
			t.Fatalf("lease %d is %v", i, l)
		}
		seen[l.V4] = true
	}
}
