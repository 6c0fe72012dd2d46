package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestAnswerBeforeBody: an origin that answers without reading what was sent has
// answered.
func TestAnswerBeforeBody(t *testing.T) {
	w := newWorld(t, nil)
	w.tls.handler = func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "fine") }
	for _, h2 := range []bool{true, false} {
		c := w.client(h2)
		for i := range 300 {
			resp, err := c.Post(w.url("/notes"), "application/json", strings.NewReader(`{"operation":"download"}`))
			if err != nil {
				t.Fatalf("h2 %t, %d: %v", h2, i, err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK || string(body) != "fine" {
				t.Fatalf("h2 %t, %d: %d %q %v", h2, i, resp.StatusCode, body, err)
			}
		}
	}
}
