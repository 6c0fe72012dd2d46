package retrial

import (
	"slices"

	"scupper.dev/scupper/capability"
)

// answer is what is known of a question.
type answer int8

const (
	no answer = iota
	maybe
	yes
)

// Missing names a part of a request that a decision depends on and that is not on record.
type Missing string

// The parts.
const (
	QueryValues Missing = "masked query values"
	QueryRest   Missing = "query parameters after the 64th"
	HeaderValue Missing = "header values"
	Credentials Missing = "whether the request carried a credential"
	Held        Missing = "where in the request the placeholder stood"
	BodyContent Missing = "the content of the body"
	BodyLength  Missing = "the length of the body"
	WholePath   Missing = "the end of a long path"
	Address     Missing = "the address that the name led to"
	NameBehind  Missing = "the name behind the address"
	Arguments   Missing = "the arguments of the call"
	Times       Missing = "the times of repeated requests"
	Earlier     Missing = "how many earlier requests count against the limit"
	Lost        Missing = "records that were lost or dropped"
)

// finding is what the new policy says of one request.
type finding struct {
	answer  answer
	reason  capability.Reason // of a denial
	limit   string            // that is used up
	grant   *capability.Grant // that allows, or comes nearest; may be nil
	allow   *capability.Allow
	missing []Missing
	rank    int
}

func allowed(g *capability.Grant, a *capability.Allow) finding {
	return finding{answer: yes, reason: capability.Granted, grant: g, allow: a, rank: 9}
}

func denied(reason capability.Reason) finding { return finding{reason: reason} }

func depends(g *capability.Grant, on ...Missing) finding {
	return finding{answer: maybe, grant: g, missing: on}
}

// need lowers f: it holds only if what is missing fits.
func (f *finding) need(on Missing) {
	f.answer = maybe
	if !slices.Contains(f.missing, on) {
		f.missing = append(f.missing, on)
	}
}

// or is what two allow blocks say together: one that takes the request is enough.
func (f finding) or(o finding) finding {
	switch {
	case f.answer == yes:
		return f
	case o.answer > f.answer:
		return o
	case o.answer < f.answer:
		return f
	case f.answer == maybe:
		for _, m := range o.missing {
			f.need(m)
		}
	case o.rank > f.rank:
		return o
	}
	return f
}
