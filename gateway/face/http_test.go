package face

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
)

// post sends a body as an MCP client does, with the token; change can spoil it.
func (w *world) post(t *testing.T, path, body string, change func(*http.Request)) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if change != nil {
		change(r)
	}
	resp, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, answer
}

func TestRequestsAreForThisGateway(t *testing.T) {
	w := newWorld(t, Config{Hosts: []string{"tools.example.com"}, Origins: []string{"https://app.example.com"}})
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	origin := func(o string) func(*http.Request) { return func(r *http.Request) { r.Header.Set("Origin", o) } }
	for _, row := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"as it is", nil, http.StatusOK},
		{"localhost with a port", host("localhost:8080"), http.StatusOK},
		{"localhost", host("LocalHost"), http.StatusOK},
		{"IPv6 loopback", host("[::1]:80"), http.StatusOK},
		{"a listed name", host("tools.example.com:443"), http.StatusOK},
		{"a page of this machine", origin("http://localhost:3000"), http.StatusOK},
		{"a listed page", origin("https://app.example.com"), http.StatusOK},
		{"TOOL-17 another name", host("attacker.test"), http.StatusForbidden},
		{"TOOL-17 another name with the port", host("attacker.test:7777"), http.StatusForbidden},
		{"TOOL-17 a name like localhost", host("localhost.attacker.test"), http.StatusForbidden},
		{"TOOL-17 another address", host("192.0.2.1"), http.StatusForbidden},
		{"TOOL-17 another page", origin("https://attacker.test"), http.StatusForbidden},
		{"TOOL-17 a page without a name", origin("null"), http.StatusForbidden},
		{"TOOL-17 a page with a name like localhost", origin("http://localhost.attacker.test"), http.StatusForbidden},
		{"TOOL-17 a page of another scheme", origin("file://localhost"), http.StatusForbidden},
	} {
		t.Run(row.name, func(t *testing.T) {
			w.notes.taken()
			resp, body := w.post(t, "/v1/tools/echo", "{}", row.change)
			if resp.StatusCode != row.want {
				t.Errorf("got %d %s", resp.StatusCode, body)
			}
			want := []capability.Reason{capability.Granted}
			if row.want == http.StatusForbidden {
				want = []capability.Reason{capability.AuthorityMismatch}
			}
			if diff := cmp.Diff(w.notes.taken(), want); diff != "" {
				t.Error(diff)
			}
			if resp, _ := w.post(t, "/mcp", initialize, row.change); resp.StatusCode != row.want {
				t.Errorf("MCP: got %d", resp.StatusCode)
			}
		})
	}
}

func TestHostsThatAreNotLocal(t *testing.T) {
	f := &Face{}
	for _, host := range []string{"", ":80", "[::1%25eth0]", "[::1%eth0]:80", "0.0.0.0", "[::]", "2130706433", "0177.0.0.1", "127.1", "localhost:80:80", "localhost@attacker.test", "127.0.0.1.attacker.test"} {
		if f.local(host, nil) {
			t.Errorf("%q is local", host)
		}
	}
	for _, host := range []string{"localhost", "localhost.", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:1", "[::1]", "[::1]:1"} {
		if !f.local(host, nil) {
			t.Errorf("%q is not local", host)
		}
	}
}

