package proxy

import (
	"crypto/tls"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"scupper.dev/scupper/capability"
)

// way is one of the ways to send a request to allowed.example: through which front, and
// inside TLS or in clear.
type way struct {
	front capability.Front
	clear bool
}

func (y way) String() string {
	if y.clear {
		return string(y.front) + " in clear"
	}
	return string(y.front)
}

// each runs a test by each of ways. What is sent to inside() goes that way.
func each(t *testing.T, ways []way, test func(t *testing.T, by option)) {
	for _, y := range ways {
		t.Run(y.String(), func(t *testing.T) { test(t, func(w *world) { w.way = y }) })
	}
}

// secured are the ways that HTTP/2 can take too.
func secured() []way { return []way{{front: capability.Transparent}, {front: capability.Explicit}} }

func everyWay() []way {
	return append(secured(), way{capability.Transparent, true}, way{capability.Explicit, true})
}

// inside is a connection that speaks raw HTTP/1.1 with allowed.example.
func (w *world) inside() net.Conn {
	w.t.Helper()
	switch {
	case w.way.clear && w.way.front == capability.Explicit:
		return w.dial(w.explicit)
	case w.way.clear:
		return w.dial(fmt.Sprintf("%s:%d", good, w.cleart))
	}
	return w.insideTLS("http/1.1")
}

// insideTLS is a TLS connection to allowed.example.
func (w *world) insideTLS(protocol string) net.Conn {
	w.t.Helper()
	conf := &tls.Config{ServerName: "allowed.example", NextProtos: []string{protocol}, RootCAs: w.roots}
	var c net.Conn
	var err error
	if w.way.front == capability.Explicit {
		inner := tls.Client(w.tunnel(), conf)
		c, err = inner, inner.Handshake()
	} else {
		c, err = w.dialTLS(conf)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// spell writes an HTTP/1.1 request for https://HOST as it has to be on the world's way.
func (w *world) spell(text string) string {
	if !w.way.clear {
		return text
	}
	if w.way.front == capability.Explicit {
		text = regexp.MustCompile(`(?m)^([A-Z]+ +)/`).ReplaceAllString(text, "${1}http://CLEAR/")
	}
	return strings.NewReplacer("HOST", "CLEAR", "https://", "http://").Replace(text)
}

// far is the origin that the world's way leads to.
func (w *world) far() *origin {
	if w.way.clear {
		return w.plain
	}
	return w.tls
}

// fetch makes a GET in either protocol.
func (w *world) fetch(protocol, target string) (status int, body string) {
	w.t.Helper()
	if protocol != "h2" {
		return w.say(w.inside(), "GET "+target+" HTTP/1.1\r\nHost: HOST\r\n\r\n")
	}
	h := w.rawH2()
	h.open(1, h.get(w, target), true)
	h.until(func(f http2.Frame) bool {
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			status, _ = strconv.Atoi(f.PseudoValue("status"))
			return f.StreamEnded()
		case *http2.DataFrame:
			body += string(f.Data())
			return f.StreamEnded()
		}
		return false
	})
	return status, body
}

// requestsFinished are the outcomes of n requests; what opened a tunnel is no request.
func (w *world) requestsFinished(n int) []record {
	w.t.Helper()
	return w.outcomes(n, func(r record) bool { return r.Request.Kind == capability.KindHTTP })
}
