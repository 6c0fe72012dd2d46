package proxy

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

func limited(change func(*Limits)) option {
	return configured(func(c *Config) { change(&c.Limits) })
}

func TestLimitsOfHeads(t *testing.T) {
	fields := make(http.Header)
	for i := range 50 {
		fields.Set(fmt.Sprintf("X-Field-%d", i), "x")
	}
	for _, row := range []struct {
		name, target string
		header       http.Header
		status       int
		reason       capability.Reason
		limit        string
	}{
		{"the longest URL", "/public" + strings.Repeat("/aaaaaaa", 124) + "a", nil, 200, capability.Granted, ""},
		{"a longer URL", "/public" + strings.Repeat("/aaaaaaa", 124) + "aa", nil, 414, capability.MalformedPath, limitURL},
		{"as many pairs as may be", "/public/a?" + strings.Repeat("a=b&", 3) + "a=b", nil, 403, capability.QueryNotGranted, ""},
		{"more pairs", "/public/a?" + strings.Repeat("a=b&", 4) + "a=b", nil, 414, capability.MalformedQuery, limitQuery},
		{"more fields", "/public/a", fields, 431, capability.MalformedRequest, limitHeaderCount},
		{"longer fields", "/public/a", http.Header{"X-Long": {strings.Repeat("x", 9<<10)}}, 431, capability.MalformedRequest, limitHeaderBytes},
	} {
		for _, h2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, h2 %v", row.name, h2), func(t *testing.T) {
				w := newWorld(t, nil, limited(func(l *Limits) { l.URLBytes, l.QueryPairs, l.HeaderCount, l.HeaderBytes = 1000, 4, 40, 8<<10 }))
				req, err := http.NewRequest("GET", w.url(row.target), nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header = row.header.Clone()
				resp, err := w.client(h2).Do(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if resp.StatusCode != row.status {
					t.Errorf("got %d, want %d", resp.StatusCode, row.status)
				}
				if row.reason == capability.Granted {
					return
				}
				w.refused(row.reason)
				if got := w.denials(1)[0].Request.Limit; got != row.limit {
					t.Errorf("the record names the limit %q, want %q", got, row.limit)
				}
			})
		}
	}
}

// dripping is a body that gives one byte now and then, and stops at stop.
type dripping struct {
	every time.Duration
	stop  chan struct{}
}

func (d dripping) Read(b []byte) (int, error) {
	select {
	case <-time.After(d.every):
		b[0] = ' '
		return 1, nil
	case <-d.stop:
		return 0, io.EOF
	}
}

func TestSlowBodies(t *testing.T) {
	for name, every := range map[string]time.Duration{"a body that stops": time.Hour, "a body that drips": 60 * time.Millisecond} {
		for _, h2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, h2 %v", name, h2), func(t *testing.T) {
				w := newWorld(t, nil, limited(func(l *Limits) { l.BodyTime, l.BodyRate = 400*time.Millisecond, 100 }))
				w.control()
				stop := make(chan struct{})
				req, err := http.NewRequest("POST", w.url("/notes"), dripping{every, stop})
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				begun := time.Now()
				resp, err := w.client(h2).Do(req)
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(begun)
				close(stop)
				resp.Body.Close()
				if resp.StatusCode != 408 || took > 3*time.Second {
					t.Errorf("got %d after %v, want 408", resp.StatusCode, took)
				}
				if d := w.denials(1)[0]; d.Decision.Reason != capability.TooSlow || d.Request.Limit != limitBody {
					t.Errorf("got %s for %q", d.Decision.Reason, d.Request.Limit)
				}
			})
		}
	}
}

func TestSilentStreams(t *testing.T) {
	limits := limited(func(l *Limits) {
		l.BodyTime, l.Header, l.Idle, l.Handshake = 200*time.Millisecond, 200*time.Millisecond, 200*time.Millisecond, time.Second
	})
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("USE-34 a silent answer, h2 %v", h2), func(t *testing.T) {
			w := newWorld(t, nil, limits)
			more := twoLines(w)
			time.AfterFunc(time.Second, func() { close(more) })
			if status, body, _ := w.get(w.client(h2), w.url("/public/a")); status != 200 || body != "first\nsecond\n" {
				t.Errorf("got %d %q", status, body)
			}
		})
	}
	t.Run("USE-34 a silent body once there is an answer", func(t *testing.T) {
		w := newWorld(t, nil, limits)
		w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
			rw.WriteHeader(200)
			rw.(http.Flusher).Flush()
			n, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprint(rw, n)
		}
		from, to := io.Pipe()
		req, err := http.NewRequest("POST", w.url("/notes"), from)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := w.client(true).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.AfterFunc(time.Second, func() { io.WriteString(to, "{}"); to.Close() })
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "2" {
			t.Errorf("got %q, %v", body, err)
		}
	})
	t.Run("an upstream that takes its time is no slow client", func(t *testing.T) {
		w := newWorld(t, func(w *world) []*capability.Grant {
			return []*capability.Grant{w.grant("allowed.example", withBody(allow(t, "POST", "/large"), "application/octet-stream", 64<<20))}
		}, limits)
		w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			n, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprint(rw, n)
		}
		resp, err := w.client(false).Post(w.url("/large"), "application/octet-stream", strings.NewReader(strings.Repeat("x", 32<<20)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 || string(body) != fmt.Sprint(32<<20) {
			t.Errorf("got %d %q", resp.StatusCode, body)
		}
	})
}

func TestRequestTime(t *testing.T) {
	w := newWorld(t, nil, limited(func(l *Limits) { l.Request = 300 * time.Millisecond }))
	w.control()
	w.tls.handler = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	if status, _, _ := w.get(w.client(false), w.url("/public/a")); status != 408 {
		t.Errorf("got %d, want 408", status)
	}
	if d := w.denials(1)[0]; d.Decision.Reason != capability.TooSlow || d.Request.Limit != limitRequest {
		t.Errorf("got %s for %q", d.Decision.Reason, d.Request.Limit)
	}
}

// TestHandshakeRate: a handshake over the rate ends with an alert.
func TestHandshakeRate(t *testing.T) {
	for _, explicit := range []bool{false, true} {
		t.Run(fmt.Sprintf("explicit %v", explicit), func(t *testing.T) {
			w := newWorld(t, nil, limited(func(l *Limits) { l.Handshakes = capability.Rate{Requests: 2, Per: time.Hour} }))
			shake := func() error {
				c := w.dial(fmt.Sprintf("%s:%d", good, w.port))
				if explicit {
					c = w.dial(w.explicit)
					if status, _ := w.say(c, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 200 {
						t.Fatalf("CONNECT: got %d", status)
					}
				}
				inner := tls.Client(c, &tls.Config{RootCAs: w.roots, ServerName: "allowed.example"})
				return inner.Handshake()
			}
			for range 2 {
				if err := shake(); err != nil {
					t.Fatal(err)
				}
			}
			wantAlert(t, shake())
			if d := w.denials(1)[0]; d.Decision.Reason != capability.LimitExceeded || d.Request.Limit != limitHandshakes || d.Request.Host != "allowed.example" {
				t.Errorf("got %s for %q at %q", d.Decision.Reason, d.Request.Limit, d.Request.Host)
			}
			w.untouched()
		})
	}
}
