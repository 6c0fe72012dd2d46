package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// script is an upstream whose first answer is a lie, and every other one honest: the
// path that it was asked for.
func script(t *testing.T, lie string) netip.AddrPort {
	t.Helper()
	ln := listen(t, "127.0.0.1:0")
	go func() {
		for answers := []string{lie, "", ""}; ; answers[0] = "" {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go recite(c, slices.Clone(answers))
		}
	}()
	return netip.MustParseAddrPort(ln.Addr().String())
}

func recite(c net.Conn, answers []string) {
	defer c.Close()
	br := bufio.NewReader(c)
	for _, a := range answers {
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		if a == "" { // its own answer to each
			a = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(r.URL.Path), r.URL.Path)
		}
		if _, err := io.WriteString(c, a); err != nil {
			return
		}
	}
	io.Copy(io.Discard, br)
}

// TestHostileAnswers has an upstream lie about where its answers end. The client gets
// one answer for each request or a cut, never bytes of another.
func TestHostileAnswers(t *testing.T) {
	const stolen = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nSTOLEN"
	rows := []struct {
		name, method, answer string
		status               int // 0: cut
		absent               string
	}{
		{"101 that nobody asked for", "GET", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nRAW", 502, "RAW"},
		{"101 to another protocol", "GET", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\nConnection: Upgrade\r\n\r\nRAW", 502, "RAW"},
		{"informational answers come first", "GET", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 5) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "Link"},
		{"a flood of informational answers", "GET", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: <"+strings.Repeat("x", 1000)+">\r\n\r\n", 5000), 502, "xxx"},
		{"status 099", "GET", "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", 502, ""},
		{"a head without end", "GET", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 2000), 502, "xxx"},
		{"a body behind HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 51\r\n\r\n" + stolen, 200, "STOLEN"},
		{"a body behind 204", "GET", "HTTP/1.1 204 No Content\r\n\r\n" + stolen, 204, "STOLEN"},
		{"a body behind 304", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 51\r\n\r\n" + stolen, 304, "STOLEN"},
		{"more than its length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + stolen, 200, "STOLEN"},
		{"two lengths", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok" + stolen, 502, "STOLEN"},
		{"length and chunked", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200, "0\r\n"},
		{"an odd coding", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\nok", 502, ""},
		{"a broken chunk", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n", 0, "zz"},
		{"a chunk cut short", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok\r\n0\r\n\r\n", 0, ""},
		{"a line feed in a header", "GET", "HTTP/1.1 200 OK\r\nX-A: b\nSet-Cookie: c\r\nContent-Length: 2\r\n\r\nok", 200, "\n\n"},
		{"a carriage return in a header", "GET", "HTTP/1.1 200 OK\r\nX-A: b\rSet-Cookie: c\r\nContent-Length: 2\r\n\r\nok", 502, ""},
		{"NUL in a header", "GET", "HTTP/1.1 200 OK\r\nX-A: b\x00c\r\nContent-Length: 2\r\n\r\nok", 502, ""},
		{"not a header", "GET", "HTTP/1.1 200 OK\r\n: x\r\nContent-Length: 2\r\n\r\nok", 502, ""},
		{"HTTP/0.9", "GET", "<html>", 0, "html"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, nil, func(w *world) { w.config.Overrides[2].To = script(t, row.answer) })
			c := w.dial(fmt.Sprintf("%s:%d", good, w.cleart))
			br := bufio.NewReader(c)
			if row.status == 0 && row.name == "HTTP/0.9" { // without an end: only the client's patience ends it
				c.SetDeadline(time.Now().Add(300 * time.Millisecond))
				fmt.Fprintf(c, "GET /public/a HTTP/1.1\r\nHost: allowed.example:%d\r\n\r\n", w.cleart)
				if got, _ := io.ReadAll(c); strings.Contains(string(got), row.absent) {
					t.Errorf("got %q", got)
				}
				return
			}
			status, body, err := w.exchange(c, br, row.method+" /public/a HTTP/1.1\r\nHost: CLEAR\r\n\r\n")
			if row.status == 0 {
				if err == nil {
					t.Errorf("not cut: got %d %q", status, body)
				}
				return
			}
			if err != nil || status != row.status || row.absent != "" && strings.Contains(body, row.absent) {
				t.Fatalf("got %d %q, %v, want %d without %q", status, body, err, row.status, row.absent)
			}
			for _, path := range []string{"/public/b", "/public/c"} {
				status, body, err := w.exchange(c, br, "GET "+path+" HTTP/1.1\r\nHost: CLEAR\r\n\r\n")
				if err != nil { // a connection that was ended is a defined state
					return
				}
				if status != 200 || body != path {
					t.Errorf("%s: got %d %q", path, status, body)
				}
			}
		})
	}
}

// TestTrailersThatFrame: what describes a body, or a connection, does not come behind it.
func TestTrailersThatFrame(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n" +
		"Content-Length: 7\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nAlt-Svc: h3=\":1\"\r\nX-Sum: 1\r\n\r\n"
	w := newWorld(t, nil, func(w *world) { w.config.Overrides[2].To = script(t, answer) })
	resp, err := w.client(false).Get(w.clearURL("/public/a"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != "ok" || len(resp.Trailer) != 1 || resp.Trailer.Get("X-Sum") != "1" {
		t.Errorf("got %q, %v, trailers %v", body, err, resp.Trailer)
	}
}

// TestQuietStreams: USE-34, no short timer cuts an answer that is late, silent or slow,
// nor a request that is.
func TestQuietStreams(t *testing.T) {
	const silence = 700 * time.Millisecond
	limits := func(w *world) {
		w.config.Limits = Limits{Handshake: 300 * time.Millisecond, Header: 200 * time.Millisecond, Idle: 200 * time.Millisecond, Dial: 300 * time.Millisecond, Refused: 50 * time.Millisecond}
	}
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("USE-34 h2=%t", h2), func(t *testing.T) {
			w := newWorld(t, nil, limits)
			w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/public/late" {
					time.Sleep(silence)
				}
				fmt.Fprint(rw, "one ")
				rw.(http.Flusher).Flush()
				if r.URL.Path == "/public/quiet" {
					time.Sleep(silence)
				}
				if r.Method == "POST" {
					body, _ := io.ReadAll(r.Body)
					fmt.Fprintf(rw, "%d ", len(body))
				}
				fmt.Fprint(rw, "two")
			}
			c := w.client(h2)
			for _, path := range []string{"/public/late", "/public/quiet"} {
				if status, body, _ := w.get(c, w.url(path)); status != 200 || body != "one two" {
					t.Errorf("%s: got %d %q", path, status, body)
				}
			}
			from, to := io.Pipe()
			go func() {
				fmt.Fprint(to, "{")
				time.Sleep(silence)
				fmt.Fprint(to, "}")
				to.Close()
			}()
			resp, err := c.Post(w.url("/notes"), "application/json", from)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "one 2 two" {
				t.Errorf("a slow request: got %q, %v", body, err)
			}
		})
	}
}
