package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestFinder: in pieces of every size, at every place.
func TestFinder(t *testing.T) {
	for size := 1; size < 40; size++ {
		for at := range 40 {
			for text, want := range map[string]bool{held: true, held[:len(held)-1]: false, held[1:]: false} {
				f := finder{texts: []string{held, "another-placeholder-that-is-longer"}}
				body := []byte(strings.Repeat("x", at) + text + strings.Repeat("z", 20))
				for len(body) > 0 {
					n := min(size, len(body))
					f.look(body[:n])
					body = body[n:]
				}
				if f.found.Load() != want {
					t.Fatalf("%q at %d in pieces of %d: found %t", text, at, size, !want)
				}
			}
		}
	}
}

// TestPlaceholderInBody: CRED-15, it is left alone, and on record.
func TestPlaceholderInBody(t *testing.T) {
	for _, h2 := range []bool{true, false} {
		w, _ := boundWorld(t)
		for i, body := range []string{`{"a":1}`, fmt.Sprintf(`{"a":%q}`, held)} {
			resp, err := w.client(h2).Post(w.url("/v1/messages"), "application/json", strings.NewReader(body))
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%v %v", resp, err)
			}
			resp.Body.Close()
			if got := w.tls.requests()[i]; got.Body != body || got.Header.Get("X-Api-Key") != "llm"+real {
				t.Errorf("the far side received %+v", got)
			}
			if o := w.finished(i + 1)[i].Outcome; o.Placeholder != (i == 1) {
				t.Errorf("recorded %+v", o)
			}
		}
	}
}
