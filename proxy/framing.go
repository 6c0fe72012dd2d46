package proxy

import "net"

// stream is the HTTP/1 side of a link: the link itself, or the inside of its TLS.
type stream struct {
	net.Conn
	link *link
}
