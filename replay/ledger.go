package replay

import (
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Exchange is one HTTP request as the far side received it.
type Exchange struct {
	Time        time.Time      `json:"time"`
	Destination netip.AddrPort `json:"destination"` // the literal that was dialled
	Proto       string         `json:"proto"`
	Method      string         `json:"method"`
	Host        string         `json:"host"`
	URI         string         `json:"uri"` // the request target as sent
	Header      http.Header    `json:"header"`
	Trailer     http.Header    `json:"trailer,omitempty"`
	BodyLen     int64          `json:"bodyLen"`    // what the handler read; the echo reads all
	BodySHA256  string         `json:"bodySHA256"` // hex
	BodyHead    string         `json:"bodyHead"`   // at most the first 4096 bytes, unless Config.Whole
	TLS         bool           `json:"tls"`
	SNI         string         `json:"sni,omitempty"`
	Done        bool           `json:"done"` // the handler has returned
}

// Query is one DNS question as the far side received it.
type Query struct {
	Time    time.Time `json:"time"`
	Network string    `json:"network"` // "udp" or "tcp"
	Server  string    `json:"server"`  // the address that was asked; over UDP only its family, see Packets
	Name    string    `json:"name"`    // lower case, no final dot
	Type    string    `json:"type"`    // "A", "AAAA", "HTTPS", ...
}

// Connection is one accepted TCP connection.
type Connection struct {
	Time        time.Time      `json:"time"`
	Source      netip.AddrPort `json:"source"`
	Destination netip.AddrPort `json:"destination"`
	Length      int64          `json:"length"`         // bytes received: on raw ports, or with Config.Whole
	Head        []byte         `json:"head,omitempty"` // at most the first 4096 of them
}

// Packet is one packet that opens something, seen on the wire: a TCP SYN, or
// any packet of another protocol.
type Packet struct {
	Time        time.Time      `json:"time"`
	Protocol    string         `json:"protocol"` // "tcp", "udp", "icmp", "icmp6" or a number
	Source      netip.AddrPort `json:"source"`
	Destination netip.AddrPort `json:"destination"` // port 0 where the protocol has none
	Payload     []byte         `json:"payload,omitempty"`
}

// Event is one line of Config.Log: exactly one field is set. An Exchange is
// written when its handler has returned, a Connection to a raw port when it ends.
type Event struct {
	Request    *Exchange   `json:"request,omitempty"`
	Query      *Query      `json:"query,omitempty"`
	Connection *Connection `json:"connection,omitempty"`
	Packet     *Packet     `json:"packet,omitempty"`
}

type ledger struct {
	log  io.Writer
	keep int // bytes of a connection

	mu          sync.Mutex
	exchanges   []*Exchange
	queries     []Query
	connections []*Connection
	packets     []Packet
}

func (l *ledger) request(e *Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exchanges = append(l.exchanges, e)
}

// finish applies update to a request already on record.
func (l *ledger) finish(e *Exchange, update func(*Exchange)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	update(e)
	l.write(Event{Request: e})
}

func (l *ledger) query(q Query) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queries = append(l.queries, q)
	l.write(Event{Query: &q})
}

func (l *ledger) connection(c *Connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connections = append(l.connections, c)
}

// ended writes a connection that will not change any more.
func (l *ledger) ended(c *Connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(Event{Connection: c})
}

func (l *ledger) bytes(c *Connection, p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Length += int64(len(p))
	c.Head = append(c.Head, p[:min(len(p), l.keep-len(c.Head))]...)
}

func (l *ledger) packet(p Packet) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.packets = append(l.packets, p)
	l.write(Event{Packet: &p})
}

// write drops a line that cannot be written: the records in memory are the
// evidence, the log is a copy for shell tests.
func (l *ledger) write(e Event) {
	if l.log != nil {
		json.NewEncoder(l.log).Encode(e)
	}
}

func (l *ledger) received() []Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Exchange, len(l.exchanges))
	for i, e := range l.exchanges {
		out[i] = *e
	}
	return out
}

func (l *ledger) asked() []Query {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Query(nil), l.queries...)
}

func (l *ledger) accepted() []Connection {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Connection, len(l.connections))
	for i, c := range l.connections {
		out[i] = *c
		out[i].Head = append([]byte(nil), c.Head...)
	}
	return out
}

func (l *ledger) seen() []Packet {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Packet(nil), l.packets...)
}

func (l *ledger) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exchanges, l.queries, l.connections, l.packets = nil, nil, nil, nil
}
