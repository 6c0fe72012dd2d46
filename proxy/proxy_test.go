package proxy

import (
	"fmt"
	"io"
	"log"
	"testing"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestGet(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("transparent h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, nil)
			status, body, _ := w.get(w.client(h2), w.url("/public/a"))
			if status != 200 || body != "origin: GET /public/a" {
				t.Errorf("got %d %q", status, body)
			}
			seen := w.tls.requests()
			if len(seen) != 1 || seen[0].Host != fmt.Sprintf("allowed.example:%d", w.port) {
				t.Errorf("far side saw %+v", seen)
			}
		})
	}
}
