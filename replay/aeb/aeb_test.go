package aeb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

func load(t testing.TB, change func(string) string) *capability.Policy {
	t.Helper()
	text, err := os.ReadFile("testdata/policy.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		changed := change(string(text))
		if changed == string(text) {
			t.Fatal("the change changes nothing")
		}
		text = []byte(changed)
	}
	f, diags := policyfile.Parse("testdata/policy.hcl", text, policyfile.Options{ReadFile: os.ReadFile})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return f.Policy
}

func TestCases(t *testing.T) {
	cases, err := Read([]string{"testdata/cases"})
	if err != nil {
		t.Fatal(err)
	}
	r := Judge(cases, load(t, nil), Own(), time.Now())
	if r.Cases != 12 || r.Passed != 9 || r.Excused != 3 || !r.Good() {
		t.Errorf("got %+v", r)
	}
	want := map[string]string{
		"own-url-query-002": "query_not_granted", "own-url-userinfo-003": "malformed_host", "own-url-octal-004": "malformed_host",
		"own-body-free-006": "body_not_granted", "own-header-cookie-007": "foreign_credential", "own-host-labels-008": "no_grant",
		"own-answer-009": "input response_content is no request", "own-tool-010": "input mcp_tool_call is no request",
		"own-rebinding-011": "requires dns_rebinding_fixture", "own-socket-012": "no_grant",
	}
	for _, c := range r.Results {
		if w, ok := want[c.ID]; ok && c.Reason != w {
			t.Errorf("%s: got %s, want %s", c.ID, c.Reason, w)
		}
	}
	for name, weaker := range map[string]struct {
		from, to, let string
	}{
		"any query":  {`{ state = one_of("open", "closed") }`, "any", "own-url-query-002"},
		"no schema":  {"      schema = file(\"answer.schema.json\")\n", "", "own-body-free-006"},
		"stripped":   {"credential = anonymous", "credential = anonymous\n  foreign = strip", "own-header-cookie-007"},
		"other host": {"api.example.com", "6d7920736563726574.collector.test", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := Judge(cases, load(t, func(s string) string { return strings.Replace(s, weaker.from, weaker.to, 1) }), Own(), time.Now())
			if r.Good() {
				t.Fatal("nothing is found")
			}
			var text strings.Builder
			if err := r.Text(&text); err != nil || !strings.Contains(text.String(), weaker.let) {
				t.Errorf("got %s", text.String())
			}
		})
	}
}

func TestProfileDecidesWhatApplies(t *testing.T) {
	cases, err := Read([]string{"testdata/cases"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "profile.json")
	if err := os.WriteFile(path, []byte(`{"tool": "other", "supports": {"http_proxy": true, "fetch_proxy": false}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ReadProfile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := Judge(cases, load(t, nil), p, time.Now())
	if r.Passed != 1 || r.Excused != 11 || r.Excuses["transport fetch_proxy is not supported"] != 2 || r.Excuses["requires tls_interception"] != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestBadCases(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":      `{"id": `,
		"newer":        `{"schema_version": 5, "id": "a", "input_type": "url", "transport": "http_proxy", "payload": {"url": "https://a.test/"}, "expected_verdict": "block"}`,
		"no verdict":   `{"schema_version": 1, "id": "a", "input_type": "url", "transport": "http_proxy", "payload": {"url": "https://a.test/"}}`,
		"third":        `{"schema_version": 1, "id": "a", "input_type": "url", "transport": "http_proxy", "payload": {"url": "https://a.test/"}, "expected_verdict": "warn"}`,
		"no URL":       `{"schema_version": 1, "id": "a", "input_type": "url", "transport": "http_proxy", "payload": {}, "expected_verdict": "block"}`,
		"no id":        `{"schema_version": 1, "input_type": "url", "transport": "http_proxy", "payload": {"url": "https://a.test/"}, "expected_verdict": "block"}`,
		"payload text": `{"schema_version": 1, "id": "a", "input_type": "url", "transport": "http_proxy", "payload": "https://a.test/", "expected_verdict": "block"}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "case.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read([]string{dir}); err == nil || !strings.Contains(err.Error(), "case.json") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		if _, err := Read([]string{t.TempDir()}); err == nil {
			t.Error("no error")
		}
	})
	t.Run("twice", func(t *testing.T) {
		if _, err := Read([]string{"testdata/cases", "testdata/cases"}); err == nil {
			t.Error("no error")
		}
	})
}

// What a payload is read as is what the strict parsers of the proxy take, or is refused.
func TestRead(t *testing.T) {
	for url, want := range map[string]capability.Reason{
		"https://a.example.com":                              capability.Granted,
		"https://a.example.com:8443/x?y=1#z":                 capability.Granted,
		"https://[2001:db8::1]/":                             capability.Granted,
		"https://[2001:db8::1]:8443/":                        capability.Granted,
		"https://a.example.com/a b":                          capability.Granted,
		"https://a.example.com:99999/":                       capability.MalformedHost,
		"https://user:word@a.example.com/":                   capability.MalformedHost,
		"https://a.example.com\\@b.test/":                    capability.MalformedHost,
		"https://0x7f.1/":                                    capability.MalformedHost,
		"https:///x":                                         capability.MalformedHost,
		"https://a.example.com/../x":                         capability.MalformedPath,
		"https://a.example.com/%2e%2e/x":                     capability.MalformedPath,
		"https://a.example.com/x?a=1;b=2":                    capability.MalformedQuery,
		"file:///etc/passwd":                                 capability.ProtocolNotGranted,
		"gopher://a.example.com/":                            capability.ProtocolNotGranted,
		"a.example.com":                                      capability.ProtocolNotGranted,
		"https:a.example.com":                                capability.ProtocolNotGranted,
		"https://a.example.com/\x00":                         capability.MalformedPath,
		"https://xn--80ak6aa92e.example.com/":                capability.Granted,
		"https://\u0430.example.com/":                        capability.MalformedHost,
		"https://a.example.com/" + strings.Repeat("a", 9000): capability.MalformedPath,
	} {
		p := Payload{URL: url}
		if _, _, reason := p.read(); reason != want {
			t.Errorf("%q: got %q, want %q", url, reason, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"schema_version": 1, "id": "a", "input_type": "header", "transport": "http_proxy", "payload": {"url": "https://[::1]:1/", "headers": {"a": ["b"], "Host": "x"}, "body": {}}, "expected_verdict": "block"}`))
	f.Add([]byte(`{"schema_version": 4, "id": "b", "input_type": "websocket_frame", "transport": "websocket", "payload": {"url": "wss://a.test:443"}, "expected_verdict": "allow"}`))
	policy := load(f, nil)
	f.Fuzz(func(t *testing.T, text []byte) {
		c, is, err := parse(text)
		if err != nil || !is {
			return
		}
		r := Judge([]Case{c}, policy, Own(), time.Time{})
		if r.Cases != 1 || r.Passed+r.Missed+r.Refused+r.Excused != 1 {
			t.Errorf("got %+v", r)
		}
	})
}
