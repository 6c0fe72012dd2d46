package capability

import (
	"slices"
	"strings"
)

// Issued tells which credentials the answers of this run have handed out. It may be
// called concurrently and must not block.
type Issued interface {
	// Holds reports whether an answer handed out this value for use at host to. The name
	// is that of the header, parameter or cookie, and empty for a token.
	Holds(to Host, in Where, name, value string) bool
}

// IssueRule says which credentials an answer hands out, and where they are good for.
// The zero IssueRule hands out none.
type IssueRule struct {
	Fields   []string // of a JSON answer, at any depth, whose value is a token
	Cookies  []string // names of cookies, for the host that sets them only
	Links    []string // fields whose value is a URL with a signed query; "location" is the header of a redirect
	Headers  []string // fields beside a link whose members are headers for it, as in git-lfs
	To       []Host   // where tokens and links lead; empty: the host that answered
	Position Position
}

// Leads reports whether what is handed out by host from may be used at host to.
func (r *IssueRule) Leads(from, to Host) bool {
	if len(r.To) == 0 {
		return from == to
	}
	return slices.Contains(r.To, to)
}

// Signed reports whether a parameter of q is a credential.
func (q Query) Signed() bool {
	return slices.ContainsFunc(q, func(p Parameter) bool { return isCredentialParameter(p.Name) })
}

// brought reports whether the sandbox may bring these values in the header with that
// name under c.
func (c *Credential) brought(r *Request, name string, values []string) bool {
	switch {
	case len(values) != 1:
		return false
	case c.Mode == Pinned:
		return c.isPinned(bareToken(values[0]))
	case c.Mode != HandedOut || r.Issued == nil:
		return false
	case name == "Cookie":
		return issuedCookies(r, values[0])
	}
	return isCredentialHeader(name) && r.Issued.Holds(r.Host, InHeader, "", bareToken(values[0])) || r.Issued.Holds(r.Host, InHeader, name, values[0])
}

// issuedCookies: each pair must be one that the host has set (RFC 6265 section 4.2.1).
func issuedCookies(r *Request, header string) bool {
	for pair := range strings.SplitSeq(header, ";") {
		name, value, ok := strings.Cut(strings.TrimPrefix(pair, " "), "=")
		if !ok || !r.Issued.Holds(r.Host, InCookie, name, value) {
			return false
		}
	}
	return true
}

// broughtParameter is brought for a parameter of the query.
func (c *Credential) broughtParameter(r *Request, i int) bool {
	p := &r.Query[i]
	switch {
	case r.Query.repeats(i):
		return false
	case c.Mode == Pinned:
		return isCredentialParameter(p.Name) && c.isPinned(p.Value)
	}
	return c.Mode == HandedOut && r.Issued != nil && r.Issued.Holds(r.Host, InQuery, p.Name, p.Value)
}
