package dnsfilter

import (
	"os"
	"testing"

	"github.com/miekg/dns"
)

// FuzzMessage wants of any bytes: no panic, exactly one record or none for what is
// local, an answer that parses, only our own addresses in it, none for a denied name.
func FuzzMessage(f *testing.F) {
	if seeds, err := os.ReadDir("testdata/fuzz/FuzzMessage"); err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, q := range []uint16{dns.TypeA, dns.TypeHTTPS} {
		f.Add(query(f, "api.example.com.", q))
	}
	filter, j := newFilter(f, nil)
	f.Fuzz(func(t *testing.T, m []byte) {
		j.take()
		reply := filter.answer(m)
		on := j.take()
		if reply == nil {
			if len(on) != 1 || on[0].allowed {
				t.Fatalf("silence with records %+v", on)
			}
			return
		}
		got := parse(t, reply)
		if len(on) > 1 || !got.Response {
			t.Fatalf("records %+v, answer %s", on, got)
		}
		if len(on) == 1 && !on[0].allowed && len(got.Answer) != 0 {
			t.Fatalf("denied with answer %s", got)
		}
		for _, rr := range got.Answer {
			switch rr.(type) {
			case *dns.A, *dns.AAAA, *dns.PTR:
			default:
				t.Fatalf("record %s", rr)
			}
		}
	})
}
