package face

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
)

// problems is where the types of problem documents are described.
const problems = "https://scupper.dev/problems/"

// plainContent is one piece of a result in plain HTTP.
type plainContent struct {
	Type  string `json:"type"` // "text" or "image"
	Text  string `json:"text,omitempty"`
	Data  []byte `json:"data,omitempty"` // base64
	Media string `json:"mimeType,omitempty"`
}

// Plain is a result as plain HTTP and `scupper call --json` have it.
type Plain struct {
	ID         string          `json:"id"`
	Failed     bool            `json:"failed"` // the tool could not do it
	Content    []plainContent  `json:"content"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Replays    string          `json:"replays,omitempty"` // the ID of the call whose result this is
}

// PlainOf is an answer of a call that ran.
func PlainOf(a gateway.Answer) Plain {
	p := Plain{ID: a.ID, Failed: a.Result.Failed, Content: []plainContent{}, Structured: a.Result.Structured, Replays: a.Replays}
	for _, c := range a.Result.Content {
		if c.MediaType != "" {
			p.Content = append(p.Content, plainContent{Type: "image", Data: c.Image, Media: c.MediaType})
		} else {
			p.Content = append(p.Content, plainContent{Type: "text", Text: c.Text})
		}
	}
	return p
}

type plainTool struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Level       gateway.Level   `json:"level"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output,omitempty"`
}

func (f *Face) servePlainList(w http.ResponseWriter, r *http.Request) {
	p, _ := principalOf(r.Context())
	definitions, _ := f.gateway.Tools(p)
	list := make([]plainTool, len(definitions))
	for i, d := range definitions {
		list[i] = plainTool{d.Name, d.Version, d.Title, d.Description, d.Level, d.Input, d.Output}
	}
	writeJSON(w, http.StatusOK, "application/json", map[string]any{"tools": list})
}

// servePlainCall takes the arguments as the body. The call key is Idempotency-Key.
func (f *Face) servePlainCall(w http.ResponseWriter, r *http.Request) {
	p, _ := principalOf(r.Context())
	body, err := wholeBody(w, r)
	if err != nil {
		f.bodyFailed(w, r, err)
		return
	}
	name := r.PathValue("name")
	a := f.gateway.Call(r.Context(), gateway.Asked{Principal: p, Name: name, Arguments: body, Key: r.Header.Get("Idempotency-Key")})
	switch {
	case a.Hidden():
		// No ID and no true reason: those who must not know that there is a tool get the
		// bytes that those get who ask for none.
		problem(w, http.StatusNotFound, capability.ToolUnknown, nil, "")
	case a.Reason != capability.Granted:
		problem(w, status(a.Reason), a.Reason, a.Detail, a.ID)
	default:
		writeJSON(w, http.StatusOK, "application/json", PlainOf(a))
	}
}

func status(r capability.Reason) int {
	switch r {
	case capability.ArgumentsInvalid:
		return http.StatusBadRequest
	case capability.CallKeyReused:
		return http.StatusConflict
	case capability.LimitExceeded:
		return http.StatusTooManyRequests
	case capability.AuditUnavailable, capability.RecordBudget, capability.RunEnded:
		return http.StatusServiceUnavailable
	}
	return http.StatusForbidden
}

// problem answers with a problem document (RFC 9457).
func problem(w http.ResponseWriter, code int, reason capability.Reason, faults []string, id string) {
	writeJSON(w, code, "application/problem+json", struct {
		Type   string   `json:"type"`
		Title  string   `json:"title"`
		Status int      `json:"status"`
		Reason string   `json:"reason"`
		Detail string   `json:"detail"`
		Faults []string `json:"faults,omitempty"`
		ID     string   `json:"id,omitempty"`
	}{problems + string(reason), http.StatusText(code), code, string(reason), reason.Sentence(), faults, id})
}

func writeJSON(w http.ResponseWriter, code int, media string, v any) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a client that is gone needs no answer
}

// Text is the text of the result, with a word for each image.
func (p *Plain) Text() string {
	parts := make([]string, len(p.Content))
	for i, c := range p.Content {
		if parts[i] = c.Text; c.Type != "text" {
			parts[i] = fmt.Sprintf("[%s, %d bytes; --json has them]", c.Media, len(c.Data))
		}
	}
	return strings.Join(parts, "\n")
}
