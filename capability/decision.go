package capability

// A Decision is the answer to a Request. The zero Decision denies. Only this package
// can make one that allows; everyone else can copy it, refuse it or obey it.
type Decision struct {
	ID     string // assigned by whoever records it; names the record
	Reason Reason
	Grant  *Grant   // the grant that allowed, or the one that came nearest; may be nil
	Allow  *Allow   // the allow block, likewise
	Place  Position // of a tool call: the role, or the tool where that stands in the way

	allowed bool
}

// Allowed reports whether the request may go on.
func (d Decision) Allowed() bool { return d.allowed }

// Verdict is "allow" or "deny".
func (d Decision) Verdict() string {
	if d.allowed {
		return "allow"
	}
	return "deny"
}

// Deny makes a denying Decision.
func Deny(reason Reason) Decision { return Decision{Reason: reason} }

// Refused is d turned into a denial for another reason: a limit that is used up, a
// record that could not be written. The grant stays named.
func (d Decision) Refused(reason Reason) Decision {
	d.allowed, d.Reason = false, reason
	return d
}

// Target renders the path and query to send upstream: literals as the template has
// them, variables by one encoder, parameters in the order of the policy. It is empty
// for a Decision that does not allow r.
func (d Decision) Target(r *Request) string {
	if !d.allowed || d.Allow == nil {
		return ""
	}
	path, ok := d.Allow.Path.render(r.Path)
	if !ok {
		return ""
	}
	credential := &d.Grant.Credential
	if q := d.Allow.Query.render(credential.rest(r), credential.passing(r)); q != "" {
		return path + "?" + q
	}
	return path
}
