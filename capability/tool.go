package capability

import (
	"fmt"
	"slices"
)

// Tool is a tool of the registry, as far as deciding needs it.
type Tool struct {
	Name        string
	Position    Position // where the policy tunes it; the zero Position: nowhere
	Disabled    bool     // by the operator
	Quarantined bool     // it is not as it was when the operator accepted it
}

// ToolCall is what a Request of KindTool asks. A call from which nothing could be read
// has neither name nor arguments.
type ToolCall struct {
	Name   string
	Role   string // of the caller; the empty role has no tool
	Caller string // who that is, in the policy's words or the face's
	Face   string // the way it came in: "stdio", "http", "cli", "sandbox"

	Version string // of the tool, in the registry
	Level   string // likewise
	Length  int64  // of the arguments in their compact form, in bytes
	Digest  string // SHA-256 of that form, in hexadecimal
	Key     string // that the caller tells "again" from "retry" by; empty: none

	Durable bool // the record must be on the disk before the answer
}

// A ToolOutcome is what came of an allowed call.
type ToolOutcome struct {
	Failed   bool   // the tool could not do it
	Produced int64  // bytes of text
	Shown    int64  // of which the caller saw
	Digest   string // SHA-256 of the whole text, in hexadecimal
	Verdict  string // of the operator's inspection: "pass", "flag", "withhold"; empty: none
	Replay   string // the ID of the call whose result was given again; empty: it ran
	Error    string // one sentence, of what kept the result back; empty when nothing did
	Duration int64  // nanoseconds
}

// WithTools is p with a registry: nothing that is not in it exists.
func (p *Policy) WithTools(tools []Tool) *Policy {
	with := *p
	with.tools = make(map[string]Tool, len(tools))
	for _, t := range tools {
		with.tools[t.Name] = t
	}
	return &with
}

// ToolsOf lists the tools that a role can call now, in ascending order.
func (p *Policy) ToolsOf(role string) []string {
	var names []string
	for _, name := range p.roles[role].Tools {
		if t, ok := p.tools[name]; ok && !t.Disabled && !t.Quarantined {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// decideTool makes no difference in time that a caller could see between a tool that is
// not granted and one that does not exist: every look-up is made for each.
func (p *Policy) decideTool(r *Request) Decision {
	role := p.roles[r.Tool.Role]
	tool, known := p.tools[r.Tool.Name]
	listed := slices.Contains(role.Tools, r.Tool.Name)
	d := Decision{Reason: Granted, Place: role.Position}
	switch {
	case !known:
		d.Reason = ToolUnknown
	case !listed:
		d.Reason = ToolNotGranted
	case tool.Disabled:
		d.Reason, d.Place = ToolDisabled, tool.Position
	case tool.Quarantined:
		d.Reason, d.Place = ToolQuarantined, tool.Position
	default:
		d.allowed = true
	}
	return d
}

// explainTool says to the operator what the caller is not told.
func explainTool(r *Request, reason Reason) Explanation {
	e := Explanation{Mismatch: reason.Sentence()}
	switch reason {
	case ToolUnknown:
		e.Mismatch = fmt.Sprintf("no tool is named %s", Quote(r.Tool.Name))
	case ToolNotGranted:
		e.Mismatch = fmt.Sprintf("role %s does not list the tool", Quote(r.Tool.Role))
		e.Smallest = fmt.Sprintf("role %s {\n  tools = [%s]\n}\n", Quote(r.Tool.Role), Quote(r.Tool.Name))
	case ToolDisabled:
		e.Mismatch = "the policy disables the tool"
	case ToolQuarantined:
		e.Mismatch = "the tool is not as it was when it was accepted"
	}
	return e
}
