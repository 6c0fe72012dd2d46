// Package aeb reads cases of the public agent-egress-bench form and judges each by a
// policy, so that corpora of others run unchanged.
//
//	cases, err := aeb.Read([]string{"cases"})
//	if err != nil {
//		return err // a file is no case, with its name
//	}
//	report := aeb.Judge(cases, policy, aeb.Own())
//	report.Text(os.Stdout)
//
// A case is a JSON document with id, input_type, transport, payload, requires and
// expected_verdict ("block" or "allow"), among others that are for readers. A case does
// not apply when the profile supports its transport or something that it requires not;
// it is then counted and named with the reason, and never as passed.
//
// Guarantees: what is judged is what the proxy would make of the request: one reading,
// every part of it granted, the body inspected. Nothing is sent.
//
// Non-guarantees: no name is resolved, so what depends on addresses does not apply. scupper
// looks for no secrets, it refuses what is not granted: whether a case comes out as
// expected depends on the policy, and a harmless case to a host that the policy does not
// name is blocked. The frames of a WebSocket are not judged, its handshake is.
package aeb
