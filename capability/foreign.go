package capability

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Foreign is a credential that a request carried and that its grant does not bind.
// Nothing of the credential is in it but a fingerprint, which means nothing to whoever
// does not have the key.
type Foreign struct {
	In          Where
	Name        string // of the header, parameter or trailer
	Fingerprint string // the first 64 bits of an HMAC, in hexadecimal; empty where there is no value
}

// maxForeign bounds what one request brings into its record.
const maxForeign = 8

// Foreign lists the foreign credentials of r under the grant that d names, for the
// record. A placeholder of the run is none.
func (p *Policy) Foreign(r *Request, d Decision, key []byte) []Foreign {
	c := Credential{Mode: Anonymous}
	if d.Grant != nil {
		c = d.Grant.Credential
	}
	j := judgement{c: &c, r: r, placeholders: p.spelt}
	var out []Foreign
	note := func(in Where, name, value string) {
		out = append(out, Foreign{in, name, fingerprint(value, key)})
	}
	for name, values := range r.Header {
		own := c.ownsHeader(name)
		for _, v := range values {
			websocket := name == "Sec-Websocket-Protocol" && carriesKey(v)
			admitted := own && c.holds(v) || c.brought(r, name, []string{v}) || j.onlyPlaceholder(v)
			switch {
			case admitted:
			case own || websocket || isCredentialHeader(name):
				note(InHeader, name, bareToken(v))
			case j.key(v):
				note(InHeader, name, keyIn(v))
			}
		}
	}
	for i, q := range r.Query {
		admitted := c.broughtParameter(r, i) || slices.Contains(p.spelt, q.Value)
		switch {
		case admitted:
		case c.ownsParameter(q.Name) || isCredentialParameter(q.Name):
			note(InQuery, q.Name, q.Value)
		case j.key(q.Name): // the name is on record, so it must not be the key
			note(InQuery, "", keyIn(q.Name))
		case j.key(q.Value):
			note(InQuery, q.Name, keyIn(q.Value))
		}
	}
	for i := range r.Path.Len() {
		if s := r.Path.Segment(i); looksLikeKey(s) && !holdsAny(s, p.spelt) {
			note(InPath, fmt.Sprintf("segment %d", i+1), s)
		}
	}
	for _, name := range r.Trailer {
		if c.InTrailer(name) {
			note(InTrailer, name, "")
		}
	}
	slices.SortFunc(out, func(a, b Foreign) int { return compareForeign(a, b) })
	return out[:min(len(out), maxForeign)]
}

// Holds reports whether a placeholder of the run is in the head of r, wherever it stands.
func (p *Policy) Holds(r *Request) bool {
	if len(p.spelt) == 0 {
		return false
	}
	j := judgement{c: new(Credential), r: r, placeholders: p.spelt}
	held := func(s string) bool { return holdsAny(s, p.spelt) || j.onlyPlaceholder(s) }
	for name, values := range r.Header {
		if held(name) || slices.ContainsFunc(values, held) {
			return true
		}
	}
	for _, q := range r.Query {
		if held(q.Name) || held(q.Value) {
			return true
		}
	}
	return holdsAny(r.Path.decoded, p.spelt)
}

func compareForeign(a, b Foreign) int {
	switch as, bs := string(a.In)+a.Name+a.Fingerprint, string(b.In)+b.Name+b.Fingerprint; {
	case as < bs:
		return -1
	case as > bs:
		return 1
	}
	return 0
}

func fingerprint(value string, key []byte) string {
	if value == "" || len(key) == 0 {
		return ""
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(value))
	return hex.EncodeToString(h.Sum(nil)[:8])
}
