package dnsfilter

import (
	"cmp"
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
}

// Filter answers the questions of one run.
type Filter struct {
	authority Authority
	leases    *Leases
	ipv6      bool

	maxConnections, maxMessages int
	idle                        time.Duration
}

// New makes a Filter. It serves nothing until ServeUDP or ServeTCP is called.
func New(c Config) *Filter {
	return &Filter{
		authority: c.Authority, leases: c.Leases, ipv6: c.IPv6,
		maxConnections: cmp.Or(c.MaxConnections, 128), maxMessages: cmp.Or(c.MaxMessages, 1000), idle: cmp.Or(c.IdleTimeout, 10*time.Second),
	}
}
