package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Version is the version of the record format. Readers ignore fields that they do not
// know; a change that breaks readers raises it.
const Version = 1

// Event says what a record is about.
type Event string

// The events of a run.
const (
	RunStarted    Event = "run_started"    // Record.Run says what runs under which policy
	Decided       Event = "decision"       // one request and its decision
	Repeated      Event = "repeated"       // Count more requests equal to that of Decision
	Ended         Event = "outcome"        // what happened after the allowing Decision
	Withdrawn     Event = "withdrawn"      // Decision was written too late: its request was denied
	Gap           Event = "gap"            // Count records could not be written
	BudgetSpent   Event = "budget_spent"   // no further request is decided in this run
	LimitReached  Event = "limit_reached"  // the command came up against a limit of the run
	PolicyChanged Event = "policy_changed" // Record.Change says from what to what, or that the old one stays
	RunEnded      Event = "run_ended"      // Record.Summary has the totals; it closes the log

	CredentialUsed Event = "credential_used" // the Bound credential went out for the first time in this run
	AnchorFailed   Event = "anchor_failed"   // a head could not be left at the place Anchor

	// Of the log itself; Record.Log says more.
	LogOpened       Event = "log_opened"       // a further segment
	LogTorn         Event = "log_torn"         // the writer was killed within a line, of which a part was cut off
	LogClosed       Event = "log_closed"       // the writer was killed; a later start ended its log
	SegmentsDropped Event = "segments_dropped" // the segments before this record were deleted
)

// Record is one line of the log. Which fields are set depends on the event; their
// order is the order in the line.
type Record struct {
	Version int       `json:"v"`
	Seq     int64     `json:"seq"`  // from 1, without gaps
	Time    time.Time `json:"time"` // UTC
	Mono    int64     `json:"mono"` // nanoseconds since the run's start, monotonic
	Event   Event     `json:"event"`

	ID       string `json:"id,omitempty"`       // of a decision: the run and the sequence number
	Decision string `json:"decision,omitempty"` // the ID that this record belongs to
	Count    int64  `json:"count,omitempty"`
	Call     string `json:"call,omitempty"` // the ID of the tool call that caused it

	Kind     string      `json:"kind,omitempty"`
	Verdict  string      `json:"verdict,omitempty"` // "allow" or "deny"
	Reason   string      `json:"reason,omitempty"`
	Limit    string      `json:"limit,omitempty"`    // which limit of the grant, or of the run, is used up
	Grant    string      `json:"grant,omitempty"`    // that allowed, or the nearest
	Position string      `json:"position,omitempty"` // file:line:column of the allow block or grant, in the policy itself
	Preset   string      `json:"preset,omitempty"`   // file:line:column of the allow block in a preset
	Host     string      `json:"host,omitempty"`
	Address  string      `json:"address,omitempty"` // the address the client used
	Port     uint16      `json:"port,omitempty"`
	Scheme   string      `json:"scheme,omitempty"`
	Method   string      `json:"method,omitempty"`
	Path     string      `json:"path,omitempty"` // canonical
	Query    []Parameter `json:"query,omitempty"`
	Body     *Body       `json:"body,omitempty"`
	Foreign  []Foreign   `json:"foreign,omitempty"`         // credentials that the grant does not bind
	Bound    string      `json:"credential,omitempty"`      // the credential that goes with an allowed request, by its name
	Print    string      `json:"fingerprint,omitempty"`     // of the Bound credential, keyed for the installation
	Upgrade  bool        `json:"websocket,omitempty"`       // the request was to go on as a WebSocket
	Override bool        `json:"method_override,omitempty"` // it asked the origin for another method than its own
	Front    string      `json:"front,omitempty"`
	Protocol string      `json:"protocol,omitempty"`
	Excerpt  string      `json:"excerpt,omitempty"`  // of a malformed request, in escaped ASCII
	Mismatch string      `json:"mismatch,omitempty"` // what did not match
	Smallest string      `json:"smallest,omitempty"` // the smallest grant that would permit it

	Tool   *ToolCall   `json:"tool,omitempty"`   // of a call
	Result *ToolResult `json:"result,omitempty"` // of its outcome

	Policy string `json:"policy,omitempty"` // that judged: the first digits of its hash, once there was more than one

	Status      int    `json:"status,omitempty"`
	Sent        int64  `json:"sent,omitempty"`
	Received    int64  `json:"received,omitempty"`
	Stripped    int    `json:"stripped,omitempty"`    // request headers that were not passed on
	Placeholder bool   `json:"placeholder,omitempty"` // of a decision: one was in the head; of an outcome: in the body that was sent, as it was
	Upstream    string `json:"upstream,omitempty"`
	Digest      string `json:"body_sha256,omitempty"` // of the request's body, as it was sent
	Took        int64  `json:"took,omitempty"`        // nanoseconds
	Error       string `json:"error,omitempty"`
	Close       string `json:"close,omitempty"` // of a WebSocket: who closed it, and with which code
	Says        string `json:"says,omitempty"`  // of a limit of the run, one sentence

	Anchor  string   `json:"anchor,omitempty"`
	Log     *Segment `json:"log,omitempty"`
	Run     *Start   `json:"run,omitempty"`
	Change  *Change  `json:"change,omitempty"`
	Summary *Summary `json:"summary,omitempty"`
}

