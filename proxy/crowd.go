package proxy

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"scupper.dev/scupper/capability"
)

// doorstep is how many connections over their maximum are answered at a time; further
// ones wait for their answer.
const doorstep = 64

// crowd takes a connection for which there is no slot. Others may be about to end, so
// it gets a moment, and then a refusal.
func (f *front) crowd(ctx context.Context, conn net.Conn) {
	select {
	case f.p.crowded <- struct{}{}:
	case <-ctx.Done():
		conn.Close()
		return
	}
	f.wait.Go(func() {
		defer func() { <-f.p.crowded }()
		switch {
		case f.slotSoon(ctx):
			f.wait.Go(func() { f.open(conn) })
		case ctx.Err() != nil:
			conn.Close()
		default:
			f.turnAway(conn)
		}
	})
}

func (f *front) slotSoon(ctx context.Context) bool {
	select {
	case f.p.slots <- struct{}{}:
		return true
	case <-time.After(f.p.cfg.Limits.Refused):
	case <-ctx.Done():
	}
	return false
}

// turnAway records that conn is one too many and lets the client know in the protocol
// that it begins with.
func (f *front) turnAway(conn net.Conn) {
	l := &link{Conn: conn, front: f}
	defer l.Close()
	if f.kind == capability.Transparent && !l.find() {
		return
	}
	req := l.request(capability.KindConnect)
	req.Limit = limitConnections
	d := f.p.cfg.Authority.Refuse(req, capability.LimitExceeded)
	switch first, err := l.peek(f.p.patience(l)); { // not granted, as far as l knows: a short one
	case err != nil:
	case first == recordHandshake:
		f.p.alert(l)
	case beginsMethod(first):
		l.dismiss(d)
	}
}

// dismiss answers 429 without an HTTP server. It reads on for a moment: closing over
// unread bytes would take the answer from the client.
func (l *link) dismiss(d capability.Decision) {
	if l.SetDeadline(time.Now().Add(l.front.p.cfg.Limits.Refused)) != nil {
		return
	}
	doc := problem{
		Type: problems + string(d.Reason), Title: "refused by scupper", Status: statusOf(d.Reason),
		Reason: string(d.Reason), ID: d.ID, Detail: d.Reason.Sentence(),
	}
	body := doc.json()
	_, err := fmt.Fprintf(l.Conn, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nCache-Control: no-store\r\nScupper-Decision: %s\r\nConnection: close\r\n\r\n%s",
		doc.Status, http.StatusText(doc.Status), len(body), d.ID, body)
	if err == nil && l.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, l.Conn, lingerBytes)
	}
}
