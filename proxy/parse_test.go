package proxy

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"scupper.dev/scupper/capability"
)

func TestMalformedFraming(t *testing.T) {
	const post = "POST /notes HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
	rows := []struct{ name, send string }{
		{"HP-01 length and chunked", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"HP-01 chunked and length", post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"},
		{"HP-02 two lengths", post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"},
		{"HP-02 list of lengths", post + "Content-Length: 2, 2\r\n\r\n{}"},
		{"HP-02 signed length", post + "Content-Length: +2\r\n\r\n{}"},
		{"HP-03 comma", post + "Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n"},
		{"HP-03 two codings", post + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"},
		{"HP-03 identity", post + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}"},
		{"HP-03 twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"HP-04 bare LF", "GET /public/a HTTP/1.1\r\nHost: HOST\r\nX-A: b\nX-Hidden: c\r\n\r\n"},
		{"HP-04 bare CR", "GET /public/a HTTP/1.1\r\nHost: HOST\r\nX-A: b\rX-Hidden: c\r\n\r\n"},
		{"HP-07 folded", "GET /public/a HTTP/1.1\r\nHost: HOST\r\nX-A: b\r\n c\r\n\r\n"},
		{"HP-08 space before colon", post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"},
		{"HP-23 no colon", "GET /public/a HTTP/1.1\r\nHost: HOST\r\nnonsense\r\n\r\n"},
		{"HP-24 version", "GET /public/a HTTP/1.32\r\nHost: HOST\r\n\r\n"},
		{"HP-24 no version", "GET /public/a\r\nHost: HOST\r\n\r\n"},
		{"HP-24 two spaces", "GET  /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
		{"no Host", "GET /public/a HTTP/1.1\r\n\r\n"},
	}
	each(t, everyWay(), func(t *testing.T, by option) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				w := newWorld(t, nil, by)
				w.control()
				c := w.inside()
				if status, _ := w.say(c, row.send); status != 400 {
					t.Errorf("got status %d, want 400", status)
				}
				ended(t, c)
				w.refused(capability.MalformedRequest)
				if got := w.denials(1)[0].Request.Excerpt; len(got) < 4 || len(got) > 4*128+2 || strings.ContainsAny(got, "\r\n\x00") {
					t.Errorf("AUD-09 the record shows %q", got)
				}
			})
		}
	})
}

func TestMalformedChunks(t *testing.T) {
	const post = "POST /notes HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	rows := []struct{ name, send string }{
		{"HP-05 bare LF after the size", "2\n{}\r\n0\r\n\r\n"},
		{"HP-06 long extension", "2;" + strings.Repeat("x", 1<<16) + "\r\n{}\r\n0\r\n\r\n"},
		{"HP-06 CR in extension", "2;a\rb\r\n{}\r\n0\r\n\r\n"},
		{"size with sign", "+2\r\n{}\r\n0\r\n\r\n"},
		{"size with 0x", "0x2\r\n{}\r\n0\r\n\r\n"},
		{"data longer than its size", "2\r\n{}}\r\n0\r\n\r\n"},
		{"HP-16 trailer without colon", "2\r\n{}\r\n0\r\nnonsense\r\n\r\n"},
	}
	each(t, everyWay(), func(t *testing.T, by option) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				w := newWorld(t, nil, by)
				c := w.inside()
				if status, _ := w.say(c, post+row.send); status != 400 {
					t.Errorf("got status %d, want 400", status)
				}
				ended(t, c)
				w.refused(capability.MalformedRequest)
			})
			t.Run(row.name+", later than the head", func(t *testing.T) {
				w := newWorld(t, nil, by)
				c := w.inside()
				if _, err := io.WriteString(c, w.filled(post+"2\r\n{}\r\n")); err != nil {
					t.Fatal(err)
				}
				w.begun(1)
				if status, _ := w.say(c, row.send); status != 400 {
					t.Errorf("got status %d, want 400", status)
				}
				ended(t, c)
				if got := w.denials(1)[0].Decision.Reason; got != capability.MalformedRequest {
					t.Errorf("reason: got %q", got)
				}
				if o := w.requestsFinished(1)[0].Outcome; o.Error != string(capability.MalformedRequest) {
					t.Errorf("outcome: %+v", o)
				}
			})
		}
		t.Run("HP-16 trailers are dropped", func(t *testing.T) {
			w := newWorld(t, nil, by)
			status, _ := w.say(w.inside(), post+"2;ext=1\r\n{}\r\n0\r\nX-Trailer: x\r\nContent-Length: 5\r\n\r\n")
			if status != 200 {
				t.Fatalf("got status %d, want 200", status)
			}
			if got := w.far().requests()[0]; got.Body != "{}" || len(got.Header["X-Trailer"]) > 0 || len(got.Header["Trailer"]) > 0 {
				t.Errorf("far side saw %+v", got)
			}
		})
	})
}

