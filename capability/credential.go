package capability

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strings"
)

// CredentialMode says which credential a request under a grant carries.
type CredentialMode string

// The modes of a grant's credential.
const (
	Anonymous CredentialMode = "anonymous"  // none: one in any known place is refused
	Bound     CredentialMode = "credential" // that of a credential block: the sandbox has its placeholder at most
	Pinned    CredentialMode = "pinned"     // one that the sandbox brings, known by its hash
	HandedOut CredentialMode = "issued"     // those that answers of this run have handed out for the host
)

// Credential is the credential a grant binds. The zero Credential admits nothing.
type Credential struct {
	Mode  CredentialMode
	Name  string            // Bound: of the credential block
	Place Place             // Bound: where the secret goes
	Pin   [sha256.Size]byte // Pinned: SHA-256 of the credential, or of user:password
	Strip bool              // a foreign credential is left out instead of refused

	placeholder string
}

// Where names the parts of a request in which credentials ride.
type Where string

// The parts of a request.
const (
	InHeader  Where = "header"
	InBasic   Where = "basic" // Authorization, as RFC 7617 has it
	InQuery   Where = "query"
	InCookie  Where = "cookie"
	InTrailer Where = "trailer"
	InPath    Where = "path"
)

// Place is where in a request a credential goes.
type Place struct {
	In            Where
	Name          string // of the header, in canonical MIME form, of the parameter, of the cookie
	Before, After string // what stands around the secret in a header
	User          string // the user of Basic authentication
	Also          string // a header, in canonical MIME form, in which the placeholder may stand as well; nothing is sent there
}

// String is the place in words.
func (p Place) String() string {
	if p.In == InBasic {
		return "Basic authentication"
	}
	return string(p.In) + " " + p.Name
}

// Header is the name of the header that the place is in, empty for a query.
func (p Place) Header() string {
	switch p.In {
	case InHeader:
		return p.Name
	case InBasic:
		return "Authorization"
	case InCookie:
		return "Cookie"
	}
	return ""
}

// String is the credential as policies write it.
func (c Credential) String() string {
	switch c.Mode {
	case Bound:
		return "credential." + c.Name
	case Pinned:
		return fmt.Sprintf("pinned(\"sha256:%s\")", hex.EncodeToString(c.Pin[:]))
	}
	return string(c.Mode)
}

// judge reports whether the credentials that r carries may go out under c.
// placeholders are those of the run, of all its credentials.
func (c *Credential) judge(r *Request, placeholders []string) Reason {
	switch c.Mode {
	case Anonymous, Bound, Pinned, HandedOut:
	default:
		return ForeignCredential
	}
	j := judgement{c: c, r: r, placeholders: placeholders}
	for name, values := range r.Header {
		j.header(name, values)
	}
	for i := range r.Query {
		j.parameter(i)
	}
	for _, name := range r.Trailer {
		j.foreign = j.foreign || c.InTrailer(name)
	}
	for i := range r.Path.Len() {
		j.segment(r.Path.Segment(i))
	}
	switch {
	case j.foreign:
		return ForeignCredential
	case j.misplaced:
		return PlaceholderMisplaced
	}
	return Granted
}

// judgement is what one look at a request finds.
type judgement struct {
	c                  *Credential
	r                  *Request
	placeholders       []string
	foreign, misplaced bool
}

func (j *judgement) header(name string, values []string) {
	switch {
	case len(values) == 0:
	case j.c.ownsHeader(name):
		if !j.c.Strip && (len(values) != 1 || !j.c.holds(values[0])) {
			j.refuse(values)
		}
	case isCredentialHeader(name):
		if !j.c.Strip && !j.c.brought(j.r, name, values) {
			j.refuse(values)
		}
	default:
		j.elsewhere(name)
		for _, v := range values {
			j.protocol(name, v)
			j.elsewhere(v)
			if !j.c.Strip && j.key(v) && !j.c.brought(j.r, name, values) {
				j.foreign = true
			}
		}
	}
}

// protocol finds keys where browsers put them for want of a header.
func (j *judgement) protocol(name, value string) {
	if name == "Sec-Websocket-Protocol" && carriesKey(value) && !j.c.Strip {
		j.refuse([]string{value})
	}
}

