package capability

import (
	"fmt"
	"net/netip"
	"time"
)

// Position is where in a policy something stands. Line and Column count from 1.
type Position struct {
	File   string
	Line   int
	Column int
}

// String is file:line:column, as compilers print it.
func (p Position) String() string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// A Grant is one capability: what may be asked of one host, with which credential, by
// whose word, how much of it and until when.
type Grant struct {
	Name     string
	Position Position
	Why      string // the policy's `reason`: why the grant exists
	Owner    string
	Expires  time.Time // the first moment at which it no longer holds; zero: it does not expire

	Host       HostPattern
	Port       uint16
	Scheme     Scheme
	Credential Credential
	Networks   []netip.Prefix // non-public ranges the host may resolve to
	Limits     Limits
	Allows     []*Allow
}

// expired reports whether g no longer holds at now.
func (g *Grant) expired(now time.Time) bool {
	return !g.Expires.IsZero() && !now.Before(g.Expires)
}

// An Allow is one function of the host: methods on a path, with this query and body.
type Allow struct {
	Position Position
	Methods  []string
	Path     *Template
	Query    QueryRule
	Headers  []HeaderRule
	Body     *BodyRule  // nil: no body
	Issues   *IssueRule // nil: its answers hand out no credential

	WebSocket bool // a GET may go on as a WebSocket (RFC 6455)
}

// BodyRule says which body an allow block takes.
type BodyRule struct {
	Type      string    // media type in lower case, without parameters
	Max       int64     // bytes, before and after the coding is taken off
	Sent      string    // what Content-Type says of the body that an inspector wrote; empty: Type
	Coding    string    // the one content coding that an inspected body may have: "gzip", or none
	Inspector Inspector // nil: the body is not looked at
}

// An Inspector judges whole bodies. It may be called concurrently and must not block.
type Inspector interface {
	// Inspect returns the bytes to send in the place of body, written anew from what it
	// understood, so that what is judged is what is sent; inspecting them again returns
	// the same. An error means that the body is not granted, and holds nothing of it.
	// body belongs to the caller.
	Inspect(body []byte) ([]byte, error)
}

// Limits of a grant, per run. Zero means no limit.
type Limits struct {
	Requests int64
	Upload   int64 // bytes sent, request line and headers included
	Download int64 // bytes received, status line and headers included
	Rate     Rate
	Misses   int64 // upstream answers 404 and 410
	Names    int64 // distinct names under a wildcard
}

// MaxNames is the number of names that are leased under one grant in a run when its
// limits say nothing.
const MaxNames = 4096

// Rate is a number of requests in a time. The zero Rate is no limit.
type Rate struct {
	Requests int64
	Per      time.Duration
}
