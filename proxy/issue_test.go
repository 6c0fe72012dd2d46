package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

// issuing grants a token endpoint, a login, a batch and a redirect at allowed.example, and
// takes what they hand out there and at other.example.
func issuing(w *world) []*capability.Grant {
	issues := func(a *capability.Allow, r capability.IssueRule) *capability.Allow {
		a.Issues = &r
		return a
	}
	handedOut := capability.Credential{Mode: capability.HandedOut}
	first := w.grant("allowed.example",
		issues(allow(w.t, "GET", "/token"), capability.IssueRule{Fields: []string{"token", "access_token"}, To: []capability.Host{"other.example"}}),
		issues(allow(w.t, "GET", "/login"), capability.IssueRule{Cookies: []string{"session"}}),
		issues(allow(w.t, "GET", "/batch"), capability.IssueRule{Links: []string{"href"}, Headers: []string{"header"}, To: []capability.Host{"other.example"}}),
		issues(allow(w.t, "GET", "/moved"), capability.IssueRule{Links: []string{"location"}, To: []capability.Host{"other.example"}}),
		allow(w.t, "GET", "/public/{item}"))
	first.Credential = handedOut
	second := w.grant("other.example", allow(w.t, "GET", "/v2/{item}"))
	second.Credential = handedOut
	return []*capability.Grant{first, second}
}

// What the far side hands out.
const (
	token   = "issued-token-0123456789"
	session = "c2Vzc2lvbg=="
)

func issuingWorld(t *testing.T) *world {
	w := newWorld(t, issuing)
	w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
		signed := fmt.Sprintf("https://other.example:%d/v2/object?X-Amz-Date=20260101T000000Z&X-Amz-Signature=abc%%2Bdef", w.port)
		switch r.URL.Path {
		case "/token":
			rw.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprintf(rw, `{"expires_in":300,"nested":[{"token":%q}]}`, token)
		case "/login":
			http.SetCookie(rw, &http.Cookie{Name: "session", Value: session, Domain: "example"})
			http.SetCookie(rw, &http.Cookie{Name: "tracking", Value: "t"})
		case "/batch":
			rw.Header().Set("Content-Type", "application/vnd.git-lfs+json")
			fmt.Fprintf(rw, `{"objects":[{"actions":{"download":{"href":%q,"header":{"authorization":"RemoteAuth lfs","x-lfs-key":"k"}}}},{"href":"https://elsewhere.example/?sig=1"}]}`, signed)
		case "/moved":
			http.Redirect(rw, r, signed, http.StatusFound)
		}
	}
	return w
}

