package proxy

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/credential"
	"scupper.dev/scupper/credential/redact"
)

// What the sandbox has, what is behind it, and what somebody slipped in.
const (
	held     = "sk-Zq3vB7xK2mT9wR4y"
	real     = "sk-real-0123456789abcdef"
	attacker = "sk-attacker-0123456789"

	githubKey = "ghp_0123456789abcdefABCDEF0123456789abcd"
)

// safe has one secret for each credential: its name in front of real.
type safe struct{ broken atomic.Bool }

func (s *safe) Present(_ context.Context, c capability.Credential, up *http.Request) error {
	if s.broken.Load() {
		return errors.New("the broker does not answer")
	}
	up.Header[c.Place.Header()] = []string{c.Name + real}
	return nil
}

func (s *safe) secrets() []credential.Secret {
	return []credential.Secret{credential.NewSecret("llm", "llm"+real), credential.NewSecret("other", "other"+real)}
}

var apiKey = capability.Place{In: capability.InHeader, Name: "X-Api-Key"}

// boundWorld grants reading and posting with a bound credential.
func boundWorld(t testing.TB, more ...func(w *world) *capability.Grant) (*world, *safe) {
	t.Helper()
	s := new(safe)
	w := newWorld(t, func(w *world) []*capability.Grant {
		grants := []*capability.Grant{w.bound("llm", "/v1/{item}")}
		for _, m := range more {
			grants = append(grants, m(w))
		}
		return grants
	}, configured(func(c *Config) { c.Credentials, c.Redactor = s, redact.New(s.secrets) }))
	run, err := w.log.policy.Load().WithPlaceholders(map[string]string{"llm": held})
	if err != nil {
		t.Fatal(err)
	}
	w.log.policy.Store(run)
	return w, s
}

// bound grants a path at allowed.example with a credential.
func (w *world) bound(name, path string) *capability.Grant {
	post := withBody(allow(w.t, "POST", path), "application/json", 64<<10)
	g := w.grant("allowed.example", allow(w.t, "GET", path), post)
	g.Name, g.Credential = name, capability.Credential{Mode: capability.Bound, Name: name, Place: apiKey}
	return g
}

// carried wants n requests at the far side, each with our key and nothing else.
func (w *world) carried(n int) {
	w.t.Helper()
	got := w.tls.requests()
	if len(got) != n {
		w.t.Errorf("%d requests at the far side, want %d", len(got), n)
	}
	for _, r := range got {
		if all := fmt.Sprint(r); fmt.Sprint(r.Header["X-Api-Key"]) != "[llm"+real+"]" || strings.Contains(all, held) || strings.Contains(all, attacker) || strings.Count(all, real) != 1 {
			w.t.Errorf("the far side received %s", all)
		}
	}
}

// TestBoundCredential: the secret arrives whatever the client has, in h1 and h2.
func TestBoundCredential(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		w, _ := boundWorld(t)
		c := w.client(h2)
		for _, header := range []http.Header{{}, {"X-Api-Key": {held}}, {"x-aPI-kEY": {held}}, {"X-Api-Key": {"Bearer " + held}}} {
			r, _ := http.NewRequest("GET", w.url("/v1/models"), nil)
			r.Header = header
			if h2 {
				r.Header = http.Header{}
				for _, v := range header {
					r.Header["X-Api-Key"] = v
				}
			}
			resp, err := c.Do(r)
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("%v: %v %v", header, resp, err)
			}
			io.Copy(io.Discard, resp.Body) // its end is behind the record
			resp.Body.Close()
		}
		w.carried(4)
		for _, r := range w.log.all() {
			if r.Outcome.Sent > 300 || strings.Contains(fmt.Sprintf("%+v", r), real) {
				t.Errorf("the record has more than it should: %+v", r)
			}
		}
	}
}

