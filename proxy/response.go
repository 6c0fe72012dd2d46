package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// steering are response headers that would send the client, or reports about it, to
// places that no grant names; and the one that is ours alone.
var steering = [...]string{"Alt-Svc", "Nel", "Report-To", "Reporting-Endpoints", "Scupper-Decision"}

// hop are headers of one connection (RFC 9110 section 7.6.1).
var hop = [...]string{"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// framing are headers that describe the body, and mean nothing behind it (RFC 9110
// section 6.5.1).
var framing = [...]string{"Content-Length", "Content-Encoding", "Content-Type", "Content-Range"}

var errStatus = errors.New("the upstream answered with an impossible status")

// response prepares what the upstream answered for the client.
func (x *exchange) response(resp *http.Response) *http.Response {
	if resp.StatusCode < 200 || resp.StatusCode > 999 {
		resp.Body.Close()
		return x.failure(failure{kind: errUpstreamBroken, cause: errStatus})
	}
	strip(resp.Header)
	strip(resp.Trailer)
	if bodyless(resp.StatusCode) {
		delete(resp.Header, "Content-Length")
	}
	if _, ok := resp.Header["Content-Type"]; !ok {
		resp.Header["Content-Type"] = nil // keeps net/http from guessing one
	}
	if !x.redact(resp) || !x.spend(0, responseHeadSize(resp)) {
		resp.Body.Close()
		return x.failure(*x.failed.Load())
	}
	x.issue(resp)
	x.status = resp.StatusCode
	x.unpaced()
	x.early(resp.Header)
	resp.Body = x.download(resp)
	return resp
}

func strip(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hop {
		delete(h, name)
	}
	for _, name := range steering {
		delete(h, name)
	}
	dropProxy(h)
}

// bodyless statuses have no body and no framing (RFC 9112 section 6.3).
func bodyless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

// failure is the answer to a request that could not be completed. A denial that only
// showed while connecting or streaming is recorded and answered as such.
func (x *exchange) failure(f failure) *http.Response {
	f = x.fail(f)
	doc := problem{
		Type: problems + f.kind, Title: "scupper could not complete the request", Status: http.StatusBadGateway,
		Reason: f.kind, ID: x.d.ID, Detail: sentences[f.kind],
	}
	if f.reason != "" {
		x.q.Limit = f.limit
		d := x.p.cfg.Authority.Refuse(x.q, f.reason)
		doc = problem{Title: "refused by scupper", Status: statusOf(f.reason), Reason: string(f.reason), ID: d.ID, Detail: f.reason.Sentence()}
	}
	rec := recorder{header: make(http.Header)}
	write(&rec, x.r, doc)
	x.early(rec.header)
	return &http.Response{
		StatusCode: doc.Status, Header: rec.header, ContentLength: int64(rec.body.Len()),
		Body: io.NopCloser(&rec.body), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: x.r,
	}
}

// answerFailure is the answer to what failed before anything was sent.
func (x *exchange) answerFailure() { x.deliver(x.failure(*x.failed.Load())) }

// recorder holds an answer of ours until it is sent.
type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
func (r *recorder) WriteHeader(int)             {}

// headSize estimates a request head on the wire in HTTP/1.1.
func headSize(r *http.Request) int64 {
	n := len(r.Method) + len(r.URL.Opaque) + len(r.URL.RawQuery) + len(" ? HTTP/1.1\r\nHost: \r\n\r\n") + len(r.Host)
	return int64(n) + headerSize(r.Header)
}

func responseHeadSize(r *http.Response) int64 {
	return int64(len("HTTP/1.1 200 \r\n\r\n")+len(strconv.Itoa(r.StatusCode))) + headerSize(r.Header)
}

func headerSize(h http.Header) (n int64) {
	for name, values := range h {
		for _, v := range values {
			n += int64(len(name) + len(v) + len(": \r\n"))
		}
	}
	return n
}
