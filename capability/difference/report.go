package difference

import (
	"scupper.dev/scupper/capability"
)

// Report is what two policies do not have in common.
type Report struct {
	Old      string    `json:"old"` // the names of the files
	New      string    `json:"new"`
	Widened  bool      `json:"widened"` // something is permitted that was not, or may be
	Wider    []Set     `json:"newly_permitted"`
	Narrower []Set     `json:"no_longer_permitted"`
	Limits   []Change  `json:"changed_limits"`
	Settings []Setting `json:"changed_settings"`

	more, less []box // all pieces of the whole policies, those that differ in time only too
}

// Set is what one policy permits in an allow block and the other does not.
type Set struct {
	Role     string   `json:"role,omitempty"` // in which it is so; empty: in the whole policy
	Grant    string   `json:"grant"`
	Place    string   `json:"place"`             // file:line of the allow block, or of the use of a preset
	Preset   string   `json:"preset,omitempty"`  // file:line in the preset
	Nearest  string   `json:"nearest,omitempty"` // file:line of what comes nearest in the other policy
	Methods  []string `json:"methods"`
	URL      string   `json:"url"`     // with the path template
	Conveys  []string `json:"conveys"` // what else the allow block says
	Terms    []string `json:"terms"`   // and the grant
	Pieces   []Piece  `json:"pieces"`
	position capability.Position
}

// Piece is a part of a Set: what it is narrowed to, and a request that proves it.
type Piece struct {
	Only      []string `json:"only"`    // "method DELETE"; empty: all of the allow block
	Certain   bool     `json:"certain"` // false: the comparison was not exact, the set may be permitted by both
	Example   *Example `json:"example,omitempty"`
	unproven  string
	dimension []string
}

// Example is a request that one policy allows and the other does not.
type Example struct {
	Role      string            `json:"role,omitempty"`
	Tool      string            `json:"tool,omitempty"`
	Method    string            `json:"method,omitempty"`
	URL       string            `json:"url,omitempty"`
	Header    map[string]string `json:"header,omitempty"`
	Body      string            `json:"body,omitempty"`
	Time      string            `json:"time,omitempty"`
	Address   string            `json:"address,omitempty"` // that the host leads to
	WebSocket bool              `json:"websocket,omitempty"`
	Issues    string            `json:"issues,omitempty"`
	Here      string            `json:"here"`  // the reason of the policy that allows it
	There     string            `json:"there"` // the reason of the other
	probe     probe
}

// Change is a limit or an expiry of a grant.
type Change struct {
	Role    string   `json:"role,omitempty"`
	Grant   string   `json:"grant"`
	What    string   `json:"what"`
	Old     string   `json:"old"`
	New     string   `json:"new"`
	Wider   bool     `json:"wider"`
	Places  []string `json:"places"` // old, then new
	Note    string   `json:"note,omitempty"`
	Example *Example `json:"example,omitempty"`
}

// Setting is a setting beside the grants.
type Setting struct {
	What    string   `json:"what"`
	Old     string   `json:"old"`
	New     string   `json:"new"`
	Wider   bool     `json:"wider"`
	Note    string   `json:"note,omitempty"`
	Example *Example `json:"example,omitempty"`
}

// Equal reports whether nothing differs.
func (r *Report) Equal() bool {
	return len(r.Wider)+len(r.Narrower)+len(r.Limits)+len(r.Settings) == 0
}