func TestOnlyATokenOpensTheDoor(t *testing.T) {
	w := newWorld(t, Config{})
	authorization := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Authorization"] = values }
	}
	for name, change := range map[string]func(*http.Request){
		"none":            authorization(),
		"another":         authorization("Bearer nobody's"),
		"empty":           authorization("Bearer "),
		"basic":           authorization("Basic " + token),
		"two":             authorization("Bearer "+token, "Bearer ops"),
		"the hash of one": authorization("Bearer 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"),
		"in the query": func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "token=" + url.QueryEscape(token)
		},
		"TOOL-18 session id": func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Set("Mcp-Session-Id", "1") },
	} {
		for _, path := range []string{"/mcp", "/v1/tools/echo", "/v1/tools", "/nowhere"} {
			w.notes.taken()
			resp, body := w.post(t, path, initialize, change)
			if resp.StatusCode != http.StatusUnauthorized || strings.Contains(string(body), token) {
				t.Errorf("%s at %s: got %d %s", name, path, resp.StatusCode, body)
			}
			if diff := cmp.Diff(w.notes.taken(), []capability.Reason{capability.CallerUnknown}); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestThereIsNoSessionToTakeOver(t *testing.T) {
	w := newWorld(t, Config{})
	resp, _ := w.post(t, "/mcp", initialize, nil)
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		t.Errorf("TOOL-18: there is a session %q", id)
	}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"other","arguments":{}}}`
	as := func(token string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Mcp-Session-Id", "session-of-ops")
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
	}
	if _, body := w.post(t, "/mcp", call, as("ops")); !strings.Contains(string(body), "got {}") {
		t.Errorf("control: %s", body)
	}
	if _, body := w.post(t, "/mcp", call, as(token)); !strings.Contains(string(body), `unknown tool`) {
		t.Errorf("TOOL-18: with the session id of another caller: %s", body)
	}
}

func TestPlainHTTP(t *testing.T) {
	w := newWorld(t, Config{})
	var ran Plain
	resp, body := w.post(t, "/v1/tools/echo", ` { "text" : "x" } `, nil)
	if err := json.Unmarshal(body, &ran); err != nil || resp.StatusCode != 200 || ran.Content[0].Text != `got {"text":"x"}` || ran.ID == "" {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	again := func(r *http.Request) { r.Header.Set("Idempotency-Key", "k") }
	_, first := w.post(t, "/v1/tools/echo", `{}`, again)
	_, second := w.post(t, "/v1/tools/echo", `{}`, again)
	if strings.Contains(string(first), "replays") || !strings.Contains(string(second), "replays") {
		t.Errorf("got %s, then %s", first, second)
	}
	for _, row := range []struct {
		path, body string
		change     func(*http.Request)
		status     int
		want       string
	}{
		{"/v1/tools/echo", `{"text":1}`, nil, 400, "/text: type: expected string"},
		{"/v1/tools/echo", `{"text":"a"`, nil, 400, "no one reading"},
		{"/v1/tools/echo", `{"text":"other"}`, again, 409, "call_key_reused"},
		{"/v1/tools/other", `{"text":1}`, nil, 404, `"reason":"tool_unknown"`},
		{"/v1/tools/off", `{`, nil, 404, `"reason":"tool_unknown"`},
		{"/v1/tools/none", `{}`, nil, 404, `"reason":"tool_unknown"`},
		{"/v1/tools/%65cho", `{}`, nil, 200, "got {}"},
		{"/v1/tools/..%2fecho", `{}`, nil, 404, "tool_unknown"},
		{"/v1/tools/echo/x", `{}`, nil, 404, ""},
	} {
		resp, body := w.post(t, row.path, row.body, row.change)
		if resp.StatusCode != row.status || !strings.Contains(string(body), row.want) {
			t.Errorf("%s %s: got %d %s", row.path, row.body, resp.StatusCode, body)
		}
	}
	r, err := http.NewRequest(http.MethodGet, w.url+"/v1/tools", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err = w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	list, err := io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(list), `"other"`) || strings.Contains(string(list), `"off"`) || !strings.Contains(string(list), `"echo"`) {
		t.Errorf("got %s, %v", list, err)
	}
}

func TestADoorWithoutTokensIsOneRole(t *testing.T) {
	w := newWorld(t, Config{})
	w.serve(t, Door{As: &gateway.Principal{Role: "dev", Face: "sandbox"}})
	without := func(r *http.Request) { r.Header.Del("Authorization") }
	if resp, body := w.post(t, "/v1/tools/echo", "{}", without); resp.StatusCode != 200 {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	as := func(r *http.Request) { r.Header.Set("Authorization", "Bearer ops") }
	if resp, body := w.post(t, "/v1/tools/other", "{}", as); resp.StatusCode != 404 {
		t.Errorf("a token counts inside a sandbox: %d %s", resp.StatusCode, body)
	}
}

// The time that a request has is not that of the call.
func TestACallMayTakeLongerThanItsRequest(t *testing.T) {
	w := newWorld(t, Config{})
	if _, body := w.post(t, "/v1/tools/slow", "{}", nil); !strings.Contains(string(body), "in its own time") {
		t.Errorf("plain: %s", body)
	}
	modern := func(r *http.Request) {
		for name, value := range map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "slow"} {
			r.Header.Set(name, value)
		}
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	if _, body := w.post(t, "/mcp", call, modern); !strings.Contains(string(body), "in its own time") {
		t.Errorf("MCP: %s", body)
	}
}

// A body that does not come keeps nobody.
func TestASlowBodyIsCutOff(t *testing.T) {
	w := newWorld(t, Config{})
	body, sender := io.Pipe()
	defer sender.Close()
	r, err := http.NewRequest(http.MethodPost, w.url+"/v1/tools/echo", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	go func() { _, _ = io.WriteString(sender, "{") }()
	resp, err := w.client.Do(r)
	if err != nil {
		return // cut off without an answer
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		t.Error("an unfinished body is a call")
	}
}