// TestForeignCredential: CRED-01, EXF-08, somebody else's key in every place, over HTTP/1.1.
func TestForeignCredential(t *testing.T) {
	const post = "POST /v1/messages HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
	const get = "GET /v1/models HTTP/1.1\r\nHost: HOST\r\n"
	chunked := func(announced, trailer string) string {
		return post + announced + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + trailer + "\r\n"
	}
	basic := base64.StdEncoding.EncodeToString([]byte("x:" + attacker))
	for _, c := range []struct {
		name, request string
		want          capability.Reason
	}{
		{"its place", get + "X-Api-Key: " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"odd case", get + "x-APi-KeY: " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"twice", get + "X-Api-Key: " + held + "\r\nx-api-key: " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"twice, in the other order", get + "X-Api-Key: " + attacker + "\r\nx-api-key: " + held + "\r\n\r\n", capability.ForeignCredential},
		{"joined by a comma", get + "X-Api-Key: " + held + ", " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"bearer", get + "Authorization: Bearer " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"without a scheme", get + "Authorization: " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"CRED-15 Basic", get + "Authorization: Basic " + basic + "\r\n\r\n", capability.ForeignCredential},
		{"AWS", get + "Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n", capability.ForeignCredential},
		{"Google", get + "X-Goog-Api-Key: " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"GitLab", get + "PRIVATE-TOKEN: " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"Sentry", get + "X-Sentry-Auth: Sentry sentry_key=" + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"cookie", get + "Cookie: a=b; key=" + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"proxy authorization", get + "Proxy-Authorization: Basic " + basic + "\r\n\r\n", capability.ForeignCredential},
		{"WebSocket protocol", get + "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key." + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"nominated for the connection", get + "Connection: X-Api-Key\r\nX-Api-Key: " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"odd case and underscores", get + "x_API_key: " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"underscores in a name of another", get + "Private_token: " + attacker + "\r\n\r\n", capability.ForeignCredential},
		{"underscores in a trailer", chunked("Trailer: X_Api_Key\r\n", "X_Api_Key: "+attacker+"\r\n"), capability.ForeignCredential},
		{"EXF-08 a header of the safe set", get + "Accept: text/html, " + githubKey + "\r\n\r\n", capability.ForeignCredential},
		{"EXF-08 a header that nobody asks for", get + "Referer: https://x.test/" + githubKey + "\r\n\r\n", capability.ForeignCredential},
		{"WebSocket protocol alone", get + "Sec-WebSocket-Protocol: chat, " + githubKey + "\r\n\r\n", capability.ForeignCredential},
		{"list in the query", strings.Replace(get, "/v1/models", "/v1/models?access_token%5B%5D="+attacker, 1) + "\r\n", capability.ForeignCredential},
		{"query as PHP reads it", strings.Replace(get, "/v1/models", "/v1/models?access.token="+attacker, 1) + "\r\n", capability.ForeignCredential},
		{"EXF-06 a key under another name in the query", strings.Replace(get, "/v1/models", "/v1/models?q="+githubKey, 1) + "\r\n", capability.ForeignCredential},
		{"EXF-06 a key for a name in the query", strings.Replace(get, "/v1/models", "/v1/models?"+githubKey, 1) + "\r\n", capability.ForeignCredential},
		{"query", strings.Replace(get, "/v1/models", "/v1/models?key="+attacker, 1) + "\r\n", capability.ForeignCredential},
		{"query in odd case and escapes", strings.Replace(get, "/v1/models", "/v1/models?Api%5FKey="+attacker, 1) + "\r\n", capability.ForeignCredential},
		{"signed query", strings.Replace(get, "/v1/models", "/v1/models?X-Amz-Credential=A&X-Amz-Signature=B", 1) + "\r\n", capability.ForeignCredential},
		{"userinfo", strings.Replace(get, "/v1/models", "https://u:"+attacker+"@HOST/v1/models", 1) + "\r\n", capability.MalformedHost},
		{"CRED-17 userinfo, in a target that cannot be read", strings.Replace(get, "/v1/models", "https://u:"+attacker+"@HOST/%zz", 1) + "\r\n", capability.MalformedPath},
		{"a key in a path that cannot be read", strings.Replace(get, "/v1/models", "/v1//"+githubKey, 1) + "\r\n", capability.MalformedPath},
		{"announced trailer", chunked("Trailer: X-Api-Key\r\n", "X-Api-Key: "+attacker+"\r\n"), capability.ForeignCredential},
		{"announced trailer of another name", chunked("Trailer: Authorization\r\n", "Authorization: Bearer "+attacker+"\r\n"), capability.ForeignCredential},
		{"a trailer that nobody announced", chunked("", "X-Api-Key: "+attacker+"\r\n"), capability.ForeignCredential},
		{"a trailer of another name that nobody announced", chunked("", "x-sum: 1\r\nauthorization: Bearer "+attacker+"\r\n"), capability.ForeignCredential},
		{"CRED-02 the placeholder elsewhere", get + "Authorization: Bearer " + held + "\r\n\r\n", capability.PlaceholderMisplaced},
		{"CRED-02 the placeholder in a harmless header", get + "Referer: https://x.test/" + held + "\r\n\r\n", capability.PlaceholderMisplaced},
		{"CRED-15 the placeholder in the path", strings.Replace(get, "models", held, 1) + "\r\n", capability.PlaceholderMisplaced},
		{"CRED-15 the placeholder in the query", strings.Replace(get, "/v1/models", "/v1/models?note="+held, 1) + "\r\n", capability.PlaceholderMisplaced},
		{"CRED-15 the placeholder in the query, in base64", strings.Replace(get, "/v1/models", "/v1/models?note="+base64.URLEncoding.EncodeToString([]byte("u:"+held)), 1) + "\r\n", capability.PlaceholderMisplaced},
		{"CRED-15 the placeholder in the path, in base64", strings.Replace(get, "models", base64.RawURLEncoding.EncodeToString([]byte("x"+held+"y")), 1) + "\r\n", capability.PlaceholderMisplaced},
		{"CRED-15 the placeholder in a safe header, in base64", get + "Accept: " + base64.StdEncoding.EncodeToString([]byte(held)) + "\r\n\r\n", capability.PlaceholderMisplaced},
		{"a neighbour", strings.Replace(get, "/v1/models", "/v2/files", 1) + "X-Api-Key: " + attacker + "\r\n\r\n", capability.PathNotGranted},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, secured(), func(t *testing.T, by option) {
				w, _ := boundWorld(t)
				by(w)
				status, body := w.say(w.inside(), c.request)
				if status != statusOf(c.want) || strings.Contains(body, attacker) || strings.Contains(body, held) {
					t.Errorf("got %d %s", status, body)
				}
				w.refused(c.want)
				if on := fmt.Sprint(w.log.all()); c.want.Malformed() && (strings.Contains(on, attacker) || strings.Contains(on, githubKey)) {
					t.Errorf("on record: %s", on)
				}
			})
		})
	}
}

