package proxy

import (
	"cmp"
	"net/http"

	"scupper.dev/scupper/capability"
)

// handle takes one HTTP request from either front to its answer.
func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	l := linkOf(r)
	if l == nil || !l.front.begin() {
		return
	}
	defer l.front.done()
	l.pending.Store(false)
	if v := violationOf(r, l); v != nil {
		p.refuseViolation(w, r, l, v)
		return
	}
	if r.Method == http.MethodConnect && l.outside() {
		p.connect(w, r, l)
		return
	}
	if s, ok := r.Context().Value(connKey{}).(*stream); ok && s.last.Load() {
		w.Header().Set("Connection", "close")
	}
	req, reason := identify(r, l)
	if reason != capability.Granted {
		d := p.cfg.Authority.Refuse(req, reason)
		refuseWith(w, r, d, cmp.Or(statusOver(req.Limit), statusOf(d.Reason)))
		return
	}
	begun := p.live.changes.Load()
	d := p.cfg.Authority.Authorize(req)
	if !d.Allowed() {
		refuse(w, r, d)
		return
	}
	x := &exchange{p: p, w: w, r: r, q: req, d: d}
	x.forward(begun)
}
