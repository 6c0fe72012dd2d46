package proxy

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

func TestProblem(t *testing.T) {
	w := newWorld(t, nil)
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("USE-19 document h2=%t", h2), func(t *testing.T) {
			w.forget()
			begun := time.Now()
			status, body, h := w.get(w.client(h2), w.url("/secret?token=hunter2"))
			if took := time.Since(begun); took > time.Second {
				t.Errorf("the refusal took %v", took)
			}
			var doc problem
			if err := json.Unmarshal([]byte(body), &doc); err != nil {
				t.Fatal(err)
			}
			id := w.denials(1)[0].Decision.ID
			want := problem{
				Type: "https://scupper.dev/problems/path_not_granted", Title: "refused by scupper", Status: 403,
				Reason: "path_not_granted", ID: id, Detail: capability.PathNotGranted.Sentence(),
			}
			if doc != want || status != 403 {
				t.Errorf("got %d %+v, want %+v", status, doc, want)
			}
			if h.Get("Content-Type") != "application/problem+json" || h.Get("Scupper-Decision") != id {
				t.Errorf("header: %v", h)
			}
			if strings.Contains(body, "hunter2") {
				t.Error("the refusal repeats a value of the request")
			}
			w.untouched()
		})
	}
	t.Run("HEAD has no body", func(t *testing.T) {
		resp, err := w.client(false).Head(w.url("/secret"))
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); len(body) != 0 || resp.StatusCode != 403 || resp.ContentLength <= 0 {
			t.Errorf("got %d %q, length %d", resp.StatusCode, body, resp.ContentLength)
		}
	})
	t.Run("git gets text", func(t *testing.T) {
		req, _ := http.NewRequest("GET", w.url("/secret"), nil)
		req.Header.Set("User-Agent", "git/2.39.5")
		resp, err := w.client(false).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") || !strings.HasPrefix(string(body), "scupper: this path is not granted") {
			t.Errorf("got %v %q", resp.Header, body)
		}
	})
	t.Run("the explicit front tells an ordinary client what it is", func(t *testing.T) {
		status, body := w.say(w.dial(w.explicit), "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n")
		if status != 400 || !strings.Contains(body, "this is a proxy") {
			t.Errorf("got %d %s", status, body)
		}
	})
	t.Run("TLS to the explicit port is answered at once", func(t *testing.T) {
		begun := time.Now()
		if _, err := tls.Dial("tcp", w.explicit, &tls.Config{ServerName: "allowed.example"}); err == nil {
			t.Error("the handshake completed")
		}
		if took := time.Since(begun); took > 500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("USE-31 twenty tunnels without credentials", func(t *testing.T) {
		for range 20 {
			w.tunnel()
		}
	})
}

func TestRedirects(t *testing.T) {
	w := newWorld(t, nil)
	w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Location", "http://127.0.0.1/")
		for _, name := range []string{"Alt-Svc", "NEL", "Report-To", "Reporting-Endpoints", "Proxy-Authenticate", "Scupper-Decision"} {
			h.Set(name, `h3=":443"`)
		}
		rw.WriteHeader(http.StatusTemporaryRedirect)
	}
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("REDIR-03 steering headers are stripped h2=%t", h2), func(t *testing.T) {
			w.forget()
			status, _, h := w.get(w.client(h2), w.url("/public/a"))
			if status != http.StatusTemporaryRedirect || h.Get("Location") != "http://127.0.0.1/" {
				t.Errorf("the redirect was not passed on: %d %v", status, h)
			}
			for _, name := range []string{"Alt-Svc", "Nel", "Report-To", "Reporting-Endpoints", "Proxy-Authenticate", "Scupper-Decision"} {
				if len(h[name]) > 0 {
					t.Errorf("%s was passed on", name)
				}
			}
			if n := len(w.tls.requests()) + len(w.plain.requests()); n != 1 {
				t.Errorf("the far side saw %d requests, want 1: the proxy followed", n)
			}
		})
	}
}

// TestAuthorityEndsLimits: a limit that is used up before, during and after.
func TestLimits(t *testing.T) {
	t.Run("before anything is sent", func(t *testing.T) {
		w := newWorld(t, nil)
		w.control()
		w.log.upload.Store(10)
		status, body, _ := w.get(w.client(false), w.url("/public/a"))
		if status != 429 || !strings.Contains(body, "limit_exceeded") {
			t.Errorf("got %d %s", status, body)
		}
		w.refused(capability.LimitExceeded)
		if o := w.finished(1)[0].Outcome; o.Error != string(capability.LimitExceeded) {
			t.Errorf("outcome: %+v", o)
		}
	})
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("during an upload h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, nil)
			w.log.upload.Store(20 << 10)
			resp, err := w.client(h2).Post(w.url("/notes"), "application/json", strings.NewReader(strings.Repeat("x", 60<<10)))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != 429 {
				t.Errorf("got status %d, want 429", resp.StatusCode)
			}
			if got := w.denials(1)[0].Decision.Reason; got != capability.LimitExceeded {
				t.Errorf("reason: %q", got)
			}
			w.finished(1)
		})
		t.Run(fmt.Sprintf("during a download the client sees the cut h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, nil)
			w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
				for range 100 {
					fmt.Fprint(rw, strings.Repeat("x", 10<<10))
					rw.(http.Flusher).Flush()
				}
			}
			w.log.down.Store(100 << 10)
			resp, err := w.client(h2).Get(w.url("/public/a"))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err == nil || len(body) > 100<<10 {
				t.Errorf("got %d bytes, error %v", len(body), err)
			}
			if o := w.finished(1)[0].Outcome; o.Error != string(capability.LimitExceeded) || o.Status != 200 {
				t.Errorf("outcome: %+v", o)
			}
		})
		t.Run(fmt.Sprintf("a body of unknown length over its maximum h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, nil)
			reader := io.MultiReader(strings.NewReader(strings.Repeat("x", 64<<10)), strings.NewReader("y"))
			resp, err := w.client(h2).Post(w.url("/notes"), "application/json", reader)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != 413 {
				t.Errorf("got status %d, want 413", resp.StatusCode)
			}
			if got := w.denials(1)[0].Decision.Reason; got != capability.BodyTooLarge {
				t.Errorf("reason: %q", got)
			}
			for _, s := range w.tls.requests() {
				if strings.Contains(s.Body, "y") {
					t.Error("the byte over the maximum arrived")
				}
			}
		})
		t.Run(fmt.Sprintf("a body of unknown length at its maximum h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, nil)
			reader := io.MultiReader(strings.NewReader(strings.Repeat("x", 64<<10)))
			resp, err := w.client(h2).Post(w.url("/notes"), "application/json", reader)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if got := w.tls.requests(); resp.StatusCode != 200 || len(got) != 1 || len(got[0].Body) != 64<<10 {
				t.Errorf("got status %d, far side saw %d requests", resp.StatusCode, len(got))
			}
		})
	}
}