// Parameter is a query parameter. Value is "…" unless the policy lists the value.
type Parameter struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Length int    `json:"length"` // of the value, in bytes; 0 for a credential
}

// Body is what a request said of its body. Length is -1 when it did not say.
type Body struct {
	Type     string `json:"type"`
	Encoding string `json:"encoding,omitempty"`
	Length   int64  `json:"length"`
}

// Start is what runs, and under which policy.
type Start struct {
	ID          string            `json:"id"`
	Scupper     string            `json:"scupper"` // version
	Policy      string            `json:"policy"`  // path
	PolicyHash  string            `json:"policy_hash"`
	PolicyFiles map[string]string `json:"policy_files,omitempty"` // SHA-256 of the files that it names, by path
	Role        string            `json:"role,omitempty"`
	Command     []string          `json:"command"`
	Controls    any               `json:"controls"` // in force or not
	Overrides   []string          `json:"overrides,omitempty"`
	User        string            `json:"user"`
	PID         int               `json:"pid"`
	Key         string            `json:"key,omitempty"` // public, that the heads of this log are signed with
	Durability  string            `json:"durability,omitempty"`
}

// Segment is a piece of the log, and what is known of the records before it.
type Segment struct {
	Number int      `json:"segment,omitempty"`
	Before int64    `json:"before"`          // records
	Root   string   `json:"root,omitempty"`  // of the tree over them
	Peaks  []string `json:"peaks,omitempty"` // of dropped records: the whole subtrees over them, the largest first
	Cut    int64    `json:"cut,omitempty"`   // bytes of a torn line
	Torn   string   `json:"torn,omitempty"`  // SHA-256 of these bytes, in hexadecimal
}

// Change is a new policy in the course of a run.
type Change struct {
	From    string `json:"from"`              // hash of the policy that was in force
	To      string `json:"to"`                // of the new text
	Refused string `json:"refused,omitempty"` // why it is not in force: the old one stays
	Note    string `json:"note,omitempty"`    // what of it has no effect in this run
}

// stamp is what only the writer knows of a record.
type stamp struct {
	seq  int64
	time time.Time
	mono time.Duration
	run  string
}

// line is the record as it stands in the file, newline included.
func (r *Record) line(s stamp) ([]byte, error) {
	r.Version, r.Seq, r.Time, r.Mono = Version, s.seq, s.time.UTC(), s.mono.Nanoseconds()
	if r.Event == Decided {
		r.ID = s.run + "-" + strconv.FormatInt(s.seq, 10)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encode %s record: %w", r.Event, err)
	}
	return b.Bytes(), nil
}
