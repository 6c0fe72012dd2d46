package dnsfilter

import (
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
		})
	}
}
