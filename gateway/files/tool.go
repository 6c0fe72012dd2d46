package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"scupper.dev/scupper/gateway"
)

// maxWhole is how long a file may be that is read whole: to edit it, or to compare it.
const maxWhole = 16 << 20

// tool is a method of a Workspace as a gateway.Tool.
type tool func(ctx context.Context, c *gateway.Call) (gateway.Result, error)

// Call does the work of a call; an error becomes a failed result.
func (t tool) Call(ctx context.Context, c *gateway.Call) gateway.Result {
	r, err := t(ctx, c)
	if err != nil {
		return failure(c, err)
	}
	return r
}

func failure(c *gateway.Call, err error) gateway.Result {
	if refused := (*Refusal)(nil); errors.As(err, &refused) {
		return gateway.Failure(c.Tool + ": " + refused.Text)
	}
	return gateway.Failure(c.Tool + ": the workspace could not be used")
}

// Entries are the five tools, with what the registry has of them.
func (w *Workspace) Entries() []gateway.Entry {
	return []gateway.Entry{
		{Definition: readDefinition(), Tool: tool(w.read)},
		{Definition: writeDefinition(), Tool: tool(w.write)},
		{Definition: editDefinition(), Tool: tool(w.edit)},
		{Definition: globDefinition(), Tool: tool(w.glob)},
		{Definition: grepDefinition(), Tool: tool(w.grep)},
	}
}

// arguments decodes what has been validated; a name in another case is no name of ours.
func arguments(c *gateway.Call, into any) error {
	d := json.NewDecoder(bytes.NewReader(c.Arguments))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return refuse(Malformed, "the arguments do not fit the schema")
	}
	return nil
}

// structured is a result in two forms, for a model and for a program.
func structured(text string, value any) (gateway.Result, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return gateway.Result{}, fmt.Errorf("encode result: %w", err)
	}
	r := gateway.Text(text)
	r.Structured, r.Keep = encoded, gateway.Start
	return r, nil
}
