package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"

	"scupper.dev/scupper/capability"
)

// What went wrong after an allow, as outcomes and 502 answers name it.
const (
	errUpstreamName        = "upstream_name"              // the name does not resolve
	errUpstreamUnreachable = "upstream_unreachable"       // no address answers
	errUpstreamCertificate = "upstream_certificate"       // the certificate does not verify; nothing was sent
	errUpstreamBroken      = "upstream_broken"            // the answer is not HTTP, or broke off
	errUpstreamCoding      = "upstream_coding"            // the answer cannot be searched for the secret
	errProxyUnreachable    = "upstream_proxy_unreachable" // the operator's own proxy does not answer
	errProxyCredential     = "upstream_proxy_credential"  // it wants another credential
	errProxyRefused        = "upstream_proxy_refused"     // it did not connect
	errClientGone          = "client_gone"                // the client went away
	errClosed              = "closed"                     // the connection ended before it was of use
)

var sentences = map[string]string{
	errUpstreamName:        "the name does not resolve; check it, or try later",
	errUpstreamUnreachable: "the host does not answer; try later",
	errUpstreamCertificate: "the host's certificate does not verify; nothing was sent",
	errUpstreamBroken:      "the host broke off or did not answer in HTTP; try later",
	errUpstreamCoding:      "the host answered in a coding that cannot be searched for secrets; ask it for gzip, or for none",
	errProxyUnreachable:    "the proxy that leads outside does not answer; ask the operator",
	errProxyCredential:     "the proxy that leads outside refused the operator's credential; ask the operator",
	errProxyRefused:        "the proxy that leads outside did not connect to the host; try later, or ask the operator",
	errClientGone:          "the client went away",
}

// failure is why an exchange did not complete. Where it has a reason it is a denial.
type failure struct {
	kind   string
	reason capability.Reason
	limit  string // that is exceeded
	cause  error
}

func (f *failure) Error() string {
	if f.cause == nil {
		return f.kind
	}
	return f.kind + ": " + f.cause.Error()
}

func (f *failure) Unwrap() error { return f.cause }

func denied(reason capability.Reason) *failure {
	return &failure{kind: string(reason), reason: reason}
}

// classify says what an error of the transport means.
func classify(err error) failure {
	var own *failure
	var cert *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.As(err, &own):
		return *own
	case errors.As(err, &cert):
		return failure{kind: errUpstreamCertificate, cause: err}
	case errors.Is(err, context.Canceled):
		return failure{kind: errClientGone, cause: err}
	case errors.As(err, &op) && op.Op == "dial":
		return failure{kind: errUpstreamUnreachable, cause: err}
	}
	return failure{kind: errUpstreamBroken, cause: err}
}

// clientFailure says what an error of reading the body of r means. net/http does not
// always pass on the error of the stream.
func clientFailure(r *http.Request, err error) failure {
	broke := false
	switch c := r.Context().Value(connKey{}).(type) {
	case *stream:
		broke = c.broke.Load()
	case *frames:
		broke = c.broke.Load()
	}
	if broke {
		return *denied(capability.MalformedRequest)
	}
	return failure{kind: errClientGone, cause: err}
}

// classify looks at the client, too: net/http cancels a request whose stream it resets.
func (x *exchange) classify(err error) failure {
	f := classify(err)
	if f.kind == errClientGone {
		return clientFailure(x.r, err)
	}
	return f
}

// fail notes f unless something went wrong before, and returns the first.
func (x *exchange) fail(f failure) failure {
	x.failed.CompareAndSwap(nil, &f)
	return *x.failed.Load()
}

// spend counts bytes; false: a limit is used up and the exchange fails.
func (x *exchange) spend(sent, received int64) bool {
	x.sent.Add(sent)
	x.received.Add(received)
	if x.p.cfg.Authority.Spend(x.d, sent, received) {
		return true
	}
	x.fail(*denied(capability.LimitExceeded))
	return false
}

// finish reports the outcome.
func (x *exchange) finish() {
	x.unpaced()
	x.p.held.Release(x.held)
	o := capability.Outcome{
		Status: x.status, Sent: x.sent.Load(), Received: x.received.Load(),
		Upstream: x.upstream, Stripped: x.stripped, Digest: x.body.digest(), Placeholder: x.body != nil && x.body.finder.found.Load(), Close: x.closed, Duration: x.p.cfg.Now().Sub(x.q.Time),
	}
	if f := x.failed.Load(); f != nil {
		o.Error = f.kind
	}
	x.p.cfg.Authority.Finish(x.d, o)
}
