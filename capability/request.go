package capability

import (
	"net/netip"
	"time"
)

// Kind says what was attempted.
type Kind string

// The kinds of request an enforcer can put.
const (
	KindName    Kind = "name"    // a DNS question
	KindConnect Kind = "connect" // a connection for which there is no HTTP request (yet)
	KindHTTP    Kind = "http"    // an HTTP request
	KindTool    Kind = "tool"    // a call of a tool
	KindPacket  Kind = "packet"  // traffic that no enforcer speaks: other ports, UDP, ICMP
)

// Scheme is how a granted port is spoken to.
type Scheme string

// The schemes of a grant.
const (
	HTTPS Scheme = "https"
	HTTP  Scheme = "http"
)

// DefaultPort is the port that the scheme implies (RFC 9110 section 4.2).
func (s Scheme) DefaultPort() uint16 {
	if s == HTTP {
		return 80
	}
	return 443
}

// Front is the way a request came in.
type Front string

// The fronts of the proxy.
const (
	Transparent Front = "transparent" // caught on its way to an address
	Explicit    Front = "explicit"    // sent to the proxy as such
)

// A Request is one attempt in canonical form: what is judged is what is sent.
// Enforcers fill in the fields of their protocol and leave the others zero.
type Request struct {
	Time time.Time // when it was made; expiry is judged against it
	Kind Kind

	Host    Host       // canonical; empty when unknown
	Address netip.Addr // the address the client used, when it matters
	Port    uint16
	Scheme  Scheme

	Method  string
	Path    Path
	Query   Query
	Header  map[string][]string // keys in canonical MIME form
	Trailer []string            // names of the fields that are to follow the body, likewise
	Body    Body

	WebSocket bool // it is to go on as a WebSocket

	Tool ToolCall // of KindTool

	Issued Issued // what the run has handed out; nil: nothing

	Front    Front
	Protocol string // "HTTP/2.0", "udp", "icmp", DNS type: for the record
	Excerpt  string // of a malformed request: a safe, capped piece of it, for the record
	Limit    string // of the run, that the request exceeds: for the record
}

// Body is what a request says of its body before any of it is read, and what an
// enforcer found when it was.
type Body struct {
	Present  bool
	Type     string // media type in lower case, without parameters
	Encoding string // content coding, empty for identity
	Length   int64  // bytes; -1 when the client did not say
	Mismatch string // what an inspector found, with nothing of the body: for the record
}

// An Outcome is what happened after an allowing Decision.
type Outcome struct {
	Status      int    // HTTP status the upstream answered, 0 when none
	Sent        int64  // bytes that went upstream: request line, headers, body
	Received    int64  // bytes that came back: status line, headers, body
	Error       string // what went wrong, in the words of ErrorKind; empty when nothing did
	Upstream    netip.AddrPort
	Stripped    int           // request headers that were not passed on
	Digest      string        // SHA-256, in hexadecimal, of the body that was sent; empty: none, or not to its end
	Placeholder bool          // in the body that was sent, where it means nothing
	Close       string        // of a WebSocket: who closed it, and with which code
	Duration    time.Duration // from decision to the last byte
}
