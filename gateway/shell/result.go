package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/trim"
	"scupper.dev/scupper/sandbox"
)

// outcome is what became of a command, or that it still runs.
type outcome struct {
	end     sandbox.End
	err     error
	took    time.Duration
	job     string // handle, of a background command
	running bool
}

// facts are the structured result, as the output schema has it.
type facts struct {
	Output      string   `json:"output"`
	ExitCode    *int     `json:"exit_code,omitempty"`
	Signal      string   `json:"signal,omitempty"`
	Duration    int64    `json:"duration_ms"`
	TimedOut    bool     `json:"timed_out"`
	OutOfMemory bool     `json:"out_of_memory"`
	Limits      []string `json:"limits,omitempty"`
	Bytes       int64    `json:"bytes"`
	Truncated   bool     `json:"truncated"`
	Rest        string   `json:"rest,omitempty"`
	Handle      string   `json:"handle,omitempty"`
	Running     *bool    `json:"running,omitempty"`
}

// result is the output with what became of the command. The output that is not shown is
// kept under a handle.
func (t *Tool) result(c *gateway.Call, rest string, out *trim.Collector, o outcome) gateway.Result {
	text := out.Text()
	var kept int64
	f := facts{Output: text.Shown, Duration: o.took.Milliseconds(), Bytes: text.Whole, Truncated: text.Cut > 0, Handle: o.job}
	if f.Truncated {
		if kept = t.config.Store.Keep(out, c.Role, rest); kept > 0 {
			f.Rest = gateway.RestScheme + rest
		}
	}
	o.describe(&f)
	r := gateway.Result{Failed: o.err != nil, Whole: text.Whole, Digest: text.Digest}
	for _, part := range []string{text.Shown, text.Note(rest, kept), o.status(&f)} {
		if part != "" {
			r.Content = append(r.Content, gateway.Content{Text: part})
		}
	}
	if structured, err := json.Marshal(f); err == nil && o.err == nil {
		r.Structured = structured
	}
	return r
}

// describe fills in what became of the command.
func (o *outcome) describe(f *facts) {
	if o.job != "" {
		f.Running = &o.running
	}
	if o.running || o.err != nil {
		return
	}
	f.ExitCode, f.TimedOut, f.OutOfMemory = &o.end.Exit, o.end.Overtime, o.end.OutOfMemory()
	for _, r := range o.end.Reached {
		f.Limits = append(f.Limits, r.Says)
	}
	if !f.TimedOut {
		f.Signal = signal(o.end.Exit)
	}
}

// signal is the name of the one that an exit code stands for, or empty.
func signal(exit int) string {
	if exit <= 128 {
		return ""
	}
	return unix.SignalName(unix.Signal(exit - 128))
}

// status is the last line: what became of the command, in words.
func (o *outcome) status(f *facts) string {
	took := o.took.Round(time.Millisecond)
	if o.took > 10*time.Second {
		took = o.took.Round(time.Second)
	}
	var words []string
	switch {
	case o.err != nil:
		return fmt.Sprintf("[%s, after %v]", trouble(o.err), took)
	case o.running:
		return fmt.Sprintf("[running for %v in the background, handle %s]", took, o.job)
	case f.TimedOut:
		words = append(words, "the command was ended because its time was up")
	case f.OutOfMemory:
		words = append(words, "the command was ended because it had used all of its memory")
	case f.Signal != "":
		words = append(words, fmt.Sprintf("exit code %d: ended by %s", o.end.Exit, f.Signal))
	default:
		words = append(words, fmt.Sprintf("exit code %d", o.end.Exit))
	}
	for _, r := range o.end.Reached {
		if !r.Ended {
			words = append(words, r.Says)
		}
	}
	return "[" + strings.Join(append(words, took.String()), ", ") + "]"
}

// maxTrouble is how much of an error is shown, in bytes.
const maxTrouble = 300

// trouble says why there is no result of the command.
func trouble(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "the call was cancelled, and everything it started was ended"
	case errors.Is(err, context.DeadlineExceeded):
		return "the time of the call was up, and everything it started was ended"
	}
	text := strings.ToValidUTF8(err.Error(), "\uFFFD")
	return "the sandbox failed: " + strings.ToValidUTF8(text[:min(len(text), maxTrouble)], "")
}
