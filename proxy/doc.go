// Package proxy enforces a policy on HTTP. It takes connections in two ways, caught
// on their way to an address (transparent) or sent to it as to a proxy (explicit),
// and treats both alike from there on: end TLS, identify the request, have it
// authorised, refuse it or forward it, report the outcome. One file per step:
//
//	transparent.go, explicit.go   accept
//	admit.go, tls.go              tell TLS from HTTP, end TLS
//	framing.go, frames.go         find what has two readings, before net/http forgives
//	                              (HTTP/1) or resets (HTTP/2) it without a word
//	identify.go                   request -> capability.Request, or malformed
//	handle.go                     authorise
//	refuse.go or forward.go       answer; upstream.go dials, body.go streams,
//	                              inspect.go rewrites
//	websocket.go, frame_relay.go  the same for WebSocket: handshake, frames
//	credential.go                 put a secret in, as the last step
//	redact.go, frame_redact.go    take it out of what comes back
//	live.go                       end what a new policy no longer grants
//	finish.go                     outcome
//
// Use it with an Authority that decides and records:
//
//	ca, err := proxy.NewCA(time.Now())
//	p, err := proxy.New(proxy.Config{Authority: guard, Names: leases, Policy: current, CA: ca})
//	go p.ServeTransparent(ctx, caught)
//	go p.ServeExplicit(ctx, loopback)
//
// Guarantees: nothing is resolved, dialled or sent for a request that was not allowed
// before. There is no raw tunnel: what follows a CONNECT is TLS that ends here, or
// HTTP, and every request in it is judged alone. The request that goes upstream is
// written from the judged form. Every address is checked and dialled as a literal;
// upstream certificates are always verified. Bodies stream in bounded memory. A request
// that carries a secret of the run is sent only where what comes back can be searched
// for it: header, body, trailer, messages.
//
// Non-guarantees: what an allowed body contains is looked at only where its grant has an
// inspector; then it is held whole, up to the grant's maximum. HTTP/2 streams over the
// limit of open ones are refused by net/http without a record: the client may send them
// again (RFC 9113 section 8.7).
// Upgrades other than a granted WebSocket are refused; of a WebSocket the form of frames
// is judged, and not what messages say.
package proxy
