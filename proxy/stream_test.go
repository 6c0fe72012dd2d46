package proxy

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// streaming grants a large upload and any download.
func streaming(w *world) []*capability.Grant {
	return []*capability.Grant{w.grant("allowed.example",
		allow(w.t, "GET HEAD", "/public/{rest...}"),
		withBody(allow(w.t, "PUT POST", "/large"), "application/octet-stream", 1<<30))}
}

// noise yields n bytes and hashes them on the way.
type noise struct {
	left int64
	sum  hash.Hash
	fill byte
}

func newNoise(n int64) *noise { return &noise{left: n, sum: sha256.New()} }

func (r *noise) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), r.left))
	for i := 0; i < n; i += 512 {
		b[i], r.fill = r.fill, r.fill+1
	}
	r.left -= int64(n)
	r.sum.Write(b[:n])
	return n, nil
}

func (r *noise) digest() string { return hex.EncodeToString(r.sum.Sum(nil)) }

// peak samples the heap until stop is called and returns its greatest size.
func peak() (stop func() uint64) {
	// What the tests before have left is not this one's.
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				result <- most
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc-min(m.HeapAlloc, before.HeapAlloc))
			}
		}
	}()
	return func() uint64 { close(done); return <-result }
}

func TestLargeBodies(t *testing.T) {
	const size, bound = 256 << 20, 64 << 20
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("256 MiB down h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, streaming)
			sent := newNoise(size)
			w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Length", fmt.Sprint(size))
				io.Copy(rw, sent)
			}
			stop := peak()
			resp, err := w.client(h2).Get(w.url("/public/a"))
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.New()
			n, err := io.Copy(sum, resp.Body)
			if err != nil || n != size || hex.EncodeToString(sum.Sum(nil)) != sent.digest() {
				t.Errorf("got %d bytes, error %v", n, err)
			}
			if most := stop(); most > bound {
				t.Errorf("the heap grew to %d MiB", most>>20)
			}
			if o := w.finished(1)[0].Outcome; o.Received < size || o.Error != "" {
				t.Errorf("outcome: %+v", o)
			}
		})
		t.Run(fmt.Sprintf("256 MiB up h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, streaming)
			sum := sha256.New()
			w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
				n, _ := io.Copy(sum, r.Body)
				fmt.Fprint(rw, n)
			}
			stop := peak()
			from := newNoise(size)
			req, _ := http.NewRequest("PUT", w.url("/large"), io.NopCloser(from))
			req.ContentLength = size
			req.Header.Set("Content-Type", "application/octet-stream")
			resp, err := w.client(h2).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			if string(body) != fmt.Sprint(size) || hex.EncodeToString(sum.Sum(nil)) != from.digest() {
				t.Errorf("the far side got %s bytes", body)
			}
			if most := stop(); most > bound {
				t.Errorf("the heap grew to %d MiB", most>>20)
			}
		})
	}
}

func TestEventStream(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("USE-06 each event at once h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, nil)
			next := make(chan string)
			w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", "text/event-stream")
				rw.WriteHeader(200)
				rw.(http.Flusher).Flush()
				for event := range next {
					fmt.Fprintf(rw, "data: %s\n\n", event)
					rw.(http.Flusher).Flush()
				}
			}
			begun := time.Now()
			resp, err := w.client(h2).Get(w.url("/public/events"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if took := time.Since(begun); took > time.Second {
				t.Errorf("the head took %v", took)
			}
			lines := bufio.NewReader(resp.Body)
			for i := range 5 {
				begun := time.Now()
				next <- fmt.Sprint(i)
				line, err := lines.ReadString('\n')
				if took := time.Since(begun); err != nil || line != fmt.Sprintf("data: %d\n", i) || took > 100*time.Millisecond {
					t.Fatalf("got %q after %v, %v", line, took, err)
				}
				lines.ReadString('\n')
			}
			close(next)
		})
	}
}

func TestExpect(t *testing.T) {
	w := newWorld(t, nil)
	post := func(path string) (*http.Response, bool) {
		read := false
		req, _ := http.NewRequest("POST", w.url(path), readNoting{strings.NewReader("{}"), &read})
		req.ContentLength = 2
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Expect", "100-continue")
		c := w.client(false)
		c.Transport.(*http.Transport).ExpectContinueTimeout = 5 * time.Second
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp, read
	}
	if resp, read := post("/notes"); resp.StatusCode != 200 || !read {
		t.Errorf("granted: got %d, body read %t", resp.StatusCode, read)
	}
	w.forget()
	if resp, read := post("/secret"); resp.StatusCode != 403 || read {
		t.Errorf("denied: got %d, body read %t", resp.StatusCode, read)
	}
	w.refused(capability.PathNotGranted)
}

type readNoting struct {
	io.Reader
	read *bool
}

func (r readNoting) Read(b []byte) (int, error) { *r.read = true; return r.Reader.Read(b) }

