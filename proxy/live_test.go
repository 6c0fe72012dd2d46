package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// twoLines makes the far side answer with one line and go on when it is told.
func twoLines(w *world) (more chan struct{}) {
	more = make(chan struct{})
	w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
		io.WriteString(rw, "first\n")
		rw.(http.Flusher).Flush()
		select {
		case <-more:
			io.WriteString(rw, "second\n")
		case <-r.Context().Done():
		}
	}
	return more
}

func TestRejudge(t *testing.T) {
	narrower := func(w *world, path string) []*capability.Grant {
		return []*capability.Grant{w.grant("allowed.example", allow(t, "GET", path))}
	}
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HP-21 SBX-13 streams, h2 %v", h2), func(t *testing.T) {
			w := newWorld(t, nil)
			more := twoLines(w)
			open := func(path string) *bufio.Reader {
				resp, err := w.client(h2).Get(w.url(path))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { resp.Body.Close() })
				br := bufio.NewReader(resp.Body)
				if line, _ := br.ReadString('\n'); line != "first\n" {
					t.Fatalf("control: got %q", line)
				}
				return br
			}
			kept, cut := open("/public/kept"), open("/public/cut")
			w.reload(narrower(w, "/public/kept"))
			w.proxy.Rejudge()
			begun := time.Now()
			if rest, err := io.ReadAll(cut); err == nil || len(rest) > 0 || time.Since(begun) > time.Second {
				t.Errorf("the stream that is not granted any more: %q, %v after %v", rest, err, time.Since(begun))
			}
			close(more)
			if rest, err := io.ReadAll(kept); err != nil || string(rest) != "second\n" {
				t.Errorf("the stream that is still granted: %q, %v", rest, err)
			}
			for _, r := range w.log.all() {
				if r.Request.Path.String() == "/public/cut" && (r.Outcome == nil || r.Outcome.Error != string(capability.PathNotGranted)) {
					t.Errorf("the outcome of the cut stream: %+v", r.Outcome)
				}
			}
		})
	}
	t.Run("HP-21 the next request of a connection", func(t *testing.T) {
		w := newWorld(t, nil)
		c := w.inside()
		br := bufio.NewReader(c)
		const request = "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"
		if status, _, err := w.exchange(c, br, request); status != 200 {
			t.Fatalf("control: got %d, %v", status, err)
		}
		w.forget()
		w.reload(narrower(w, "/other"))
		w.proxy.Rejudge()
		if status, _, err := w.exchange(c, br, request); status != 403 {
			t.Errorf("got %d, %v", status, err)
		}
		w.refused(capability.PathNotGranted)
	})
	t.Run("HP-21 connections to what is not granted any more", func(t *testing.T) {
		w := newWorld(t, nil)
		idle, tunnel, outside := w.inside(), w.dial(w.explicit), w.dial(w.explicit)
		if status, _ := w.say(tunnel, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 200 {
			t.Fatalf("control: got %d", status)
		}
		w.reload(nil)
		w.proxy.Rejudge()
		ended(t, idle)
		ended(t, tunnel)
		if status, _ := w.say(outside, "GET http://CLEAR/public/a HTTP/1.1\r\nHost: CLEAR\r\n\r\n"); status != 403 {
			t.Errorf("got %d", status)
		}
	})
	t.Run("HP-21 a request that waits for its answer", func(t *testing.T) {
		w := newWorld(t, nil)
		w.control()
		arrived := make(chan struct{})
		w.tls.handler = func(_ http.ResponseWriter, r *http.Request) {
			close(arrived)
			<-r.Context().Done()
		}
		go func() {
			<-arrived
			w.reload(narrower(w, "/other"))
			w.proxy.Rejudge()
		}()
		if status, _, _ := w.get(w.client(false), w.url("/public/a")); status != 403 {
			t.Errorf("got %d", status)
		}
		if got := w.denials(1)[0].Decision.Reason; got != capability.PathNotGranted {
			t.Errorf("got %s", got)
		}
	})
}