// ask makes a GET with headers and returns the status.
func (w *world) ask(c *http.Client, host, target string, header ...string) int {
	w.t.Helper()
	r, err := http.NewRequest("GET", fmt.Sprintf("https://%s:%d%s", host, w.port, target), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestIssued: each kind of credential is refused before it was handed out, passes after,
// and passes at no other host and in no other run.
func TestIssued(t *testing.T) {
	const signed = "?X-Amz-Date=20260101T000000Z&X-Amz-Signature=abc%2Bdef"
	for _, c := range []struct {
		name, from   string
		host, target string
		header       []string
		arrives      string
	}{
		{"token", "/token", "other.example", "/v2/x", []string{"Authorization", "Bearer " + token}, "Authorization:[Bearer " + token + "]"},
		{"cookie", "/login", "allowed.example", "/public/x", []string{"Cookie", "session=" + session}, "Cookie:[session=" + session + "]"},
		{"signed query", "/batch", "other.example", "/v2/object" + signed, nil, "/v2/object" + signed},
		{"headers named by an answer", "/batch", "other.example", "/v2/object", []string{"Authorization", "RemoteAuth lfs", "X-Lfs-Key", "k"}, "Authorization:[RemoteAuth lfs] User-Agent:[scupper] X-Lfs-Key:[k]"},
		{"signed query of a redirect", "/moved", "other.example", "/v2/object" + signed, nil, "/v2/object" + signed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, another := issuingWorld(t), issuingWorld(t)
			client := w.client(true)
			if got := w.ask(client, c.host, c.target, c.header...); got != http.StatusForbidden {
				t.Errorf("before it was handed out: %d", got)
			}
			w.refused(capability.ForeignCredential)
			w.ask(client, "allowed.example", c.from)
			if got := w.ask(client, c.host, c.target, c.header...); got != http.StatusOK {
				t.Errorf("afterwards: %d", got)
			}
			seen := w.tls.requests()
			if got := fmt.Sprint(seen[len(seen)-1]); len(seen) != 2 || !strings.Contains(got, c.arrives) {
				t.Errorf("the far side received %s", got)
			}
			elsewhere := map[string][2]string{"other.example": {"allowed.example", "/public/x"}, "allowed.example": {"other.example", "/v2/x"}}[c.host]
			_, query, _ := strings.Cut(c.target, "?")
			if got := w.ask(client, elsewhere[0], elsewhere[1]+"?"+query, c.header...); got != http.StatusForbidden {
				t.Errorf("at another host: %d", got)
			}
			if got := another.ask(another.client(true), c.host, c.target, c.header...); got != http.StatusForbidden {
				t.Errorf("in another run: %d", got)
			}
			w.denials(2)
			another.refused(capability.ForeignCredential)
		})
	}
}

// TestIssuedIsExact: what was handed out does not open the door to more.
func TestIssuedIsExact(t *testing.T) {
	w := issuingWorld(t)
	c := w.client(true)
	for _, path := range []string{"/token", "/login", "/batch"} {
		w.ask(c, "allowed.example", path)
	}
	before := len(w.tls.requests())
	for _, attempt := range [][]string{
		{"other.example", "/v2/x", "Authorization", "Bearer " + token + "x"},
		{"other.example", "/v2/x", "Authorization", "Stolen " + token},
		{"other.example", "/v2/x", "Authorization", "Bearer " + token, "X-Api-Key", attacker},
		{"other.example", "/v2/x", "Authorization", "Bearer " + token, "Authorization", "Bearer " + attacker},
		{"other.example", "/v2/x?token=" + token},
		{"allowed.example", "/public/x", "Cookie", "session=" + session + "; s=" + attacker},
		{"allowed.example", "/public/x", "Cookie", "tracking=t"},
		{"allowed.example", "/public/x", "Cookie", "session=" + attacker},
		{"other.example", "/v2/x?X-Amz-Signature=other"},
		{"other.example", "/v2/x?X-Amz-Signature=abc%2Bdef&X-Amz-Signature=abc%2Bdef"},
		{"other.example", "/v2/x?sig=1"},
	} {
		if got := w.ask(c, attempt[0], attempt[1], attempt[2:]...); got != http.StatusForbidden {
			t.Errorf("%v: %d", attempt, got)
		}
	}
	if after := len(w.tls.requests()); after != before {
		t.Errorf("%d requests arrived", after-before)
	}
	// A token in a header of no meaning is not passed on.
	if got := w.ask(c, "other.example", "/v2/x", "X-Note", token); got != http.StatusOK {
		t.Fatalf("%d", got)
	}
	seen := w.tls.requests()
	if last := fmt.Sprint(seen[len(seen)-1]); strings.Contains(last, token) {
		t.Errorf("the far side received %s", last)
	}
}

// FuzzIssuer: whatever an answer says, nothing is handed out for a host that the rule
// does not name, and little is kept.
func FuzzIssuer(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		rule := &capability.IssueRule{Fields: []string{"token"}, Links: []string{"href"}, Headers: []string{"header"}, To: []capability.Host{"other.example"}}
		i := issuer{rule: rule, from: "allowed.example", to: newIssued()}
		i.json([]byte(text))
		i.link(text)
		for key := range i.to.known {
			if key.host != "other.example" {
				t.Errorf("something is handed out for %q", key.host)
			}
		}
		if len(i.to.known) > maxIssued {
			t.Errorf("%d are remembered", len(i.to.known))
		}
	})
}