func TestPipelining(t *testing.T) {
	each(t, everyWay(), func(t *testing.T, by option) {
		t.Run("HP-09 forbidden request behind an allowed one", func(t *testing.T) {
			w := newWorld(t, nil, by)
			c := w.inside()
			br := bufio.NewReader(c)
			both := "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\nPOST /secret HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\n\r\nhello"
			if status, _, err := w.exchange(c, br, both); status != 200 {
				t.Fatalf("first: got %d, %v", status, err)
			}
			resp, err := http.ReadResponse(br, nil)
			if err != nil || resp.StatusCode != 403 {
				t.Fatalf("second: got %+v, %v", resp, err)
			}
			if got := w.far().requests(); len(got) != 1 || got[0].URI != "/public/a" {
				t.Errorf("far side saw %+v", got)
			}
			w.denials(1)
		})
		t.Run("HP-09 malformed request behind an allowed one is answered in its turn", func(t *testing.T) {
			w := newWorld(t, nil, by)
			c := w.inside()
			br := bufio.NewReader(c)
			if status, body, err := w.exchange(c, br, "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\nGET /public/b HTTP/1.1\nHost: HOST\r\n\r\n"); status != 200 {
				t.Fatalf("first: got %d %s, %v", status, body, err)
			}
			resp, err := http.ReadResponse(br, nil)
			if err != nil || resp.StatusCode != 400 {
				t.Fatalf("second: got %+v, %v", resp, err)
			}
			if got := w.denials(1)[0]; got.Decision.Reason != capability.MalformedRequest || !strings.Contains(got.Request.Excerpt, "/public/b HTTP/1.1") {
				t.Errorf("record: %+v", got)
			}
		})
		t.Run("HP-21 every request of a connection, by the policy of its time", func(t *testing.T) {
			w := newWorld(t, nil, by)
			c := w.inside()
			br := bufio.NewReader(c)
			for _, step := range []struct {
				send   string
				status int
			}{
				{"GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n", 200},
				{"DELETE /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n", 403},
				{"GET /public/b HTTP/1.1\r\nHost: HOST\r\n\r\n", 200},
			} {
				if status, _, err := w.exchange(c, br, step.send); status != step.status {
					t.Fatalf("%s: got %d, %v", step.send, status, err)
				}
			}
			w.reload(nil)
			if status, _, err := w.exchange(c, br, "GET /public/c HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 403 {
				t.Errorf("after reload: got %d, %v", status, err)
			}
			if got := len(w.far().requests()); got != 2 {
				t.Errorf("far side saw %d requests, want 2", got)
			}
		})
	})
}

