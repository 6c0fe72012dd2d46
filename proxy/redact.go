package proxy

import (
	"net/http"

	"scupper.dev/scupper/capability"
)

// Redactor hides the run's secrets in what comes back. Its methods may be called
// concurrently.
type Redactor interface {
	// Ask makes the header of a request ask only for what Response can read.
	Ask(h http.Header)
	// Response hides secrets in the header of resp and in its body as it will be read.
	// It may block for the first bytes. After an error nothing of resp may be passed
	// on; the caller closes the body in any case.
	Response(resp *http.Response) error
	// Header hides secrets in a trailer.
	Header(h http.Header)
	// Messages hides secrets in messages that follow each other. pass takes a piece of
	// one, into which it may write, and returns what can be passed on; end returns the
	// rest of the message. What they return is valid until the next call.
	Messages() (pass func(piece []byte) []byte, end func() []byte)
}

// redactor is nil for exchanges in which there is no secret.
func (x *exchange) redactor() Redactor {
	if x.d.Grant.Credential.Mode != capability.Bound {
		return nil
	}
	return x.p.cfg.Redactor
}

// ask leaves out of the request what would make the answer unreadable.
func (x *exchange) ask(h http.Header) {
	if r := x.redactor(); r != nil {
		r.Ask(h)
	}
}

// redact takes the secret out of the answer. False: the exchange has failed.
func (x *exchange) redact(resp *http.Response) bool {
	r := x.redactor()
	if r == nil {
		return true
	}
	err := r.Response(resp)
	if err == nil {
		return true
	}
	f := x.classify(err)
	if f.kind == errUpstreamBroken {
		f.kind = errUpstreamCoding
	}
	x.fail(f)
	return false
}

// trailer is what the client may see of a trailer that is complete.
func (x *exchange) trailer(h http.Header) {
	strip(h)
	for _, name := range framing {
		delete(h, name)
	}
	if r := x.redactor(); r != nil {
		r.Header(h)
	}
}