func TestEarlyAnswer(t *testing.T) {
	t.Run("HP-20 an answer before the body leaves a defined state", func(t *testing.T) {
		w := newWorld(t, streaming)
		w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == "POST" {
				rw.WriteHeader(401)
				return
			}
			fmt.Fprint(rw, "fine")
		}
		c := w.inside()
		br := bufio.NewReader(c)
		status, _, err := w.exchange(c, br, "POST /large HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/octet-stream\r\nContent-Length: 100000\r\n\r\n")
		if status != 401 {
			t.Fatalf("got %d, %v", status, err)
		}
		status, body, err := w.exchange(c, br, strings.Repeat("x", 100000)+"GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n")
		if err == nil && (status != 200 || body != "fine") {
			t.Errorf("next request: got %d %q", status, body)
		}
		if got := len(w.tls.requests()); err != nil && got != 1 {
			t.Errorf("the far side saw %d requests", got)
		}
	})
}

func TestDuplex(t *testing.T) {
	t.Run("both directions at once over h2", func(t *testing.T) {
		w := newWorld(t, streaming)
		w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
			rw.WriteHeader(200)
			rw.(http.Flusher).Flush()
			lines := bufio.NewReader(r.Body)
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				fmt.Fprint(rw, "echo "+line)
				rw.(http.Flusher).Flush()
			}
		}
		pr, pw := io.Pipe()
		req, _ := http.NewRequest("POST", w.url("/large"), pr)
		req.Header.Set("Content-Type", "application/octet-stream")
		resp, err := w.client(true).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(resp.Body)
		for i := range 3 {
			fmt.Fprintf(pw, "%d\n", i)
			if line, err := lines.ReadString('\n'); line != fmt.Sprintf("echo %d\n", i) {
				t.Fatalf("got %q, %v", line, err)
			}
		}
		pw.Close()
		if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
			t.Errorf("got %q, %v", rest, err)
		}
	})
}

func TestConcurrentStreams(t *testing.T) {
	t.Run("HP-21 each h2 stream is judged alone", func(t *testing.T) {
		w := newWorld(t, nil)
		cc := w.h2Conn()
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				path, want := fmt.Sprintf("/public/%d", i), 200
				if i%3 == 0 {
					path, want = fmt.Sprintf("/secret/%d", i), 403
				}
				resp, err := h2Path(w, cc, path)
				if err != nil {
					t.Error(err)
					return
				}
				body, _ := io.ReadAll(resp.Body)
				if resp.StatusCode != want || want == 200 && string(body) != "origin: GET "+path {
					t.Errorf("%s: got %d %s", path, resp.StatusCode, body)
				}
			})
		}
		wg.Wait()
		w.denials(20)
		for _, s := range w.tls.requests() {
			if strings.HasPrefix(s.URI, "/secret") {
				t.Errorf("%s arrived", s.URI)
			}
		}
	})
}

func TestUpstreamHTTP1(t *testing.T) {
	t.Run("USE-09 many requests on one connection, h1 on both legs", func(t *testing.T) {
		w := newWorld(t, nil)
		c := w.client(false)
		for i := range 50 {
			if status, body, _ := w.get(c, w.clearURL(fmt.Sprintf("/public/%d", i))); status != 200 || body != fmt.Sprintf("origin: GET /public/%d", i) {
				t.Fatalf("request %d: got %d %q", i, status, body)
			}
		}
		if n := w.plain.dials.Load(); n != 1 {
			t.Errorf("%d connections upstream, want 1", n)
		}
		if got := w.plain.requests()[0].Proto; got != "HTTP/1.1" {
			t.Errorf("upstream spoke %s", got)
		}
	})
}

func TestKeepAliveWithBodies(t *testing.T) {
	t.Run("USE-09 bodies, known and chunked, on one connection", func(t *testing.T) {
		w := newWorld(t, nil)
		c := w.inside()
		br := bufio.NewReader(c)
		const post = "POST /notes HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
		for i := range 20 {
			send := post + "Content-Length: 2\r\n\r\n{}"
			if i%2 == 1 {
				send = post + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
			}
			if status, _, err := w.exchange(c, br, send); status != 200 {
				t.Fatalf("request %d: got %d, %v", i, status, err)
			}
		}
		for _, s := range w.tls.requests() {
			if s.Body != "{}" {
				t.Errorf("far side saw %+v", s)
			}
		}
	})
}

func TestClientGone(t *testing.T) {
	t.Run("the upstream request ends with the client", func(t *testing.T) {
		w := newWorld(t, nil)
		began, ended := make(chan struct{}), make(chan struct{})
		w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
			close(began)
			<-r.Context().Done()
			close(ended)
		}
		c := w.inside()
		fmt.Fprintf(c, "GET /public/a HTTP/1.1\r\nHost: allowed.example:%d\r\n\r\n", w.port)
		<-began
		c.Close()
		select {
		case <-ended:
		case <-time.After(3 * time.Second):
			t.Error("the upstream request went on")
		}
		if o := w.finished(1)[0].Outcome; o.Error != errClientGone {
			t.Errorf("outcome: %+v", o)
		}
	})
}

func TestUpstreamBreaksOff(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("the client sees the cut h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, nil)
			w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
				fmt.Fprint(rw, "half")
				rw.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			resp, err := w.client(h2).Get(w.url("/public/a"))
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(resp.Body); err == nil {
				t.Errorf("got %q and no error", body)
			}
			if o := w.finished(1)[0].Outcome; o.Error != errUpstreamBroken {
				t.Errorf("outcome: %+v", o)
			}
		})
	}
}