// TestForeignCredentialLater: as the second request of a connection that was good, and
// on a second stream.
func TestForeignCredentialLater(t *testing.T) {
	w, _ := boundWorld(t)
	conn := w.inside()
	answers := bufio.NewReader(conn)
	for _, step := range []struct {
		key    string
		status int
	}{{held, 200}, {attacker, 403}, {held, 200}} {
		if status, _, err := w.exchange(conn, answers, "GET /v1/models HTTP/1.1\r\nHost: HOST\r\nX-Api-Key: "+step.key+"\r\n\r\n"); err != nil || status != step.status {
			t.Fatalf("%s: got %d, %v", step.key, status, err)
		}
	}
	w.carried(2)
	h2 := w.client(true)
	for _, step := range []struct {
		key    string
		status int
	}{{held, 200}, {attacker, 403}, {held + "," + attacker, 403}} {
		r, _ := http.NewRequest("GET", w.url("/v1/models"), nil)
		r.Header["X-Api-Key"] = []string{step.key}
		resp, err := h2.Do(r)
		if err != nil || resp.StatusCode != step.status {
			t.Fatalf("%s: %v %v", step.key, resp, err)
		}
		resp.Body.Close()
	}
	w.carried(3)
	w.denials(3)
}

// TestForeignTrailerUnannounced: where it comes later than the head, the upload does not end well, so that it means nothing.
func TestForeignTrailerUnannounced(t *testing.T) {
	w, _ := boundWorld(t)
	var complete atomic.Bool
	w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		complete.Store(err == nil)
	}
	c := w.inside()
	if _, err := io.WriteString(c, w.filled("POST /v1/messages HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")); err != nil {
		t.Fatal(err)
	}
	w.begun(1)
	status, _ := w.say(c, "0\r\nX-Api-Key: "+attacker+"\r\n\r\n")
	if got := w.denials(1)[0].Decision.Reason; status != 403 || got != capability.ForeignCredential || complete.Load() {
		t.Errorf("got %d, %s, complete %t", status, got, complete.Load())
	}
}

