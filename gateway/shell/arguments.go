package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"scupper.dev/scupper/gateway"
)

// arguments of a call, as the input schema has them.
type arguments struct {
	Command    string `json:"command"`
	Timeout    int64  `json:"timeout"` // seconds
	Background bool   `json:"background"`
	Handle     string `json:"handle"`
	Action     string `json:"action"`
}

var errNothing = errors.New("say what to do: give either a command, or the handle of a background command")

func parse(text json.RawMessage) (arguments, error) {
	var a arguments
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("read the arguments: %w", err)
	}
	if (a.Command == "") == (a.Handle == "") || a.Handle != "" && a.Background {
		return a, errNothing
	}
	return a, nil
}

const inputSchema = `{
	"type": "object",
	"properties": {
		"command": {"type": "string", "minLength": 1, "maxLength": 100000, "description": "The command, for bash -c."},
		"timeout": {"type": "integer", "minimum": 1, "maximum": 86400, "description": "Seconds after which the command is ended: by default 120, at most 600, in the background without limit. With a handle: how long to wait for its end."},
		"background": {"type": "boolean", "description": "Return a handle at once; the command goes on until it ends, is killed, or the session is over."},
		"handle": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Of a background command, instead of a command."},
		"action": {"type": "string", "enum": ["output", "kill"], "description": "With a handle: return what the command printed since the last time (the default), or end it."}
	},
	"additionalProperties": false
}`

const outputSchema = `{
	"type": "object",
	"properties": {
		"output": {"type": "string", "description": "Standard output and error together, as far as they are shown."},
		"exit_code": {"type": "integer", "description": "128 + N when signal N ended the command, 124 when its time was up."},
		"signal": {"type": "string"},
		"duration_ms": {"type": "integer"},
		"timed_out": {"type": "boolean"},
		"out_of_memory": {"type": "boolean"},
		"limits": {"type": "array", "items": {"type": "string"}, "description": "Limits of the sandbox that the command came up against."},
		"bytes": {"type": "integer", "description": "That the command printed."},
		"truncated": {"type": "boolean"},
		"rest": {"type": "string", "description": "Path under which the tool read has all of the output."},
		"handle": {"type": "string", "description": "Of the background command."},
		"running": {"type": "boolean", "description": "Of a background command."}
	},
	"additionalProperties": false
}`

const description = `Run a command with bash -c in a fresh sandbox. The workspace is writable and is where the command starts; everything else is read-only, /tmp and the home directory are empty and gone afterwards, also for the next call. The network has only what this session was granted: do not retry what was refused. Standard input is empty, there is no terminal. Standard output and error come back together; of long output the beginning and the end, and the path under which read has the rest. A non-zero exit code is a normal result. With background a handle comes back at once: call again with the handle for new output, or with action "kill".`

// Entry is the tool with what the registry has of it.
func (t *Tool) Entry() gateway.Entry {
	return gateway.Entry{Tool: t, Definition: gateway.Definition{
		Name: "bash", Version: "1", Title: "Run a command", Description: description, Level: gateway.IrreversibleWrite,
		Input: json.RawMessage(inputSchema), Output: json.RawMessage(outputSchema),
		// The command is ended before the call is, so that its result is known.
		Timeout: t.config.MaxTime + slack, MaxOutput: t.config.MaxOutput,
	}}
}

// slack is what a sandbox takes besides its command: to start, and to end when its time is up.
const slack = 20 * time.Second
