package retrial

import (
	"strings"
	"unicode/utf8"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// Caps of the log: what reaches them may have been cut.
const (
	masked     = "…"
	pathCap    = 2 << 10
	nameCap    = 128
	parameters = 64
	foreign    = 8
)

// request is a recorded request, and what is known of the parts that are not on record.
type request struct {
	*audit.Record
	path       capability.Path
	cut        bool       // the path goes on
	keyed      bool       // a segment of the path was a key
	permitted  bool       // it was allowed
	allow      *before    // that it kept to; nil: not known
	nearest    *before    // of a refusal, the block that came nearest; nil: not known
	under      *oldPolicy // that judged it; nil: its text does not load
	times      int64      // how often it was asked
	reasonThen capability.Reason
}

// before is an allow block of the policy that judged, and its grant.
type before struct {
	grant *capability.Grant
	allow *capability.Allow
}

func (r *request) readPath() {
	text := r.Path
	if strings.HasSuffix(text, masked) && len(text) >= pathCap-utf8.UTFMax {
		r.cut = true
		return
	}
	if strings.Contains(text, masked) {
		r.keyed = true
		text = strings.ReplaceAll(text, masked, "key")
	}
	r.path, _ = capability.ParsePath(text)
}

// value is that of a parameter, where it is on record.
func (r *request) value(p audit.Parameter) (text string, length int, known bool) {
	anonymous := capability.Credential{Mode: capability.Anonymous}
	switch {
	case p.Value != masked && len(p.Value) == p.Length:
		return p.Value, p.Length, true
	case p.Length > 0:
		return "", p.Length, false
	case anonymous.InParameter(p.Name) || r.bindsParameter(p.Name):
		return "", anyLength, false // the length of a credential is not on record
	}
	return "", 0, p.Value == masked
}

// bindsParameter reports whether the length of that parameter may have been kept back,
// because the grant that judged bound a credential to it.
func (r *request) bindsParameter(name string) bool {
	if r.under == nil {
		return true
	}
	for _, g := range r.under.file.Policy.Grants() {
		if g.Credential.InParameter(name) {
			return true
		}
	}
	return false
}

func cutName(p audit.Parameter) bool {
	return len(p.Name) >= nameCap && strings.HasSuffix(p.Name, masked)
}

// plain is the request as far as it is on record, for decisions that need no more.
func (r *request) plain() *capability.Request {
	return &capability.Request{
		Time: r.Time, Kind: capability.Kind(r.Kind), Host: capability.Host(r.Host), Port: r.Port, Scheme: capability.Scheme(r.Scheme),
		Method: r.Method, Path: r.path,
	}
}
