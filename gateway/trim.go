package gateway

import (
	"encoding/json"
	"slices"

	"scupper.dev/scupper/payload"
)

// trim cuts a result to what the caller may see: the declared fields first, then bytes.
// A structured result that does not fit its schema afterwards is left out, and the text
// says so.
func (g *Gateway) trim(call *Call, t *tool, r Result) Result {
	r.Structured = selected(r.Structured, t.Fields)
	r = g.config.Trimmer.Trim(call, &t.Definition, r)
	if r.Structured == nil {
		return r
	}
	if t.output != nil {
		if _, found, err := t.output.Mismatches(r.Structured); err == nil && len(found) == 0 {
			return r
		}
	}
	r.Structured = nil
	r.Content = append(r.Content, Content{Text: "[the structured result is left out: what may be shown of it does not fit its schema]"})
	return r
}

// selected is the object with the members that are declared; nil declares all.
func selected(structured json.RawMessage, fields []string) json.RawMessage {
	if structured == nil || fields == nil {
		return structured
	}
	compact, err := payload.Compact(structured)
	if err != nil {
		return structured // which the schema refuses afterwards
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(compact, &members) != nil {
		return structured
	}
	for name := range members {
		if !slices.Contains(fields, name) {
			delete(members, name)
		}
	}
	kept, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return kept
}
