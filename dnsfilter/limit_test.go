package dnsfilter

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/miekg/dns"

	"scupper.dev/scupper/capability"
)

func TestLimits(t *testing.T) {
	for limit, change := range map[string]func(*Config){
		"of the run":  func(c *Config) { c.Questions = 2 },
		"of the rate": func(c *Config) { c.QuestionRate = capability.Rate{Requests: 2, Per: time.Hour} },
	} {
		t.Run(limit, func(t *testing.T) {
			f, j := newFilter(t, change)
			for i, want := range []string{"198.18.0.1", "198.18.0.1", "SERVFAIL", "SERVFAIL"} {
				if got := text(parse(t, f.answer(query(t, "api.example.com.", dns.TypeA)))); got != want {
					t.Errorf("question %d: got %s, want %s", i+1, got, want)
				}
			}
			on := j.take()
			if len(on) != 4 || on[2] != (verdict{reason: capability.LimitExceeded}) || on[3] != on[2] {
				t.Errorf("got %+v", on)
			}
			for _, short := range []string{"", "a", "elevenbytes"} { // each of its own would fill the log
				if got := f.answer([]byte(short)); got != nil {
					t.Errorf("%q is answered: %x", short, got)
				}
			}
			if short := j.take(); len(short) != 3 || short[0] != on[2] || short[2] != on[2] {
				t.Errorf("what is too short for a message: got %+v", short)
			}
		})
	}
}

// TestConnectionLimit: one connection too many is on record.
func TestConnectionLimit(t *testing.T) {
	f, j := newFilter(t, func(c *Config) { c.MaxConnections = 1 })
	_, tcp := serve(t, f)
	first := &dns.Conn{Conn: dial(t, tcp)}
	ask := new(dns.Msg).SetQuestion("api.example.com.", dns.TypeA)
	for range 2 {
		if err := first.WriteMsg(ask); err != nil {
			t.Fatal(err)
		}
		if reply, err := first.ReadMsg(); err != nil || text(reply) != "198.18.0.1" {
			t.Fatalf("the first connection: %v %v", reply, err)
		}
		if on := j.take(); len(on) != 1 || !on[0].allowed {
			t.Fatalf("got %+v", on)
		}
		if n, err := dial(t, tcp).Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("one too many: read %d, %v", n, err)
		}
		if on := j.take(); len(on) != 1 || on[0] != (verdict{reason: capability.LimitExceeded}) {
			t.Errorf("got %+v", on)
		}
	}
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}
