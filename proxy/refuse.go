package proxy

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"scupper.dev/scupper/capability"
)

// problems is where the types of problem documents are described.
const problems = "https://scupper.dev/problems/"

// problem is the body of every answer that scupper itself gives (RFC 9457). It holds
// nothing of the request and nothing of the policy.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Reason string `json:"reason"`
	ID     string `json:"id"`
	Detail string `json:"detail"`
}

// refuse answers a request that was denied.
func refuse(w http.ResponseWriter, r *http.Request, d capability.Decision) {
	refuseWith(w, r, d, statusOf(d.Reason))
}

// refuseViolation answers a head that had no single reading.
func (p *Proxy) refuseViolation(w http.ResponseWriter, r *http.Request, l *link, v *violation) {
	d := v.decision
	if d.ID == "" {
		d = p.recordViolation(r, l, v)
	}
	if l.http2 {
		w.Header().Set("Connection", "close") // net/http makes a GOAWAY of it
	}
	refuseWith(w, r, d, cmp.Or(statusOver(v.limit), statusOf(d.Reason)))
}

func (p *Proxy) recordViolation(r *http.Request, l *link, v *violation) capability.Decision {
	req := l.request(capability.KindHTTP)
	req.Protocol, req.Excerpt, req.Limit = r.Proto, v.excerpt, v.limit
	reason := v.reason
	if l.malformed() == capability.NotTLS {
		reason = capability.NotTLS
	}
	return p.cfg.Authority.Refuse(req, reason)
}

func refuseWith(w http.ResponseWriter, r *http.Request, d capability.Decision, status int) {
	detail := d.Reason.Sentence()
	if strings.HasPrefix(r.RequestURI, "/") && d.Reason == capability.MalformedRequest && asProxy(r) {
		detail = "this is a proxy: send CONNECT, or the whole URL as the request target"
	}
	if status == http.StatusBadRequest || r.Method == http.MethodConnect || r.ContentLength != 0 {
		endAfter(r, w.Header()) // what follows may be no request
	}
	write(w, r, problem{
		Title: "refused by scupper", Status: status, Reason: string(d.Reason), ID: d.ID, Detail: detail,
	})
}

// endAfter makes the answer with header h the last one of an HTTP/1 connection.
// net/http would wait for the rest of a body before it sends an answer, and it loses
// its place, taking that rest for the next request, when a handler returns while a
// transport still reads. It does neither on a connection that ends.
func endAfter(r *http.Request, h http.Header) {
	if s, ok := r.Context().Value(connKey{}).(*stream); ok {
		s.early.Store(true)
		h.Set("Connection", "close")
	}
}

func asProxy(r *http.Request) bool {
	l := linkOf(r)
	return l != nil && l.outside()
}

func statusOf(reason capability.Reason) int {
	switch {
	case reason.Malformed():
		return http.StatusBadRequest
	case reason == capability.AuthorityMismatch:
		return http.StatusMisdirectedRequest
	case reason == capability.BodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case reason == capability.TooSlow:
		return http.StatusRequestTimeout
	case reason == capability.LimitExceeded:
		return http.StatusTooManyRequests
	case reason == capability.CredentialUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusForbidden
}

// write sends doc to the client, as text to git, which shows its user nothing else.
func write(w http.ResponseWriter, r *http.Request, doc problem) {
	doc.Type = problems + doc.Reason
	kind, body := "application/problem+json", doc.json()
	if strings.HasPrefix(r.UserAgent(), "git/") {
		kind, body = "text/plain; charset=utf-8", []byte("scupper: "+doc.Detail+" ("+doc.Reason+", "+doc.ID+")\n")
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("Scupper-Decision", doc.ID)
	w.WriteHeader(doc.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone; the record exists
	}
}

func (doc problem) json() []byte {
	body, err := json.Marshal(doc)
	if err != nil { // strings and an int always marshal
		return nil
	}
	return append(body, '\n')
}
