package face

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/capability"
)

// An id that one parser rounds is that of another request.
func TestIDsComeBackAsTheyWereSent(t *testing.T) {
	w := newWorld(t, Config{})
	call := func(id, more string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"echo","arguments":{}` + more + `}}`
	}
	for _, id := range []string{"2", "-2", "9007199254740991", `"9007199254740993"`, `""`} {
		if resp, body := w.post(t, "/mcp", call(id, ""), nil); resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"id":`+id+`,`)) {
			t.Errorf("id %s: %d %s", id, resp.StatusCode, body)
		}
	}
	for _, message := range []string{
		call("9007199254740993", ""), call("9007199254740992", ""), call("-9007199254740993", ""), call("1.5", ""), call("1e3", ""), call("1e400", ""),
		call("null", ""), call("{}", ""), call("[1]", ""), call("true", ""),
		call("2", `,"_meta":{"progressToken":9007199254740993}`), call("2", `,"_meta":{"progressToken":{}}`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}`,
	} {
		w.notes.taken()
		resp, body := w.post(t, "/mcp", message, nil)
		if resp.StatusCode != http.StatusBadRequest || !bytes.Contains(body, []byte(`"id":null`)) {
			t.Errorf("%s: %d %s", message, resp.StatusCode, body)
		}
		if diff := cmp.Diff(w.notes.taken(), []capability.Reason{capability.MalformedRequest}); diff != "" {
			t.Errorf("%s: %s", message, diff)
		}
	}
}

// AUD-09: what is refused before it is a call is on record once, whatever refuses it.
func TestWhatIsNoCallIsOnRecordOnce(t *testing.T) {
	w := newWorld(t, Config{})
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + params + `}`
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, row := range map[string]struct {
		message string
		change  func(*http.Request)
		stdio   bool // also refused there
	}{
		"AUD-09 name of another type":   {call(`{"name":7}`), nil, true},
		"AUD-09 no parameters":          {`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`, nil, true},
		"AUD-09 no id":                  {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`, nil, true},
		"AUD-09 answers to no question": {call(`{"name":"echo","inputResponses":7}`), nil, true},
		"AUD-09 another header":         {call(`{"name":"echo"}`), header("Mcp-Protocol-Version", "2026-07-28"), false},
		"AUD-09 another type":           {call(`{"name":"echo"}`), header("Content-Type", "text/plain"), false},
		"AUD-09 wants no JSON":          {call(`{"name":"echo"}`), header("Accept", "text/html"), false},
	} {
		t.Run(name, func(t *testing.T) {
			w.notes.taken()
			w.post(t, "/mcp", row.message, row.change)
			if diff := cmp.Diff(w.notes.taken(), []capability.Reason{capability.MalformedRequest}); diff != "" {
				t.Errorf("HTTP: %s", diff)
			}
			if !row.stdio {
				return
			}
			w.talk(t, 1, row.message, initialize)
			if diff := cmp.Diff(w.notes.taken(), []capability.Reason{capability.MalformedRequest}); diff != "" {
				t.Errorf("stdio: %s", diff)
			}
		})
	}
	t.Run("a call is on record once", func(t *testing.T) {
		w.notes.taken()
		w.post(t, "/mcp", call(`{"name":"echo","arguments":{}}`), nil)
		w.post(t, "/mcp", call(`{"name":"other","arguments":{}}`), nil)
		if diff := cmp.Diff(w.notes.taken(), []capability.Reason{capability.Granted, capability.ToolNotGranted}); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("AUD-09 too long", func(t *testing.T) {
		long := call(`{"name":"` + strings.Repeat("a", maxBody) + `"}`)
		w.bodyTime = time.Minute // for a machine that is busy
		w.serve(t, Door{})
		w.notes.taken()
		w.post(t, "/mcp", long, nil)
		w.post(t, "/v1/tools/echo", long, nil)
		w.talk(t, 1, long)
		if diff := cmp.Diff(w.notes.taken(), []capability.Reason{capability.BodyTooLarge, capability.BodyTooLarge, capability.BodyTooLarge}); diff != "" {
			t.Error(diff)
		}
	})
}
