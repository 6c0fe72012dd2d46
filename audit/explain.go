package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"scupper.dev/scupper/capability"
)

// Explanation tells a person about one decision. Its texts may hold whatever the
// sandbox sent; Write makes them safe on a terminal.
type Explanation struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Asked    string    `json:"asked"`
	Verdict  string    `json:"verdict"`
	Reason   string    `json:"reason"`
	Sentence string    `json:"sentence"` // what the sandbox was told
	Limit    string    `json:"limit,omitempty"`
	Times    int64     `json:"times"`
	Grant    string    `json:"grant,omitempty"` // that allowed, or the nearest
	Position string    `json:"position,omitempty"`
	Preset   string    `json:"preset,omitempty"`
	Line     string    `json:"line,omitempty"` // of the policy as it was then
	Mismatch string    `json:"mismatch,omitempty"`
	Smallest string    `json:"smallest,omitempty"`
	Outcome  string    `json:"outcome,omitempty"`
	Call     *Link     `json:"call,omitempty"`   // the tool call that caused it
	Caused   []Link    `json:"caused,omitempty"` // what this tool call caused, and how much more
	Others   int       `json:"caused_others,omitempty"`
	Policy   string    `json:"policy"`
	Hash     string    `json:"policy_hash"`

	Excerpt []PolicyLine `json:"excerpt,omitempty"`     // of the policy as it was then, around Position
	Kept    string       `json:"policy_kept,omitempty"` // the file with its whole text
	Altered string       `json:"altered,omitempty"`     // why that text is not to be believed
	Since   string       `json:"since,omitempty"`       // what became of the policy, if the caller knows

	Segment string          `json:"segment"`
	Number  int             `json:"line_number"` // in the segment
	Seq     int64           `json:"seq"`
	Record  json.RawMessage `json:"record"`          // as it stands there
	Proof   *Evidence       `json:"proof,omitempty"` // if the caller verified the log
}

// Evidence says whether a record is in a log that verifies.
type Evidence struct {
	State string `json:"state"`          // verified, not verified or failed
	Head  string `json:"head,omitempty"` // that covers the record
	Why   string `json:"why,omitempty"`  // when it is not verified
}

// Explain explains a decision by its ID; see Find for what else id can be.
func Explain(dir, id string) (*Explanation, error) {
	f, err := Find(dir, id)
	if err != nil {
		return nil, err
	}
	r := f.Decision
	e := &Explanation{
		ID: r.ID, Time: r.Time, Asked: asked(r), Verdict: r.Verdict, Reason: r.Reason, Sentence: capability.Reason(r.Reason).Sentence(),
		Limit: r.Limit, Times: f.Times, Grant: r.Grant, Position: r.Position, Preset: r.Preset, Mismatch: r.Mismatch, Smallest: r.Smallest,
		Segment: f.Line.Segment, Number: f.Line.Number, Seq: r.Seq, Record: f.Line.Bytes,
	}
	if f.Start != nil {
		e.Policy, e.Hash = f.Start.Policy, judgedBy(dir, r, f.Start)
		e.quote(dir, r.ID[:runLength])
	}
	e.Outcome = outcome(f)
	if err := e.link(dir, r.ID[:runLength], r); err != nil {
		return nil, err
	}
	return e, nil
}

func outcome(f *Found) string {
	switch o := f.Outcome; {
	case f.Revoked:
		return "denied after all: the record was written too late"
	case o == nil:
		return ""
	case o.Result != nil:
		return o.Result.says(o.Took)
	case o.Error != "":
		return fmt.Sprintf("%s after %d bytes sent and %d received", o.Error, o.Sent, o.Received)
	default:
		return fmt.Sprintf("status %d, %d bytes sent, %d received", o.Status, o.Sent, o.Received)
	}
}

// splitPosition takes file:line:column apart from the right.
func splitPosition(s string) (file string, line int, ok bool) {
	rest, _, ok1 := cutLast(s)
	file, number, ok2 := cutLast(rest)
	line, err := strconv.Atoi(number)
	return file, line, ok1 && ok2 && err == nil
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// WriteExplanation explains the decision with that ID to a person.
func WriteExplanation(w io.Writer, dir, id string) error {
	e, err := Explain(dir, id)
	if err != nil {
		return err
	}
	return e.Write(w)
}

// Write explains the decision to a person.
func (e *Explanation) Write(w io.Writer) error {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-9s %s\n", name, Printable(value))
		}
	}
	row("asked", e.Asked)
	row("answer", e.Verdict+": "+e.Reason+limitNote(e.Limit)+timesNote(e.Times))
	row("because", cmp.Or(e.Mismatch, e.Sentence))
	row("grant", grantNote(e))
	row("policy", e.policyNote())
	for _, l := range e.Excerpt {
		row("", l.String())
	}
	row("", e.Altered)
	row("preset", e.Preset)
	row("outcome", e.Outcome)
	if e.Call != nil {
		row("called by", e.Call.String())
	}
	for _, l := range e.Caused {
		row("caused", l.String())
	}
	if e.Others > 0 {
		row("caused", fmt.Sprintf("%d more", e.Others))
	}
	row("id", e.ID)
	row("time", e.Time.Format(time.RFC3339))
	row("record", fmt.Sprintf("line %d of %s", e.Number, e.Segment))
	row("proof", e.Proof.String())
	if e.Smallest != "" {
		b.WriteString("\nthe smallest grant that would permit it:\n\n")
		for line := range strings.Lines(e.Smallest) {
			fmt.Fprintf(&b, "  %s\n", Printable(strings.TrimSuffix(line, "\n")))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// policyNote is where in the policy it stands, and what became of that policy.
func (e *Explanation) policyNote() string {
	return strings.Trim(e.Position+"; "+e.Since, "; ")
}

// String says on one line what is proved.
func (v *Evidence) String() string {
	switch {
	case v == nil:
		return ""
	case v.Head != "":
		return v.State + ": the record is under the head " + v.Head
	}
	return v.State + ": " + v.Why
}

func limitNote(limit string) string {
	if limit == "" {
		return ""
	}
	return " (" + limit + ")"
}

func timesNote(n int64) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(", %d times", n)
}

func grantNote(e *Explanation) string {
	switch {
	case strings.HasPrefix(e.Asked, "call "):
		return "" // a role's word, which the position shows
	case e.Grant == "":
		return "none comes near"
	case e.Verdict == "allow":
		return e.Grant
	}
	return e.Grant + " comes nearest"
}

// WriteJSON is Write for programs: one JSON object on one line.
func (e *Explanation) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(e)
}
