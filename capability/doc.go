// Package capability says what a sandbox may do: the vocabulary (Request, Grant,
// Policy, Decision, Reason, Outcome), the canonical forms in which requests are
// judged, and the judging itself.
//
// A policy is a set of grants. A request that no grant covers is denied; there are
// no deny rules and no precedence. Deciding is pure: it reads the policy and the
// request, takes the time from the request, and does nothing else.
//
//	path, err := capability.ParsePath("/repos/acme/%61pp/issues")
//	req := &capability.Request{
//		Time: now, Kind: capability.KindHTTP, Host: "api.example.com", Port: 443,
//		Scheme: capability.HTTPS, Method: "GET", Path: path,
//	}
//	d := policy.Decide(req)
//	if d.Allowed() {
//		send(d.Target(req)) // "/repos/acme/app/issues": rendered from the template
//	}
//
// Guarantees: the zero Decision and the zero Policy deny. Only this package can make
// an allowing Decision. What is sent upstream is rendered from the template of the
// grant that allowed it, so the client's spelling never survives. Decide does not
// allocate when it allows, and its cost does not depend on the number of grants.
//
// Non-guarantees: nothing here counts (limits are carried, not enforced), resolves
// names or looks at bodies beyond their declared type and length.
package capability
