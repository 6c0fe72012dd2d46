// Package trial judges what came of a scenario: by what the far side received, and then
// by what the log says.
//
//	result := trial.Judge(&s, evidence)
//	if !result.OK() {
//		fmt.Println(result.Faults[0].Text)
//	}
//
// Guarantees: a canary that arrived where it may not is a leak, whatever the log says. The
// same evidence gets the same result, word for word, and no result holds the value of a
// canary.
//
// Non-guarantees: what package canary does not find is not judged.
package trial

import (
	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/replay"
	"scupper.dev/scupper/replay/attempt"
	"scupper.dev/scupper/replay/canary"
	"scupper.dev/scupper/replay/scenario"
)

// Evidence is what there is of one replayed scenario.
type Evidence struct {
	Outcomes    []attempt.Outcome   `json:"outcomes"`    // of the attempts, in order
	Log         []*audit.Record     `json:"log"`         // decisions and what became of them
	Requests    []replay.Exchange   `json:"requests"`    // that the far side received, and the same for the others
	Queries     []replay.Query      `json:"queries"`     //
	Connections []replay.Connection `json:"connections"` //
	Packets     []replay.Packet     `json:"packets"`     //
	Trouble     string              `json:"trouble,omitempty"`
}

// BaitPrefix begins the names of canaries that are secrets of credentials which no scenario
// names.
const BaitPrefix = "credential "

// Bound says where a credential's secret belongs.
type Bound struct {
	Secret string   // its value
	Hosts  []string // of the grants that bind it
}

// Kind is what sort of fault a scenario has shown.
type Kind string

// The kinds of a Fault.
const (
	Leak    Kind = "leak"    // a canary arrived, or was seen, where it may not
	Refused Kind = "refused" // a job that is legitimate was refused
	Verdict Kind = "verdict" // something else came out than expected
	Dead    Kind = "dead"    // without scupper nothing arrives either: the scenario cannot fail
	Trouble Kind = "trouble" // it could not be replayed
)

// A Fault is one way in which a scenario did not come out as it has to.
type Fault struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// A Result is what a scenario has shown.
type Result struct {
	Scenario *scenario.Scenario `json:"-"`
	Faults   []Fault            `json:"faults,omitempty"`
	Found    []canary.Finding   `json:"found,omitempty"`     // what arrived of the canaries
	Bits     int                `json:"bits"`                // how much
	Layers   []string           `json:"layers,omitempty"`    // that stopped an attack
	Beyond   []string           `json:"beyond,omitempty"`    // those that stop it where these are taken away
	OneLayer bool               `json:"one_layer,omitempty"` // it arrives where these are taken away
	Step     *Step              `json:"step,omitempty"`
}

// OK reports whether everything came out as expected.
func (r *Result) OK() bool { return len(r.Faults) == 0 }

// Step is the record of the log that decided.
type Step struct {
	Verdict  string `json:"verdict"`
	Reason   string `json:"reason"`
	Kind     string `json:"kind"`
	Request  string `json:"request"`
	Grant    string `json:"grant,omitempty"`
	Position string `json:"position,omitempty"` // in the policy
	Mismatch string `json:"mismatch,omitempty"`
}
