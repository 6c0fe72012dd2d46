package proxy

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"

	"scupper.dev/scupper/capability"
)

// exchange is one allowed request on its way upstream and back.
type exchange struct {
	p *Proxy
	w http.ResponseWriter
	r *http.Request // the client's
	q *capability.Request
	d capability.Decision

	body           *uploadBody // nil: none
	length         int64       // of body; -1: unknown
	paced          *pacedBody  // nil: none
	held           int64       // bytes of memory for its inspection
	sent, received atomic.Int64
	upstream       netip.AddrPort
	status         int
	stripped       int
	closed         string                  // of a WebSocket: by whom, and with which code
	failed         atomic.Pointer[failure] // the first thing that went wrong
	stop           context.CancelFunc      // ends the way upstream
}

// forward sends an allowed request upstream and the answer back. begun is the number of changes of the policy when it was judged.
func (x *exchange) forward(begun int64) {
	defer x.finish()
	if !x.prepareBody() {
		x.answerFailure()
		return
	}
	up := x.request()
	defer x.stop()
	x.p.live.enter(x, begun)
	defer x.p.live.leave(x)
	defer x.limitTime()()
	if up.URL.Opaque == "" {
		x.fail(*denied(capability.PathNotGranted)) // net/url would make "/" of it
	}
	if x.failed.Load() != nil || !x.spend(headSize(up), 0) || !x.present(up) {
		x.answerFailure()
		return
	}
	if x.q.WebSocket {
		x.webSocket(up)
		return
	}
	x.deliver(x.roundTrip(up))
}

// request writes the request anew from the judged form: nothing else of the client's
// request goes upstream.
func (x *exchange) request() *http.Request {
	path, query, _ := strings.Cut(x.d.Target(x.q), "?")
	dropNominated(x.q.Header)
	header, stripped := x.d.Header(x.q)
	x.stripped = stripped
	x.ask(header)
	x.askReadable(header)
	up := &http.Request{
		Method: x.q.Method,
		// Opaque: net/url must not spell the path again.
		URL:    &url.URL{Scheme: string(x.q.Scheme), Host: hostport(x.q.Host, x.q.Port, 0), Opaque: path, RawQuery: query},
		Host:   hostport(x.q.Host, x.q.Port, x.q.Scheme.DefaultPort()),
		Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if x.body != nil && x.length != 0 { // a length of 0 would mean that it is unknown
		up.Body, up.ContentLength = x.body, x.length
	}
	return up.WithContext(httptrace.WithClientTrace(x.interruptible(), &httptrace.ClientTrace{GotConn: x.gotConn}))
}

// dropNominated removes what the client declared to be for this connection only (RFC
// 9110 section 7.6.1), after judging and before our own headers are written.
func dropNominated(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			switch name = http.CanonicalHeaderKey(strings.TrimSpace(name)); name {
			case "Content-Type", "Connection", "Sec-Websocket-Key": // of use to us until the end
			default:
				delete(h, name)
			}
		}
	}
}

func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	if addr, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String()); err == nil {
		x.upstream = netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
	}
}
