package capability

// Reason is why a Decision came out as it did. The list is closed: enforcers, the
// audit log and problem documents use these words and no others.
type Reason string

// Reasons of an allowing Decision.
const (
	Granted Reason = "granted" // a grant covers the request
)

// Reasons of a denying Decision, in the order in which a request is judged.
const (
	Undecided             Reason = ""                       // the zero Decision: nobody has decided
	MalformedHost         Reason = "malformed_host"         // not a canonical host name or IP literal
	MalformedPath         Reason = "malformed_path"         // a path with more than one reading
	MalformedQuery        Reason = "malformed_query"        // a query that cannot be fully parsed
	MalformedRequest      Reason = "malformed_request"      // framing or syntax with more than one reading
	MalformedName         Reason = "malformed_name"         // a DNS message that is not one plain question
	AuthorityMismatch     Reason = "authority_mismatch"     // CONNECT, SNI, Host or absolute form disagree
	NotTLS                Reason = "not_tls"                // bytes that are not TLS where TLS is granted
	TLSFailed             Reason = "tls_failed"             // the client ended the handshake or offered nothing we accept
	NoGrant               Reason = "no_grant"               // no grant names this host
	AddressNotGranted     Reason = "address_not_granted"    // an address that no name was leased for, and no grant names
	PortNotGranted        Reason = "port_not_granted"       // the host is granted, this port is not
	ProtocolNotGranted    Reason = "protocol_not_granted"   // UDP, ICMP, cleartext on a TLS port, an upgrade ...
	PathNotGranted        Reason = "path_not_granted"       // no template matches
	MethodNotGranted      Reason = "method_not_granted"     // the path is granted, this method is not
	MethodOverride        Reason = "method_override"        // a header or parameter that asks the origin for another method
	QueryNotGranted       Reason = "query_not_granted"      // an undeclared, repeated, missing or mismatching parameter
	HeaderNotGranted      Reason = "header_not_granted"     // a listed header with a value outside its pattern
	BodyNotGranted        Reason = "body_not_granted"       // a body where none is declared, or of another type or coding
	BodyTooLarge          Reason = "body_too_large"         // a body over its declared maximum
	ForeignCredential     Reason = "foreign_credential"     // a credential that the grant does not bind
	PlaceholderMisplaced  Reason = "placeholder_misplaced"  // the placeholder of a credential anywhere but at its place under a grant that binds it
	CredentialUnavailable Reason = "credential_unavailable" // the secret could not be had
	TooSlow               Reason = "too_slow"               // a request that came more slowly than its limits permit
	ToolUnknown           Reason = "tool_unknown"           // no tool of the registry has this name
	ToolNotGranted        Reason = "tool_not_granted"       // the caller's role does not list the tool
	ToolDisabled          Reason = "tool_disabled"          // the policy disables it
	ToolQuarantined       Reason = "tool_quarantined"       // it is not as it was when it was accepted
	CallerUnknown         Reason = "caller_unknown"         // no token, or one that the policy does not have
	ArgumentsInvalid      Reason = "arguments_invalid"      // they do not fit the tool's schema
	CallKeyReused         Reason = "call_key_reused"        // the same call key for another call
	ApprovalPending       Reason = "approval_pending"       // nobody has approved the call
	GrantExpired          Reason = "grant_expired"          // the grant's expiry has passed
	LimitExceeded         Reason = "limit_exceeded"         // a limit of the grant is used up
	NetworkNotGranted     Reason = "network_not_granted"    // the name resolves to a range that `networks` does not cover
	MetadataAddress       Reason = "metadata_address"       // a cloud metadata address: never, whatever the policy
	OwnListener           Reason = "own_listener"           // one of scupper's own sockets
	AuditUnavailable      Reason = "audit_unavailable"      // the record could not be written
	RecordBudget          Reason = "record_budget"          // the run has spent its audit records
	RunEnded              Reason = "run_ended"              // the run is being destroyed
)

// Malformed reports whether r is about the form of a request rather than about what
// it asks for. HTTP answers these with 400 and closes the connection.
func (r Reason) Malformed() bool {
	switch r {
	case MalformedHost, MalformedPath, MalformedQuery, MalformedRequest, MalformedName, NotTLS, TLSFailed:
		return true
	}
	return false
}

// Sentence says in one sentence what an agent can do about r. It never contains
// anything of the request or of the policy.
func (r Reason) Sentence() string {
	if s, ok := sentences[r]; ok {
		return s
	}
	return "not granted; do not retry"
}

var sentences = map[Reason]string{
	Granted:               "granted",
	MalformedHost:         "the host name is not in canonical form; send a plain name",
	MalformedPath:         "the path has more than one reading; send it without dot segments, doubled or encoded slashes",
	MalformedQuery:        "the query cannot be parsed without doubt; send each parameter once as name=value",
	MalformedRequest:      "the request has more than one reading; use an ordinary HTTP client",
	MalformedName:         "the DNS message is not one plain question",
	AuthorityMismatch:     "the host in the request, in TLS and in the connection differ; use one name",
	NotTLS:                "this port is granted for TLS only",
	TLSFailed:             "the TLS handshake did not complete",
	NoGrant:               "no grant names this host; do not retry",
	AddressNotGranted:     "addresses are not granted, names are; connect by name",
	PortNotGranted:        "this port of the host is not granted; do not retry",
	ProtocolNotGranted:    "this protocol is not granted; do not retry",
	PathNotGranted:        "this path is not granted; do not retry",
	MethodNotGranted:      "this method is not granted on this path; do not retry",
	MethodOverride:        "headers and parameters that ask for another method are refused; use the method itself",
	QueryNotGranted:       "these query parameters are not granted; do not retry with them",
	HeaderNotGranted:      "a header has a value that is not granted; do not retry with it",
	BodyNotGranted:        "this request body is not granted; do not retry with it",
	BodyTooLarge:          "the request body is over the granted size",
	ForeignCredential:     "the request carries a credential that is not granted; do not retry with it",
	PlaceholderMisplaced:  "a placeholder works only where the policy puts its credential; do not retry with it",
	CredentialUnavailable: "the credential cannot be had at the moment, and nothing was sent; try later, or ask the operator",
	TooSlow:               "the request came too slowly; send it without pauses",
	ToolUnknown:           "no such tool",
	ToolNotGranted:        "no such tool",
	ToolDisabled:          "no such tool",
	ToolQuarantined:       "no such tool",
	CallerUnknown:         "the token is not one that the policy has",
	ArgumentsInvalid:      "the arguments do not fit the tool's schema; correct them",
	CallKeyReused:         "the call key belongs to another call; use a new one",
	ApprovalPending:       "the call needs an approval that nobody has given; do not retry",
	GrantExpired:          "the grant has expired; ask the operator to renew it",
	LimitExceeded:         "a limit of the grant is used up; do not retry in this run",
	NetworkNotGranted:     "the name leads to a network that is not granted; do not retry",
	MetadataAddress:       "metadata services are never granted; do not retry",
	OwnListener:           "scupper's own listeners are never reachable; do not retry",
	AuditUnavailable:      "the audit log cannot be written, so nothing is allowed; ask the operator",
	RecordBudget:          "the run has spent its audit records and ends",
	RunEnded:              "the run is ending",
}
