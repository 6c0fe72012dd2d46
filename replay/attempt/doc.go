// Package attempt does, from inside a sandbox or beside it, what a scenario tries: HTTP
// requests and raw bytes, DNS questions, packets and commands.
//
//	out := attempt.Do(ctx, attempt.Attempt{HTTP: &attempt.HTTP{Method: "GET", URL: "https://api.example.com/"}})
//	fmt.Println(out.Status, out.Output)
//
// Guarantees: what is sent is byte for byte what the attempt says, since a client's own
// notion of a good request would hide what a filter does with a bad one. Every attempt
// ends.
//
// Non-guarantees: it is no client for anything but scenarios. It verifies no certificate,
// as an attacker would not.
package attempt

import (
	"context"
	"encoding/json"
	"time"
)

// An Attempt is one thing that is tried. Exactly one field but Line is set.
type Attempt struct {
	HTTP *HTTP `json:"http,omitempty"`
	Raw  *Raw  `json:"raw,omitempty"`
	DNS  *DNS  `json:"dns,omitempty"`
	UDP  *Send `json:"udp,omitempty"`
	ICMP *Send `json:"icmp,omitempty"`
	Run  *Run  `json:"run,omitempty"`
	Tool *Tool `json:"tool,omitempty"`
	Line int   `json:"line"` // where it stands
}

// Header is one line of a request's header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// HTTP is one request. Path and query of the URL are sent as they are spelled.
type HTTP struct {
	Method  string   `json:"method"`
	URL     string   `json:"url"`
	Version string   `json:"version,omitempty"` // "1.1", which is the default, or "2"
	Headers []Header `json:"headers,omitempty"`
	Body    []byte   `json:"body,omitempty"`
	Follow  bool     `json:"follow,omitempty"` // redirects, with the same headers
}

// Raw is a TCP connection, with TLS or without, and what is written to it.
type Raw struct {
	Connect   string   `json:"connect"` // host:port
	TLS       bool     `json:"tls,omitempty"`
	SNI       string   `json:"sni,omitempty"`  // the default is the host; "-" sends none
	ALPN      []string `json:"alpn,omitempty"` // the default is http/1.1
	Bytes     []byte   `json:"bytes"`
	Responses int      `json:"responses,omitempty"` // how many are read; the default is 1
}

// DNS is one question.
type DNS struct {
	Name    string `json:"name"`
	Type    string `json:"type,omitempty"`    // the default is A
	Server  string `json:"server,omitempty"`  // an address, with a port or without; the default is that of resolv.conf
	Network string `json:"network,omitempty"` // "udp", which is the default, or "tcp"
}

// Send is a packet without a connection.
type Send struct {
	To    string `json:"to"` // host:port, or an address where the protocol has no ports
	Bytes []byte `json:"bytes"`
}

// Run is a command.
type Run struct {
	Command []string `json:"command"`
}

// Tool is a call of a tool.
type Tool struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Outcome is what came of an attempt, as whoever made it sees it.
type Outcome struct {
	Status int    `json:"status,omitempty"` // of the last HTTP response; of a DNS answer, its code
	Exit   int    `json:"exit,omitempty"`   // of a command
	Output string `json:"output,omitempty"` // the response, or what the command printed; at most 64 KiB
	Error  string `json:"error,omitempty"`
}

// patience is how long one attempt may take, a command apart.
const patience = 10 * time.Second

// commandTime is how long a command may take.
const commandTime = 60 * time.Second

// maxOutput is how much of an answer is kept.
const maxOutput = 64 << 10

// Kind is the word that a scenario has for the attempt.
func (a Attempt) Kind() string {
	switch {
	case a.HTTP != nil:
		return "http"
	case a.Raw != nil:
		return "raw"
	case a.DNS != nil:
		return "dns"
	case a.UDP != nil:
		return "udp"
	case a.ICMP != nil:
		return "icmp"
	case a.Run != nil:
		return "run"
	case a.Tool != nil:
		return "tool"
	}
	return ""
}

// Do makes the attempt. A call of a tool is none of its business.
func Do(ctx context.Context, a Attempt) Outcome {
	a = expand(a)
	limit := patience
	if a.Run != nil {
		limit = commandTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	switch {
	case a.HTTP != nil:
		return a.HTTP.do(ctx)
	case a.Raw != nil:
		return a.Raw.do(ctx)
	case a.DNS != nil:
		return a.DNS.do(ctx)
	case a.UDP != nil:
		return a.UDP.udp(ctx)
	case a.ICMP != nil:
		return a.ICMP.icmp(ctx)
	case a.Run != nil:
		return a.Run.do(ctx)
	}
	return Outcome{Error: "no attempt that can be made here"}
}

// failed is the outcome of what could not be done.
func failed(err error) Outcome { return Outcome{Error: err.Error()} }

// clip keeps the beginning of an output.
func clip(b []byte) string { return string(b[:min(len(b), maxOutput)]) }