func (j *judgement) parameter(i int) {
	p := &j.r.Query[i]
	switch {
	case j.c.ownsParameter(p.Name):
		if !j.c.Strip && (p.Value != j.c.placeholder || p.Value == "" || j.r.Query.repeats(i)) {
			j.refuse([]string{p.Value})
		}
	case isCredentialParameter(p.Name):
		if !j.c.Strip && !j.c.broughtParameter(j.r, i) {
			j.refuse([]string{p.Value})
		}
	default:
		j.elsewhere(p.Name)
		j.elsewhere(p.Value)
		if (j.key(p.Name) || j.key(p.Value)) && !j.c.broughtParameter(j.r, i) {
			j.foreign = true
		}
	}
}

// key reports whether there is somebody's key in s.
func (j *judgement) key(s string) bool { return keyIn(s) != "" && !holdsAny(s, j.placeholders) }

// repeats reports whether an earlier parameter has the name of the one at i.
func (q Query) repeats(i int) bool {
	for k := range i {
		if q[k].Name == q[i].Name {
			return true
		}
	}
	return false
}

// refuse tells placeholders that stand in the wrong place from credentials of others.
func (j *judgement) refuse(values []string) {
	for _, v := range values {
		if !j.onlyPlaceholder(v) {
			j.foreign = true
			return
		}
	}
	j.misplaced = true
}

func (j *judgement) onlyPlaceholder(value string) bool {
	for _, p := range j.placeholders {
		if holdsOnly(value, p, "", "") {
			return true
		}
	}
	return false
}

// segment finds keys where some services have them in the path. They cannot be left out,
// and neither can those in parameters of any name.
func (j *judgement) segment(s string) {
	j.elsewhere(s)
	if looksLikeKey(s) && !holdsAny(s, j.placeholders) {
		j.foreign = true
	}
}

// elsewhere looks for placeholders where no credential belongs.
func (j *judgement) elsewhere(s string) {
	if holdsAny(s, j.placeholders) {
		j.misplaced = true
	}
}

// InTrailer reports whether a credential rides in the trailer field with that name.
// None is admitted there.
func (c *Credential) InTrailer(name string) bool {
	name = hyphened(name)
	return isCredentialHeader(name) || name == "Sec-Websocket-Protocol" || name != "" && (name == c.Place.Header() || name == c.Place.Also)
}

// InParameter reports whether a credential rides in the parameter with that name.
func (c *Credential) InParameter(name string) bool {
	return c.ownsParameter(name) || isCredentialParameter(name)
}

// ownsHeader reports whether the header with that name is the credential's business.
func (c *Credential) ownsHeader(name string) bool {
	if c.Mode != Bound {
		return false
	}
	name = hyphened(name)
	return name == c.Place.Header() || name == c.Place.Also
}

// ownsParameter: origins differ in whether the case of a name counts.
func (c *Credential) ownsParameter(name string) bool {
	return c.Mode == Bound && c.Place.In == InQuery && namesParameter(name, strings.ToLower(c.Place.Name))
}

// holds reports whether value is the placeholder of c in one of the forms that clients
// make of it. What goes upstream is written anew in any case.
func (c *Credential) holds(value string) bool {
	if c.placeholder == "" {
		return false
	}
	if c.Place.In == InCookie {
		return value == c.Place.Name+"="+c.placeholder
	}
	return holdsOnly(value, c.placeholder, c.Place.Before, c.Place.After)
}

// isPinned compares hashes in constant time.
func (c *Credential) isPinned(value string) bool {
	sum := sha256.Sum256([]byte(value))
	return subtle.ConstantTimeCompare(sum[:], c.Pin[:]) == 1
}

// rest is the query of r without the parameters that are the credential's business: the
// secret's own, those that the sandbox brings, foreign ones that are left out.
func (c *Credential) rest(r *Request) Query {
	if c.Mode == Anonymous && !c.Strip {
		return r.Query
	}
	var out Query
	for i := range r.Query {
		if name := r.Query[i].Name; !c.ownsParameter(name) && !isCredentialParameter(name) && !c.broughtParameter(r, i) {
			out = append(out, r.Query[i])
		}
	}
	return out
}

// passing are the parameters of r that the sandbox brings and that go out.
func (c *Credential) passing(r *Request) (out Query) {
	for i := range r.Query {
		if c.broughtParameter(r, i) {
			out = append(out, r.Query[i])
		}
	}
	return out
}
