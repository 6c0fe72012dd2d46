package gateway

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// Level is how much a tool can do, as the operator sees it.
type Level string

// The levels, from the harmless to the one that nothing takes back.
const (
	Read              Level = "read"
	ReversibleWrite   Level = "reversible_write"
	IrreversibleWrite Level = "irreversible_write"
)

// Definition is what the registry has of a tool. The description is for the model.
type Definition struct {
	Name        string
	Version     string
	Title       string // for people
	Description string
	Level       Level
	Input       json.RawMessage // JSON Schema of the arguments; always an object
	Output      json.RawMessage // JSON Schema of Result.Structured; nil: there is none
	Fields      []string        // of the result that are shown, as JSON Pointers; nil: all
	Timeout     time.Duration   // of one call; the context of the call ends then
	MaxOutput   int64           // bytes of text that are shown; the rest is trimmed
}

// Tool does the work of a call that has passed every step before it. Call may block
// until ctx ends, must return soon after, and is called concurrently. It never panics;
// what goes wrong is a Result with Failed.
type Tool interface {
	Call(ctx context.Context, c *Call) Result
}

// Entry is a tool and what the registry has of it.
type Entry struct {
	Definition Definition
	Tool       Tool
}

// Call is one call of a tool.
type Call struct {
	ID        string          // of its record in the log: what it causes is linked by it
	Tool      string          // name in the registry
	Role      string          // who calls
	Arguments json.RawMessage // valid against the input schema, compact, no name twice
	Progress  Progress        // never nil
}

// Progress tells the caller how far a call is. The total is 0 when it is not known; done
// must rise. It does not block and may be called concurrently.
type Progress func(done, total float64, text string)

// Result is what a call came to. A failure of the tool is a Result too.
type Result struct {
	Content    []Content
	Structured json.RawMessage // valid against the output schema; nil: none
	Failed     bool            // the tool could not do it, and Content says why
	Keep       Part            // of a text that is too long; the zero Part keeps both ends
	RestOf     string          // the handle of the earlier result that this is a part of; empty: of none

	// The step that trims sets these; a tool that left output out by itself sets Whole.
	Whole  int64    // bytes of the text that the tool produced
	Shown  int64    // bytes of text in Content
	Digest [32]byte // SHA-256 of the whole text
}

// Content is one piece of a result: text, or an image or a recording with its media type.
type Content struct {
	Text      string
	Image     []byte
	MediaType string // "image/png"; empty for text
}

// Part says what of a long text matters most.
type Part int

// The parts of a text that trimming can keep.
const (
	Ends  Part = iota // a little of the head, more of the tail: output of commands
	Start             // the head: files and listings
)

// Text is a Result of one text.
func Text(s string) Result { return Result{Content: []Content{{Text: s}}} }

// Failure is a Result that says why the tool could not do it.
func Failure(s string) Result { return Result{Content: []Content{{Text: s}}, Failed: true} }

// Trimmer cuts a result to what may be shown, makes it harmless to look at, and keeps
// the whole where Rest finds it. It sets Whole, Shown and Digest.
type Trimmer interface {
	Trim(c *Call, d *Definition, r Result) Result
}

// RestScheme begins a path of the tool "read" that names what trimming left out.
const RestScheme = "result:"

// Rest is where the whole of a trimmed result is, for the role that got the result.
type Rest interface {
	// Open is the whole text behind a handle, which has no RestScheme in front; the
	// caller closes it. It is false when this role was given no such handle.
	Open(role, handle string) (whole io.ReadSeekCloser, ok bool)
}
