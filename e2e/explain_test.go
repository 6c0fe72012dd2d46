package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// hostile is what a terminal must not get: escapes, a bell, a character that turns the
// direction of writing, one without width, a byte that is no UTF-8.
const hostile = "\x1b[2J\x1b]0;owned\x07\u202e\u200b\xff"

// terminalSafe is about what scupper prints for people.
func (a *attempt) terminalSafe() *attempt {
	a.t.Helper()
	for _, text := range []string{a.stdout, a.stderr} {
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar) {
				a.errorf("holds %U: %q", r, text)
				break
			}
		}
	}
	return a
}

// sendsRaw writes one line of HTTP into TLS as it is.
func sendsRaw(host, line string) client {
	quoted, _ := json.Marshal([]byte(line)) // base64, which Python reads
	return python(`import base64, socket, ssl
s = ssl.create_default_context().wrap_socket(socket.create_connection(("`+host+`", 443), 20), server_hostname="`+host+`")
s.sendall(base64.b64decode(`+string(quoted)+`) + b"\r\nHost: `+host+`\r\n\r\n")
print(s.recv(4096).split()[1].decode())`, false)
}

// TestExplain explains refusals by id and by last, whatever was asked.
func TestExplain(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	const url = "https://api.example.com/public/a"
	explain := func(a *attempt, id string, says ...string) {
		t.Helper()
		e := w.scupper("explain", "--audit", a.audit, id).wantExit(0).farSideNothing().terminalSafe()
		for _, text := range says {
			e.wantStdout(text)
		}
	}
	denied := w.attack(curl("-X", "POST", "-d", "secret", url)).refused(403, "method_not_granted")
	id := denied.log.denials()[0].ID
	for _, name := range []string{id, "last"} {
		explain(denied, name, "POST "+url, "deny: method_not_granted", "method POST is not in GET", "policy.hcl:8", id, "the smallest grant that would permit it", `"POST"`)
	}
	allowed := w.control(curl(url)).wantStatus(200).farSide("GET " + url).wantAllowed(1)
	explain(allowed, allowed.log.allowed("http")[0].ID, "GET "+url, "allow", "status 200")

	escaped := w.attack(curl("--path-as-is", "https://api.example.com/private/%E2%80%AE%E2%80%8Bx")).wantStatus(403).farSideNothing().terminalSafe()
	escaped.wantReason("path_not_granted")
	explain(escaped, "last", "deny: path_not_granted")
	for _, raw := range []struct{ line, reason string }{
		{"GET /" + hostile + " HTTP/1.1", "malformed_path"},
		{hostile + " / HTTP/1.1", "malformed_request"},
		{"GET /public/a HTTP/1.1\r\nX: " + hostile + "\r\n folded", "malformed_request"},
	} {
		a := w.attack(sendsRaw("api.example.com", raw.line)).wantExit(0).wantStdout("400").wantReason(raw.reason).farSideNothing().terminalSafe()
		explain(a, "last", "deny: "+raw.reason)
	}
	w.scupper("explain", "--audit", denied.audit, "20260101t000000-aaaaaa-1").wantExit(1).wantSays("20260101t000000-aaaaaa-1", "--audit DIR")
	w.scupper("explain", strings.ToValidUTF8(hostile, "")).wantExit(1).terminalSafe()
}

// TestSummaryForPrograms is one line of JSON, the last on standard error.
func TestSummaryForPrograms(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	w.flags = append(w.flags, "--json")
	a := w.run(shell(`curl -sS https://api.example.com/public/a https://api.example.com/public/b >/dev/null
		curl -sS -X PUT -o /dev/null https://api.example.com/public/a; curl -sS https://evil.example.net/; echo said >&2; exit 5`)).wantExit(5)
	lines := strings.Split(strings.TrimSpace(a.stderr), "\n")
	var s struct {
		Run                     string
		Exit, Requests, Refused int
		Sent, Received          int64
		Grants                  []struct {
			Grant    string
			Requests int
		}
		Causes []struct {
			ID, What, Reason string
			Count            int
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
		t.Fatalf("%v in %q", err, a.stderr)
	}
	if s.Exit != 5 || s.Requests != 3 || s.Sent == 0 || s.Received == 0 || len(s.Grants) != 1 || s.Grants[0].Grant != "public" || s.Grants[0].Requests != 2 {
		t.Errorf("summary %+v", s)
	}
	reasons := map[string]string{}
	for _, c := range s.Causes {
		reasons[c.Reason] = c.What
		w.scupper("explain", "--json", "--audit", a.audit, c.ID).wantExit(0).wantStdout(`"reason":"` + c.Reason + `"`)
	}
	if len(s.Causes) != 2 || !strings.HasPrefix(reasons["method_not_granted"], "PUT https://api.example.com/public/a") || !strings.Contains(reasons["no_grant"], "evil.example.net") {
		t.Errorf("causes %+v", s.Causes)
	}
}