func TestHeaders(t *testing.T) {
	each(t, everyWay(), func(t *testing.T, by option) {
		send := func(t *testing.T, w *world, header string) (int, http.Header) {
			t.Helper()
			status, _ := w.say(w.inside(), "GET /public/a HTTP/1.1\r\nHost: HOST\r\n"+header+"\r\n")
			if got := w.far().requests(); len(got) > 0 {
				return status, got[0].Header
			}
			return status, nil
		}
		t.Run("HP-14 headers cannot be nominated away", func(t *testing.T) {
			w := newWorld(t, func(w *world) []*capability.Grant {
				a := allow(t, "GET", "/public/{rest...}")
				a.Headers = []capability.HeaderRule{{Name: "X-Policy-Tag", Value: capability.Literal("set")}}
				return []*capability.Grant{w.grant("allowed.example", a), w.clear("allowed.example", a)}
			}, by)
			status, h := send(t, w, "Connection: close, X-Policy-Tag, User-Agent, Host, Accept\r\nAccept: text/html\r\n")
			if status != 200 || h.Get("X-Policy-Tag") != "set" || h.Get("User-Agent") != capability.UserAgent || h.Get("Accept") != "" {
				t.Errorf("got %d %v", status, h)
			}
		})
		t.Run("HP-14 nor can a credential", func(t *testing.T) {
			w := newWorld(t, nil, by)
			if status, _ := send(t, w, "Connection: Authorization\r\nAuthorization: Bearer x\r\n"); status != 403 {
				t.Errorf("got %d, want 403", status)
			}
			w.refused(capability.ForeignCredential)
		})
		t.Run("PATH-10 method override", func(t *testing.T) {
			for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} {
				w := newWorld(t, nil, by)
				w.control()
				if status, _ := send(t, w, name+": DELETE\r\n"); status != 403 {
					t.Errorf("%s: got %d, want 403", name, status)
				}
				w.refused(capability.MethodOverride)
			}
		})
		t.Run("HP-12 h2c is ignored", func(t *testing.T) {
			w := newWorld(t, nil, by)
			status, h := send(t, w, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n")
			if status != 200 || len(h["Upgrade"])+len(h["Http2-Settings"]) > 0 {
				t.Errorf("got %d %v", status, h)
			}
		})
		t.Run("HP-13 other upgrades are refused", func(t *testing.T) {
			w := newWorld(t, nil, by)
			if status, _ := send(t, w, "Connection: Upgrade\r\nUpgrade: foo\r\n"); status != 403 {
				t.Errorf("got %d, want 403", status)
			}
			w.refused(capability.ProtocolNotGranted)
		})
		t.Run("TRACE", func(t *testing.T) {
			w := newWorld(t, nil, by)
			if status, _ := w.say(w.inside(), "TRACE /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 403 {
				t.Errorf("got %d, want 403", status)
			}
			w.refused(capability.ProtocolNotGranted)
		})
		t.Run("OPTIONS *", func(t *testing.T) {
			w := newWorld(t, nil, by)
			if status, _ := w.say(w.inside(), "OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 400 {
				t.Errorf("got %d, want 400", status)
			}
			w.refused(capability.MalformedPath)
		})
		t.Run("proxy credentials are for us", func(t *testing.T) {
			w := newWorld(t, nil, by)
			status, _ := w.say(w.dial(w.explicit), "GET http://CLEAR/public/a HTTP/1.1\r\nHost: CLEAR\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\n\r\n")
			if status != 200 {
				t.Fatalf("got %d, want 200", status)
			}
			for name := range w.plain.requests()[0].Header {
				if strings.HasPrefix(name, "Proxy-") {
					t.Errorf("%s went upstream", name)
				}
			}
		})
		t.Run("USE-33 large headers", func(t *testing.T) {
			w := newWorld(t, nil, by)
			if status, _ := send(t, w, "X-Large: "+strings.Repeat("x", 32<<10)+"\r\n"); status != 200 {
				t.Errorf("32 KiB: got %d, want 200", status)
			}
			w.forget()
			if status, _ := send(t, w, "X-Large: "+strings.Repeat("x", 2<<20)+"\r\n"); status != 431 {
				t.Errorf("2 MiB: got %d, want 431", status)
			}
			w.refused(capability.MalformedRequest)
		})
		t.Run("content type twice", func(t *testing.T) {
			w := newWorld(t, nil, by)
			status, _ := w.say(w.inside(), "POST /notes HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}")
			if status != 400 {
				t.Errorf("got %d, want 400", status)
			}
			w.refused(capability.MalformedRequest)
		})
		t.Run("a head that never ends", func(t *testing.T) {
			w := newWorld(t, nil, by)
			c := w.inside()
			if status, _ := w.say(c, "GET /public/a HTTP/1.1\r\nHost: x\r\n"); status != 408 {
				t.Errorf("got %d, want 408", status)
			}
			ended(t, c)
			w.refused(capability.TooSlow)
		})
	})
}

// FuzzStream: what stream delivers of any bytes is either the same bytes or the
// substitute behind a prefix of them, and every head it delivers has one reading for
// net/http too.
func FuzzStream(f *testing.F) {
	p := &Proxy{cfg: Config{Limits: Limits{}.withDefaults()}}
	f.Fuzz(func(t *testing.T, sent []byte, slow bool) {
		var from io.Reader = bytes.NewReader(sent)
		if slow {
			from = iotest.OneByteReader(from)
		}
		s := &stream{Conn: readConn{from: from}, link: &link{front: &front{p: p}, scheme: capability.HTTP}}
		got, _ := io.ReadAll(s)
		if s.bad.Load() != nil {
			var cut bool
			if got, cut = bytes.CutSuffix(got, []byte(substitute)); !cut {
				t.Fatalf("no substitute at the end of %q", got)
			}
		}
		if !bytes.HasPrefix(sent, got) {
			t.Fatalf("delivered %q of %q", got, sent)
		}
		br := bufio.NewReader(bytes.NewReader(got))
		for s.phase != inTunnel {
			req, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			if len(req.TransferEncoding) > 0 && len(req.Header["Content-Length"]) > 0 {
				t.Fatalf("two lengths in %q", got)
			}
			io.Copy(io.Discard, req.Body)
		}
	})
}

// readConn is a connection that only reads.
type readConn struct {
	net.Conn
	from io.Reader
}

func (c readConn) Read(b []byte) (int, error) { return c.from.Read(b) }

func (readConn) SetReadDeadline(time.Time) error { return nil }
