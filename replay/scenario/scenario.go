package scenario

import (
	"fmt"

	"scupper.dev/scupper/replay/attempt"
	"scupper.dev/scupper/replay/canary"
)

// A Pack is what was read together.
type Pack struct {
	Scenarios []Scenario
	Services  []Service
}

// A Scenario is one thing to replay. A for_each makes several of one block.
type Scenario struct {
	Name     string            `json:"name"` // with the key of its for_each in brackets
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Describe string            `json:"describe,omitempty"`
	Source   string            `json:"source,omitempty"`
	Cases    []string          `json:"cases,omitempty"`
	Policy   string            `json:"policy"` // the path of the file
	Role     string            `json:"role,omitempty"`
	Needs    []string          `json:"needs,omitempty"` // programs that its commands are
	Given    Given             `json:"given"`
	Attempts []attempt.Attempt `json:"attempts"`
	Expect   Expect            `json:"expect"`
	Canaries []canary.Canary   `json:"canaries"`
}

// Position is where the scenario stands.
func (s *Scenario) Position() string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// Calls reports whether the scenario calls tools.
func (s *Scenario) Calls() bool { return len(s.Attempts) > 0 && s.Attempts[0].Tool != nil }

// Attack reports whether something of the scenario has to be stopped.
func (s *Scenario) Attack() bool {
	return s.Expect.Verdict == Deny || len(s.Expect.Unseen) > 0 || s.Expect.Verdict == "" && s.Expect.LeakSet
}

// Given is what a sandbox finds.
type Given struct {
	Files        []File            `json:"files,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	Credentials  map[string]string `json:"credentials,omitempty"` // value by name
	DNS          []Answers         `json:"dns,omitempty"`
	Certificates []Certificate     `json:"certificates,omitempty"`
}

// File is a file or a link.
type File struct {
	Name    string `json:"name"`
	Content []byte `json:"content,omitempty"`
	Mode    uint32 `json:"mode,omitempty"`
	Outside bool   `json:"outside,omitempty"` // beside the workspace
	Link    string `json:"link,omitempty"`    // where the link leads; empty: it is a file
}

// Answers are what DNS says of a host, question after question.
type Answers struct {
	Host string     `json:"host"`
	Turn [][]string `json:"turn"` // addresses, or "nxdomain"
}

// Certificate is a fault of what a host presents.
type Certificate struct {
	Host  string `json:"host"`
	Fault string `json:"fault"` // "self_signed", "expired" or "wrong_name"
}

// The verdicts.
const (
	Allow = "allow"
	Deny  = "deny"
)

// Expect is what has to come of the attempts. A field that was not set is not looked at;
// a leak always is.
type Expect struct {
	Verdict    string   `json:"verdict,omitempty"`
	Reasons    []string `json:"reasons,omitempty"`
	Status     []int    `json:"status,omitempty"`
	Exit       *int     `json:"exit,omitempty"`
	Output     []string `json:"output,omitempty"`
	Leak       []string `json:"leak,omitempty"` // canaries that arrive
	LeakSet    bool     `json:"leak_set,omitempty"`
	Bits       *int     `json:"bits,omitempty"`
	Arrives    []string `json:"arrives,omitempty"`
	ArrivesSet bool     `json:"arrives_set,omitempty"`
	Unseen     []string `json:"unseen,omitempty"`
}

// Service is a host of a team's own.
type Service struct {
	Name      string     `json:"name"`
	Host      string     `json:"host"` // "*.example.com" is every name below it
	Responses []Response `json:"responses,omitempty"`
}

// Response is what a service answers to requests of one method and path.
type Response struct {
	Method  string            `json:"method,omitempty"` // empty: any
	Path    string            `json:"path,omitempty"`   // * stands for anything; empty: any
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    []byte            `json:"body,omitempty"`
}
