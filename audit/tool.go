package audit

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"scupper.dev/scupper/capability"
)

// ToolCall is a call of a tool. Its arguments are in no record, their digest is.
type ToolCall struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Level   string `json:"level,omitempty"`
	Role    string `json:"role"`
	Caller  string `json:"caller,omitempty"`
	Face    string `json:"face,omitempty"`
	Length  int64  `json:"length,omitempty"` // of the arguments, in bytes
	Digest  string `json:"sha256,omitempty"` // of the arguments
	Key     string `json:"key,omitempty"`    // that the caller gave
	Durable bool   `json:"-"`                // on the disk before the call runs
}

// ToolResult is what came of a call. The result itself is in no record.
type ToolResult struct {
	Failed   bool   `json:"failed,omitempty"`
	Produced int64  `json:"produced"`         // bytes of text
	Shown    int64  `json:"shown"`            // of which the caller saw
	Digest   string `json:"sha256,omitempty"` // of all of them
	Verdict  string `json:"inspection,omitempty"`
	Replay   string `json:"replay,omitempty"` // the ID of the call whose result was given again
}

func (rec *Record) describeTool(r *capability.Request, d capability.Decision) {
	t := &r.Tool
	rec.Tool = &ToolCall{
		Name: escaped(t.Name, maxName), Version: capped(t.Version, maxWord), Level: t.Level, Role: escaped(t.Role, maxWord), Caller: escaped(t.Caller, maxName),
		Face: t.Face, Durable: t.Durable, Length: t.Length, Digest: t.Digest, Key: escaped(t.Key, maxName),
	}
	if d.Place.File != "" {
		rec.Position = d.Place.String()
	}
}

// toolShape tells calls apart that must not be counted as one.
func toolShape(r *capability.Request) string {
	t := &r.Tool
	return strings.Join([]string{escaped(t.Name, maxName), escaped(t.Role, maxWord), escaped(t.Caller, maxName), t.Face}, "\n")
}

func (t *ToolCall) asked() string {
	return "call " + cmp.Or(t.Name, "a tool") + " as " + cmp.Or(t.Role, "nobody")
}

func (t *ToolResult) says(took int64) string {
	s := fmt.Sprintf("%d of %d bytes shown, after %v", t.Shown, t.Produced, time.Duration(took).Round(time.Millisecond))
	switch {
	case t.Replay != "":
		s = "the result of " + t.Replay + " again, " + s
	case t.Failed:
		s = "the tool failed, " + s
	}
	if t.Verdict != "" {
		s += ", inspected: " + t.Verdict
	}
	return s
}

// FinishTool records what came of an allowed call. An error means that this is not on
// record, although the call may have had its effect.
func (g *Guard) FinishTool(d capability.Decision, o capability.ToolOutcome) error {
	if !d.Allowed() || d.ID == "" {
		return nil
	}
	err := g.log.append(&Record{
		Event: Ended, Decision: d.ID, Took: o.Duration, Error: capped(o.Error, maxSentence),
		Result: &ToolResult{Failed: o.Failed, Produced: o.Produced, Shown: o.Shown, Digest: o.Digest, Verdict: o.Verdict, Replay: o.Replay},
	})
	if err != nil {
		return fmt.Errorf("record the result of call %s: %w", d.ID, err)
	}
	return nil
}
