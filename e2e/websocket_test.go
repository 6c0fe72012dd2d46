package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/websocket"
)

// liveAPI grants a WebSocket at one path, a plain GET at another, and both to nobody
// else.
const liveAPI = `version = 1

grant "live" {
  reason     = "test"
  owner      = "test"
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods   = ["GET"]
    path      = "/live"
    websocket = true
  }
  allow {
    methods = ["GET"]
    path    = "/plain"
  }
}
`

// heard is what an echo server got of messages.
type heard struct {
	mu       sync.Mutex
	messages []string
}

func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.messages
	h.messages = nil
	return was
}

// echoServer has another's WebSocket server answer for api.example.com. It limits nothing
// itself.
func echoServer(w *world) *heard {
	h := &heard{}
	serve := websocket.Server{Handler: func(c *websocket.Conn) {
		c.MaxPayloadBytes = 64 << 20
		for {
			var m string
			if err := websocket.Message.Receive(c, &m); err != nil {
				return
			}
			h.mu.Lock()
			h.messages = append(h.messages, m)
			h.mu.Unlock()
			if _, err := io.WriteString(c, m); err != nil {
				return
			}
		}
	}}
	w.inet.Handle("api.example.com", http.HandlerFunc(serve.ServeHTTP))
	return h
}

// outcomesOf are the raw outcome records of the allowed HTTP requests.
func (a *attempt) outcomesOf() (raw []string) {
	for _, d := range a.log.allowed("http") {
		for _, o := range a.log.outcomes(d.ID) {
			raw = append(raw, o.raw)
		}
	}
	return raw
}

func (h *heard) want(t *testing.T, want ...string) {
	t.Helper()
	if got := h.take(); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("the far side heard %.200q, want %q", got, want)
	}
}

// TestWebSocket: NET-08, through the program as it is built.
func TestWebSocket(t *testing.T) {
	const live, host = "https://api.example.com/live", "api.example.com"
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy(liveAPI)
			h := echoServer(w)
			t.Run("NET-08 USE-08 another's client", func(t *testing.T) {
				a := w.control(goClient(w, "websocket", "wss://api.example.com/live", "one", strings.Repeat("two", 1000)))
				a.wantStdout("one\ntwotwo").wantAllowed(1).farSide("GET " + live)
				h.want(t, "one", strings.Repeat("two", 1000))
				if o := a.outcomesOf(); len(o) != 1 || !strings.Contains(o[0], `"close":"client 1000"`) || !strings.Contains(o[0], `"status":101`) {
					t.Errorf("got %q", o)
				}
			})
			for _, tunnel := range []string{"False", "True"} {
				front := map[string]string{"False": "transparent", "True": "explicit"}[tunnel]
				ask := func(path, frames, extra string) *attempt {
					return w.attack(w.probe(fmt.Sprintf(`
attempt("live", lambda: websocket(%q, %q, %s, %s, tunnel=%s))`, host, path, frames, extra, tunnel)))
				}
				t.Run("NET-08 frames, "+front, func(t *testing.T) {
					ask("/live", `ws_frame(1, b"h\xc3\xa4") + ws_frame(9) + ws_frame(1, b"two") + ws_frame(8, b"\x03\xe8")`, `b""`).
						wantTries("live: 101 hä pong two ended").wantAllowed(1).farSide("GET " + live)
					h.want(t, "hä", "two")
				})
				for _, c := range []struct{ name, path, extra, reason string }{
					{"a path without one", "/plain", `b""`, "protocol_not_granted"},
					{"a path of nobody", "/other", `b""`, "path_not_granted"},
					{"another protocol", "/live", `b"Upgrade: h2c\r\n"`, "protocol_not_granted"},
					{"a foreign credential", "/live", `b"Authorization: Bearer attackers-own-key-0123456789\r\n"`, "foreign_credential"},
					{"a foreign credential in the subprotocol", "/live", `b"Sec-WebSocket-Protocol: x, openai-insecure-api-key.sk-attackers-own-key-0123456789\r\n"`, "foreign_credential"},
				} {
					t.Run("NET-08 "+c.name+", "+front, func(t *testing.T) {
						ask(c.path, `b""`, c.extra).wantTries("live: 403 " + c.reason).wantReasons("http " + c.reason + " " + host).farSideNothing()
						h.want(t)
					})
				}
				for _, c := range []struct{ name, frames, excerpt string }{
					{"a message over its maximum", `ws_frame(1, claimed=(16 << 20) + 1)`, "over its maximum"},
					{"a message of many frames over its maximum", `ws_frame(1, b"x", fin=False) + ws_frame(0, claimed=16 << 20)`, "over its maximum"},
					{"a frame without a mask", `ws_frame(1, b"secret", mask=b"")`, "not a WebSocket frame"},
					{"an operation that nobody knows", `ws_frame(3, b"secret")`, "not a WebSocket frame"},
					{"text that is none", `ws_frame(1, b"\xff\xfe")`, "not UTF-8"},
					{"bytes that are no frames", `b"SSH-2.0-x\r\n"`, "not a WebSocket frame"},
				} {
					t.Run("NET-08 "+c.name+", "+front, func(t *testing.T) {
						a := ask("/live", c.frames, `b""`)
						if a.wantExit(0); !strings.Contains(a.stdout, "101") || strings.Contains(a.stdout, "secret") {
							a.errorf("got %s", a.stdout)
						}
						a.wantReasons("http malformed_request " + host).farSide("GET " + live)
						if !strings.Contains(a.log.String(), c.excerpt) {
							a.errorf("the log does not say %q", c.excerpt)
						}
						if heard := strings.Join(h.take(), ""); strings.Trim(heard, "x") != "" {
							t.Errorf("the far side heard %q", heard)
						}
					})
				}
			}
			t.Run("NET-08 extended CONNECT over HTTP/2", func(t *testing.T) {
				w.attack(w.probe(`attempt("live", lambda: extended_connect("api.example.com", "/live"))`)).
					wantTries("live: protocol_not_granted").wantReasons("http protocol_not_granted " + host).farSideNothing()
			})
		})
	}
}
