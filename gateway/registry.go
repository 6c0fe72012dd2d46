package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"scupper.dev/scupper/payload"
)

// Schema checks a JSON text; *payload.Schema is one.
type Schema interface {
	// Mismatches lists where text does not fit, or says why it cannot be read.
	Mismatches(text []byte) (compact []byte, found []payload.Mismatch, err error)
}

// Limits of what a tool is when its definition does not say.
const (
	DefaultTimeout   = 2 * time.Minute
	DefaultMaxOutput = 50 << 10
)

// tool is a registered tool, ready to be called.
type tool struct {
	Registered
	input    *payload.Schema
	document any // the input schema, for expectations
}

func newTool(r *Registered) (*tool, error) {
	t := &tool{Registered: *r}
	d := &t.Definition
	if d.Name == "" || d.Version == "" || t.Tool == nil || levelOf(d.Level) == 0 {
		return nil, fmt.Errorf("register tool %q: it needs a name, a version, a level and what does the work", d.Name)
	}
	if d.Timeout <= 0 {
		d.Timeout = DefaultTimeout
	}
	if d.MaxOutput <= 0 {
		d.MaxOutput = DefaultMaxOutput
	}
	var err error
	if t.input, err = compiled(d.Input); err != nil {
		return nil, fmt.Errorf("register tool %q: input schema: %w", d.Name, err)
	}
	if err := json.Unmarshal(d.Input, &t.document); err != nil {
		return nil, fmt.Errorf("register tool %q: input schema: %w", d.Name, err)
	}
	if d.Output == nil {
		return t, nil
	}
	if _, err = compiled(d.Output); err != nil {
		return nil, fmt.Errorf("register tool %q: output schema: %w", d.Name, err)
	}
	return t, nil
}

func compiled(text json.RawMessage) (*payload.Schema, error) {
	s, mistakes := payload.CompileSchema("schema", text)
	if len(mistakes) > 0 {
		return nil, errors.New(mistakes[0].String())
	}
	return s, nil
}

// levelOf is the height of a level, 0 for what is none.
func levelOf(l Level) int {
	for i, known := range [...]Level{Read, ReversibleWrite, IrreversibleWrite} {
		if l == known {
			return i + 1
		}
	}
	return 0
}
