package dnsfilter

import (
	"cmp"
	"sync/atomic"
	"time"

	"scupper.dev/scupper/capability"
)

// Authority decides and records. It does not block for long.
type Authority interface {
	Authorize(*capability.Request) capability.Decision
	Refuse(*capability.Request, capability.Reason) capability.Decision
}

// Config of a Filter. Authority and Leases are required.
type Config struct {
	Authority Authority
	Leases    *Leases
	IPv6      bool // answer AAAA; without it they have no data, so that clients use IPv4 at once

	MaxConnections int           // TCP connections at a time; default 128
	MaxMessages    int           // on one TCP connection, which then is closed; default 1,000
	IdleTimeout    time.Duration // of a TCP connection, and for one message of it; default 10 s

	Questions    int64            // answered in the whole run; default 1,000,000
	QuestionRate capability.Rate  // default 2,000 in a second
	Now          func() time.Time // nil: time.Now
}

// Filter answers the questions of one run.
type Filter struct {
	authority Authority
	leases    *Leases
	ipv6      bool

	maxConnections, maxMessages int
	idle                        time.Duration

	left atomic.Int64 // questions
	rate *capability.Bucket
	now  func() time.Time
}

// New makes a Filter. It serves nothing until ServeUDP or ServeTCP is called.
func New(c Config) *Filter {
	if c.QuestionRate == (capability.Rate{}) {
		c.QuestionRate = capability.Rate{Requests: 2000, Per: time.Second}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	f := &Filter{
		authority: c.Authority, leases: c.Leases, ipv6: c.IPv6,
		maxConnections: cmp.Or(c.MaxConnections, 128), maxMessages: cmp.Or(c.MaxMessages, 1000), idle: cmp.Or(c.IdleTimeout, 10*time.Second),
		rate: capability.NewBucket(c.QuestionRate), now: c.Now,
	}
	f.left.Store(cmp.Or(c.Questions, 1_000_000))
	return f
}