// TestRedirectedCredential: CRED-04, CRED-05, a redirect is the client's business, and what
// it asks elsewhere has neither the secret nor leave to use the placeholder.
func TestRedirectedCredential(t *testing.T) {
	w, _ := boundWorld(t, func(w *world) *capability.Grant { return w.grant("other.example", allow(w.t, "GET", "/{item}")) })
	w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, fmt.Sprintf("https://other.example:%d/stolen", w.port), http.StatusTemporaryRedirect)
	}
	c := w.client(true)
	r, _ := http.NewRequest("GET", w.url("/v1/models"), nil)
	r.Header.Set("X-Api-Key", held)
	resp, err := c.Do(r)
	if err != nil || resp.StatusCode != 307 {
		t.Fatalf("%v %v", resp, err)
	}
	resp.Body.Close()
	w.carried(1)
	for _, header := range []http.Header{{"X-Api-Key": {held}}, {"Authorization": {"Bearer " + held}}, {"X-Api-Key": {attacker}}} {
		r, _ := http.NewRequest("GET", resp.Header.Get("Location"), nil)
		r.Header = header
		again, err := c.Do(r)
		if err != nil || again.StatusCode != 403 {
			t.Fatalf("%v %v", again, err)
		}
		again.Body.Close()
	}
	w.carried(1)
	w.denials(3)
	resp, err = c.Get(resp.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := w.tls.requests(); len(got) != 2 || len(got[1].Header["X-Api-Key"]) > 0 {
		t.Errorf("the other host received %+v", got)
	}
}

// TestCredentialUnavailable: nothing is sent, and the two records say why.
func TestCredentialUnavailable(t *testing.T) {
	w, s := boundWorld(t)
	if status, _, _ := w.get(w.client(true), w.url("/v1/models")); status != 200 {
		t.Fatalf("control: %d", status)
	}
	s.broken.Store(true)
	status, body, _ := w.get(w.client(true), w.url("/v1/models"))
	if status != statusOf(capability.CredentialUnavailable) || !strings.Contains(body, string(capability.CredentialUnavailable)) || strings.Contains(body, "broker") {
		t.Errorf("got %d %s", status, body)
	}
	if got := w.denials(1)[0].Decision.Reason; got != capability.CredentialUnavailable {
		t.Errorf("recorded %s", got)
	}
	w.carried(1)
	none := newWorld(t, func(w *world) []*capability.Grant { return []*capability.Grant{w.bound("llm", "/v1/{item}")} })
	if status, _, _ := none.get(none.client(true), none.url("/v1/models")); status != statusOf(capability.CredentialUnavailable) {
		t.Errorf("a proxy without credentials: %d", status)
	}
	none.refused(capability.CredentialUnavailable)
}

// TestConnectionsByCredential: CRED-14, two credentials never share a connection.
func TestConnectionsByCredential(t *testing.T) {
	w, _ := boundWorld(t, func(w *world) *capability.Grant { return w.bound("second", "/v2/{item}") })
	var mu sync.Mutex
	keys := make(map[string]map[string]bool) // by connection
	w.tls.handler = func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if keys[r.RemoteAddr] == nil {
			keys[r.RemoteAddr] = make(map[string]bool)
		}
		keys[r.RemoteAddr][r.Header.Get("X-Api-Key")] = true
	}
	c := w.client(true)
	for range 5 {
		for _, path := range []string{"/v1/x", "/v2/x"} {
			if status, _, _ := w.get(c, w.url(path)); status != 200 {
				t.Fatal(status)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(keys) != 2 {
		t.Errorf("%d connections, want one for each credential: %v", len(keys), keys)
	}
	for conn, of := range keys {
		if len(of) != 1 {
			t.Errorf("connection %s carried %v", conn, of)
		}
	}
}

// TestCredentialsInParallel: two runs with two credentials each against one host,
// 10,000 requests: never a wrong key.
func TestCredentialsInParallel(t *testing.T) {
	var wrong, right atomic.Int64
	var wait sync.WaitGroup
	for run := range 2 {
		w, _ := boundWorld(t, func(w *world) *capability.Grant { return w.bound("second", "/v2/{item}") })
		w.tls.handler = func(_ http.ResponseWriter, r *http.Request) {
			name := map[string]string{"/v1/": "llm", "/v2/": "second"}[r.URL.Path[:4]]
			if len(r.Header["X-Api-Key"]) != 1 || r.Header.Get("X-Api-Key") != name+real {
				wrong.Add(1)
				return
			}
			right.Add(1)
		}
		for worker := range 10 {
			c := w.client(worker%2 == 0)
			wait.Go(func() {
				for i := range 500 {
					resp, err := c.Get(w.url(fmt.Sprintf("/v%d/r%d", (i+worker+run)%2+1, i)))
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			})
		}
	}
	wait.Wait()
	if wrong.Load() != 0 || right.Load() != 10_000 {
		t.Errorf("%d requests with the right key, %d with another", right.Load(), wrong.Load())
	}
}
