package proxy

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"scupper.dev/scupper/capability"
)

// acceptKey is what a server proves with that it speaks WebSocket (RFC 6455 section 1.3).
const acceptKey = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// farewell is how long one side has to answer the other's close frame.
const farewell = 5 * time.Second

var errHandshake = errors.New("the upstream did not take up WebSocket as it was asked to")

// readUpgrade reads what a request wants to go on with. Only WebSocket can be granted,
// and the handshake has to be one (RFC 6455 section 4.2.1).
func readUpgrade(req *capability.Request, r *http.Request) capability.Reason {
	h := r.Header
	switch {
	case len(h["Upgrade"]) == 0:
		return capability.Granted
	case len(h["Upgrade"]) > 1 || !strings.EqualFold(h["Upgrade"][0], "websocket") || r.ProtoMajor != 1:
		return capability.ProtocolNotGranted
	}
	key := h["Sec-Websocket-Key"]
	version := h["Sec-Websocket-Version"]
	if r.Method != http.MethodGet || r.ContentLength != 0 || len(key) != 1 || len(version) != 1 || version[0] != "13" ||
		!httpguts.HeaderValuesContainsToken(h["Connection"], "upgrade") {
		return capability.MalformedRequest
	}
	if nonce, err := base64.StdEncoding.DecodeString(key[0]); err != nil || len(nonce) != 16 {
		return capability.MalformedRequest
	}
	req.WebSocket = true
	return capability.Granted
}

// webSocket opens a WebSocket upstream, with a handshake of its own and without any
// extension, and relays frames once it stands. Any other answer is passed on.
func (x *exchange) webSocket(up *http.Request) {
	key := base64.StdEncoding.EncodeToString(random(16))
	up.Header["Connection"], up.Header["Upgrade"] = []string{"Upgrade"}, []string{"websocket"}
	up.Header["Sec-WebSocket-Version"], up.Header["Sec-WebSocket-Key"] = []string{"13"}, []string{key}
	resp, err := x.p.pools.of(x.d.Grant).RoundTrip(up)
	if err != nil {
		x.answer(x.failure(x.classify(err)))
		return
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		x.answer(x.response(resp))
		return
	}
	far, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || !agreed(resp.Header, up.Header, key) {
		resp.Body.Close()
		x.answer(x.failure(failure{kind: errUpstreamBroken, cause: errHandshake}))
		return
	}
	defer far.Close()
	x.relay(up.Context(), far, resp.Header.Get("Sec-WebSocket-Protocol"))
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// agreed judges the upstream's side of the handshake (RFC 6455 section 4.1).
func agreed(h, asked http.Header, key string) bool {
	protocols := h["Sec-Websocket-Protocol"]
	if len(protocols) > 1 || len(protocols) == 1 && !httpguts.HeaderValuesContainsToken(asked["Sec-Websocket-Protocol"], protocols[0]) {
		return false
	}
	return strings.EqualFold(h.Get("Upgrade"), "websocket") && httpguts.HeaderValuesContainsToken(h["Connection"], "upgrade") &&
		h.Get("Sec-WebSocket-Accept") == accept(key) && len(h["Sec-Websocket-Extensions"]) == 0
}

func accept(key string) string {
	sum := sha1.Sum([]byte(key + acceptKey))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// answer delivers what is no WebSocket.
func (x *exchange) answer(resp *http.Response) {
	resp.Header.Set("Connection", "close") // what follows is no request
	x.deliver(resp)
}

// relay takes the connection from net/http, says yes to the client, and passes frames
// on both ways until one side has ended.
func (x *exchange) relay(ctx context.Context, far io.ReadWriteCloser, protocol string) {
	near, buffered, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		x.fail(failure{kind: errClientGone, cause: err})
		return
	}
	defer near.Close()
	stop := context.AfterFunc(ctx, func() { near.Close(); far.Close() })
	defer stop()
	x.status = http.StatusSwitchingProtocols
	if err := x.welcome(near, protocol); err != nil {
		x.fail(failure{kind: errClientGone, cause: err})
		return
	}
	out := &frameRelay{x: x, from: buffered.Reader, to: far, masked: true}
	in := &frameRelay{x: x, from: bufio.NewReader(far), to: near, messages: x.hiding(), controls: x.hiding()}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		in.run()
		x.part(near, far, in)
	}()
	out.run()
	x.part(near, far, out)
	<-ended
	x.closed = closing(out, in)
}

// part leaves the other side a moment to say farewell, or none where something was wrong.
func (x *exchange) part(near net.Conn, far io.Closer, done *frameRelay) {
	if done.code == "" || x.failed.Load() != nil {
		near.Close()
		far.Close()
		return
	}
	deadline := time.Now().Add(farewell)
	time.AfterFunc(farewell, func() { far.Close() })
	_ = near.SetReadDeadline(deadline) // closed already, perhaps
}

// closing says who closed first, and with which code.
func closing(out, in *frameRelay) string {
	switch {
	case out.code != "" && (in.code == "" || out.ended.Before(in.ended)):
		return "client " + out.code
	case in.code != "":
		return "upstream " + in.code
	}
	return ""
}

func (x *exchange) welcome(near net.Conn, protocol string) error {
	if err := near.SetDeadline(time.Time{}); err != nil {
		return err
	}
	head := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		accept(x.r.Header["Sec-Websocket-Key"][0]) + "\r\nScupper-Decision: " + x.d.ID + "\r\n"
	if protocol != "" {
		head += "Sec-WebSocket-Protocol: " + protocol + "\r\n"
	}
	_, err := io.WriteString(near, head+"\r\n")
	return err
}
