package classifier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode"

	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/payload"
)

// Classifier is one way to ask: a program or a service.
type Classifier struct {
	Exec     []string // the program and its arguments, or
	Dir      string   // where it starts
	URL      string   // where the result is posted
	Client   *http.Client
	Deadline time.Duration
	FailOpen bool // without an answer the result is marked and shown, else withheld
}

// maxAnswer is the longest answer, and maxReason what of its reason is shown, in bytes.
const (
	maxAnswer = 16 << 10
	maxReason = 200
)

type content struct {
	Type  string `json:"type"` // "text" or "image"
	Text  string `json:"text,omitempty"`
	Data  []byte `json:"data,omitempty"` // base64
	Media string `json:"mimeType,omitempty"`
}

type question struct {
	ID         string          `json:"id"`
	Tool       string          `json:"tool"`
	Role       string          `json:"role"`
	Failed     bool            `json:"failed"`
	Content    []content       `json:"content"`
	Structured json.RawMessage `json:"structured,omitempty"`
}

type answer struct {
	Verdict gateway.Verdict `json:"verdict"`
	Reason  string          `json:"reason"`
}

// answerSchema is what an answer is.
const answerSchema = `{"type": "object", "additionalProperties": false, "required": ["verdict"], "properties": {
	"verdict": {"enum": ["pass", "flag", "withhold"]}, "reason": {"type": "string", "maxLength": 4096}}}`

// Inspect asks about a result, within the deadline.
func (c *Classifier) Inspect(ctx context.Context, call *gateway.Call, r gateway.Result) (gateway.Verdict, string) {
	a, err := c.ask(ctx, call, r)
	switch {
	case err == nil:
		return a.Verdict, shortened(a.Reason)
	case c.FailOpen:
		return gateway.Flag, "it could not be inspected"
	}
	return gateway.Withhold, "it could not be inspected"
}

func (c *Classifier) ask(ctx context.Context, call *gateway.Call, r gateway.Result) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Deadline)
	defer cancel()
	q := question{ID: call.ID, Tool: call.Tool, Role: call.Role, Failed: r.Failed, Content: []content{}, Structured: r.Structured}
	for _, p := range r.Content {
		if p.MediaType != "" {
			q.Content = append(q.Content, content{Type: "image", Data: p.Image, Media: p.MediaType})
		} else {
			q.Content = append(q.Content, content{Type: "text", Text: p.Text})
		}
	}
	text, err := json.Marshal(q)
	if err != nil {
		return answer{}, fmt.Errorf("encode result for inspection: %w", err)
	}
	said, err := c.send(ctx, text)
	if err != nil {
		return answer{}, err
	}
	return parse(said)
}

func (c *Classifier) send(ctx context.Context, text []byte) ([]byte, error) {
	if len(c.Exec) > 0 {
		return c.run(ctx, text)
	}
	return c.post(ctx, text)
}

func parse(text []byte) (a answer, err error) {
	schema, mistakes := payload.CompileSchema("answer", []byte(answerSchema))
	if len(mistakes) > 0 {
		return a, errors.New("the schema of answers has mistakes")
	}
	compact, found, err := schema.Mismatches(text)
	if err != nil {
		return a, fmt.Errorf("read the answer of the inspection: %w", err)
	}
	if len(found) > 0 {
		return a, fmt.Errorf("the answer of the inspection: %s %s", found[0].Place, found[0].Keyword)
	}
	if err := json.Unmarshal(compact, &a); err != nil {
		return a, fmt.Errorf("read the answer of the inspection: %w", err)
	}
	return a, nil
}

// shortened is a reason on one line of printable characters: it stands in the border
// around a flagged result.
func shortened(reason string) string {
	out := make([]rune, 0, maxReason)
	for _, r := range reason {
		if len(out) == maxReason {
			return string(out) + "…"
		}
		if r == '[' || r == ']' || !unicode.IsPrint(r) {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
