package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"scupper.dev/scupper/capability"
)

// shouting grants bodies without "secret" and writes them anew in capitals.
type shouting struct{}

func (shouting) Inspect(body []byte) ([]byte, error) {
	if bytes.Contains(body, []byte("secret")) {
		return nil, errors.New("not granted")
	}
	return bytes.ToUpper(body), nil
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

func TestInspection(t *testing.T) {
	grants := func(w *world) []*capability.Grant {
		a := withBody(allow(t, "POST", "/notes"), "application/json", 1000)
		a.Body.Inspector, a.Body.Coding = shouting{}, "gzip"
		return []*capability.Grant{w.grant("allowed.example", a)}
	}
	rows := []struct {
		name, coding, body string
		status             int
		reason             capability.Reason // empty: allowed
	}{
		{"written anew", "", "hello", 200, ""},
		{"written anew from gzip", "gzip", zipped("hello"), 200, ""},
		{"refused", "", "a secret", 403, capability.BodyNotGranted},
		{"refused inside gzip", "gzip", zipped("a secret"), 403, capability.BodyNotGranted},
		{"a second gzip member", "gzip", zipped("hello") + zipped("a secret"), 403, capability.BodyNotGranted},
		{"no gzip", "gzip", "hello", 403, capability.BodyNotGranted},
		{"a bomb", "gzip", zipped(strings.Repeat("x", 64<<10)), 413, capability.BodyTooLarge},
	}
	for _, row := range rows {
		for _, h2 := range []bool{false, true} {
			for _, known := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s h2=%t length=%t", row.name, h2, known), func(t *testing.T) {
					if row.name == "a bomb" && known && len(row.body) > 1000 {
						t.Fatal("the bomb is not packed well enough")
					}
					w := newWorld(t, grants)
					req, _ := http.NewRequest("POST", w.url("/notes"), strings.NewReader(row.body))
					if !known {
						req.ContentLength = -1
					}
					req.Header.Set("Content-Type", "application/json")
					if row.coding != "" {
						req.Header.Set("Content-Encoding", row.coding)
					}
					resp, err := w.client(h2).Do(req)
					if err != nil {
						t.Fatal(err)
					}
					resp.Body.Close()
					if resp.StatusCode != row.status {
						t.Errorf("got status %d, want %d", resp.StatusCode, row.status)
					}
					if row.reason != "" {
						w.refused(row.reason)
						w.finished(1)
						return
					}
					if got := w.tls.requests()[0]; got.Body != "HELLO" || got.Header.Get("Content-Encoding") != "" || got.Header.Get("Content-Length") != "5" {
						t.Errorf("far side saw %+v", got)
					}
				})
			}
		}
	}
}

// busy counts how many of its calls go on at once.
type busy struct{ now, most *atomic.Int64 }

func (b busy) Inspect(body []byte) ([]byte, error) {
	n := b.now.Add(1)
	defer b.now.Add(-1)
	for most := b.most.Load(); n > most && !b.most.CompareAndSwap(most, n); most = b.most.Load() {
	}
	for range 1000 {
		runtime.Gosched() // others would come in here
	}
	return body, nil
}

// TestInspectorsTakeTurns: however many bodies come, no more are inspected at once than
// there are processors.
func TestInspectorsTakeTurns(t *testing.T) {
	inspector := busy{new(atomic.Int64), new(atomic.Int64)}
	w := newWorld(t, func(w *world) []*capability.Grant {
		a := withBody(allow(t, "POST", "/notes"), "application/json", 1000)
		a.Body.Inspector = inspector
		return []*capability.Grant{w.grant("allowed.example", a)}
	})
	var all errgroup.Group
	client := w.client(true)
	for range 30 {
		all.Go(func() error {
			resp, err := client.Post(w.url("/notes"), "application/json", strings.NewReader("{}"))
			if err != nil {
				return err
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				return fmt.Errorf("status %d", resp.StatusCode)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if most := inspector.most.Load(); most < 1 || most > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d at once, with %d processors", most, runtime.GOMAXPROCS(0))
	}
}
