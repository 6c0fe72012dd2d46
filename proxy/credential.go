package proxy

import (
	"context"
	"net/http"

	"scupper.dev/scupper/capability"
)

// Credentials have the secrets that grants bind.
type Credentials interface {
	// Present writes the secret of c into up, at its place and nowhere else. It may
	// block while the secret is renewed, and leaves up alone when it fails. Its errors
	// hold no secret.
	Present(ctx context.Context, c capability.Credential, up *http.Request) error
}

// present puts the secret of the grant into a request that goes upstream. It is the
// last step before sending: nothing that counts, records or fails sees the secret.
func (x *exchange) present(up *http.Request) bool {
	c := x.d.Grant.Credential
	if c.Mode != capability.Bound {
		return true
	}
	f := denied(capability.CredentialUnavailable)
	if x.p.cfg.Credentials == nil || x.p.cfg.Redactor == nil || x.q.Scheme != capability.HTTPS {
		x.fail(*f)
		return false
	}
	if f.cause = x.p.cfg.Credentials.Present(x.r.Context(), c, up); f.cause != nil {
		x.fail(*f)
		return false
	}
	return true
}
