package proxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

const upgrade = "GET /live HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"

// webSockets grants one at /live and a plain GET at /plain.
func webSockets(w *world) []*capability.Grant {
	live := allow(w.t, "GET", "/live")
	live.WebSocket = true
	return []*capability.Grant{w.grant("allowed.example", live, allow(w.t, "GET", "/plain"))}
}

// maskedFrame is what one client frame looks like.
func maskedFrame(first byte, payload string) string {
	mask := [4]byte{1, 2, 3, 4}
	b := []byte{first}
	if len(payload) < 126 {
		b = append(b, maskBit|byte(len(payload)))
	} else {
		b = binary.BigEndian.AppendUint16(append(b, maskBit|126), uint16(len(payload)))
	}
	b = append(b, mask[:]...)
	for i := range len(payload) {
		b = append(b, payload[i]^mask[i%4])
	}
	return string(b)
}

// plainFrame is what one server frame looks like.
func plainFrame(first byte, payload string) string {
	return string([]byte{first, byte(len(payload))}) + payload
}

// upgraded makes the far side take the upgrade, send greeting in the same packet and
// then do what serve says. head changes its answer.
func upgraded(w *world, head func(string) string, greeting string, serve func(c net.Conn, br *bufio.Reader)) {
	w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
		c, buffered, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		answer := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept(r.Header.Get("Sec-WebSocket-Key")) + "\r\n\r\n"
		if head != nil {
			answer = head(answer)
		}
		io.WriteString(c, answer+greeting)
		if serve != nil {
			serve(c, buffered.Reader)
		}
	}
}

// echoFrames sends the payload of every client frame back, and ends with a close frame.
func echoFrames(c net.Conn, br *bufio.Reader) {
	for {
		f, payload, err := readWire(br)
		if err != nil {
			return
		}
		io.WriteString(c, plainFrame(f, payload))
		if f&0xf == opClose {
			return
		}
	}
}

// readWire reads one frame of fewer than 126 bytes, masked or not.
func readWire(br *bufio.Reader) (first byte, payload string, err error) {
	var b [2]byte
	if _, err := io.ReadFull(br, b[:]); err != nil {
		return 0, "", err
	}
	var mask [4]byte
	if b[1]&maskBit != 0 {
		io.ReadFull(br, mask[:])
	}
	p := make([]byte, b[1]&^maskBit)
	_, err = io.ReadFull(br, p)
	for i := range p {
		p[i] ^= mask[i%4]
	}
	return b[0], string(p), err
}

// open sends the upgrade with what follows it in the same packet.
func (w *world) upgrade(c net.Conn, early string) (*bufio.Reader, *http.Response) {
	w.t.Helper()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(c, strings.ReplaceAll(upgrade, "HOST", fmt.Sprintf("allowed.example:%d", w.port))+"\r\n"+early)
	br := bufio.NewReader(c)
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return br, resp
}

func TestWebSocket(t *testing.T) {
	each(t, secured(), func(t *testing.T, by option) {
		t.Run("NET-08 USE-08 both ways, early frames too", func(t *testing.T) {
			w := newWorld(t, webSockets, by)
			upgraded(w, nil, plainFrame(finBit|opText, "hello"), echoFrames)
			c := w.inside()
			br, resp := w.upgrade(c, maskedFrame(finBit|opText, "early"))
			if resp.StatusCode != 101 || resp.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" || resp.Header.Get("Sec-WebSocket-Extensions") != "" {
				t.Fatalf("got %d %v", resp.StatusCode, resp.Header)
			}
			io.WriteString(c, maskedFrame(opText, "h\xc3")+maskedFrame(finBit|opPing, "")+maskedFrame(finBit|opContinuation, "\xa4")+maskedFrame(finBit|opClose, "\x03\xe8bye"))
			var got []string
			for range 6 {
				_, payload, err := readWire(br)
				if err != nil {
					t.Fatalf("after %q: %v", got, err)
				}
				got = append(got, payload)
			}
			if want := []string{"hello", "early", "h\xc3", "", "\xa4", "\x03\xe8bye"}; fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("got %q, want %q", got, want)
			}
			o := w.requestsFinished(1)[0].Outcome
			if o.Status != 101 || o.Close != "client 1000" || o.Error != "" || o.Sent < 20 || o.Received < 20 {
				t.Errorf("outcome: %+v", o)
			}
			if h := w.tls.requests()[0].Header; len(h["Sec-Websocket-Extensions"]) > 0 || h.Get("Sec-WebSocket-Key") == "dGhlIHNhbXBsZSBub25jZQ==" {
				t.Errorf("the far side saw %v", h)
			}
		})
		t.Run("HP-14 NET-08 nothing of the handshake is nominated away", func(t *testing.T) {
			w := newWorld(t, webSockets, by)
			upgraded(w, nil, "", echoFrames)
			c := w.inside()
			nominating := strings.Replace(upgrade, "Connection: Upgrade", "Connection: Upgrade, Sec-WebSocket-Key, Sec-WebSocket-Version", 1)
			if status, _ := w.say(c, nominating+"\r\n"); status != 101 {
				t.Errorf("got %d", status)
			}
			io.WriteString(c, maskedFrame(finBit|opClose, "\x03\xe8"))
			if o := w.requestsFinished(1)[0].Outcome; o.Close != "client 1000" || o.Error != "" {
				t.Errorf("outcome: %+v", o)
			}
		})
		t.Run("NET-08 another answer that breaks off is not whole", func(t *testing.T) {
			w := newWorld(t, webSockets, by)
			w.tls.handler = func(rw http.ResponseWriter, _ *http.Request) {
				io.WriteString(rw, "half")
				rw.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			_, resp := w.upgrade(w.inside(), "")
			if body, err := io.ReadAll(resp.Body); resp.StatusCode != 200 || string(body) != "half" || err == nil {
				t.Errorf("got %d %q, %v", resp.StatusCode, body, err)
			}
		})
		t.Run("NET-08 refused where it is not granted", func(t *testing.T) {
			w := newWorld(t, webSockets, by)
			c := w.inside()
			if status, _ := w.say(c, strings.Replace(upgrade, "/live", "/plain", 1)+"\r\nGET /plain HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 403 {
				t.Errorf("got %d", status)
			}
			ended(t, c)
			w.refused(capability.ProtocolNotGranted)
		})
		for name, row := range map[string]struct {
			from, to string
			reason   capability.Reason
		}{
			"another protocol": {"Upgrade: websocket", "Upgrade: other", capability.ProtocolNotGranted},
			"two protocols":    {"Upgrade: websocket", "Upgrade: websocket\r\nUpgrade: other", capability.ProtocolNotGranted},
			"no key":           {"Sec-WebSocket-Key", "X-Key", capability.MalformedRequest},
			"a short key":      {"dGhlIHNhbXBsZSBub25jZQ==", "dGhl", capability.MalformedRequest},
			"another version":  {"Version: 13", "Version: 8", capability.MalformedRequest},
			"a body":           {"Upgrade: websocket", "Upgrade: websocket\r\nContent-Length: 5", capability.MalformedRequest},
		} {
			t.Run("NET-08 a handshake with "+name, func(t *testing.T) {
				w := newWorld(t, webSockets, by)
				w.say(w.inside(), strings.Replace(upgrade, row.from, row.to, 1)+"\r\n")
				w.refused(row.reason)
			})
		}
		for name, head := range map[string]func(string) string{
			"without proof": func(s string) string { return strings.Replace(s, "Accept: ", "Accept: x", 1) },
			"with an extension": func(s string) string {
				return strings.Replace(s, "Upgrade:", "Sec-WebSocket-Extensions: permessage-deflate\r\nUpgrade:", 1)
			},
			"to another protocol": func(s string) string { return strings.Replace(s, "Upgrade: websocket", "Upgrade: other", 1) },
		} {
			t.Run("NET-08 a 101 "+name, func(t *testing.T) {
				w := newWorld(t, webSockets, by)
				upgraded(w, head, "", nil)
				if _, resp := w.upgrade(w.inside(), ""); resp.StatusCode != 502 {
					t.Errorf("got %d", resp.StatusCode)
				}
			})
		}
		t.Run("NET-08 a 101 that nobody asked for", func(t *testing.T) {
			w := newWorld(t, webSockets, by)
			upgraded(w, nil, "", nil)
			if status, _ := w.say(w.inside(), "GET /plain HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 502 {
				t.Errorf("got %d", status)
			}
		})
		for name, bytes := range map[string]string{
			"no frame at all":          "GET / HTTP/1.1\r\n\r\n",
			"a reserved bit":           maskedFrame(finBit|0x40|opText, "x"),
			"a reserved operation":     maskedFrame(finBit|0x3, "x"),
			"no mask":                  plainFrame(finBit|opText, "x"),
			"a long ping":              maskedFrame(finBit|opPing, strings.Repeat("x", 126)),
			"a ping in parts":          maskedFrame(opPing, "x"),
			"a continuation of none":   maskedFrame(finBit|opContinuation, "x"),
			"a message in another":     maskedFrame(opText, "x") + maskedFrame(finBit|opText, "x"),
			"text that is not UTF-8":   maskedFrame(finBit|opText, "\xff"),
			"text that ends too early": maskedFrame(finBit|opText, "\xc3"),
			"a close of one byte":      maskedFrame(finBit|opClose, "x"),
			"a close without meaning":  maskedFrame(finBit|opClose, "\x03\xed"),
			"a long form":              "\x81\xfe\x00\x05\x00\x00\x00\x00hello",
			"a message over the cap":   "\x82\xff\x00\x00\x00\x00\x01\x00\x00\x01\x00\x00\x00\x00",
			"a length without end":     "\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",
		} {
			t.Run("NET-08 "+name, func(t *testing.T) {
				w := newWorld(t, webSockets, by, limited(func(l *Limits) { l.Message = 1 << 20 }))
				upgraded(w, nil, "", echoFrames)
				c := w.inside()
				if _, resp := w.upgrade(c, ""); resp.StatusCode != 101 {
					t.Fatalf("control: got %d", resp.StatusCode)
				}
				io.WriteString(c, bytes)
				ended(t, c)
				d := w.denials(1)[0]
				if d.Decision.Reason != capability.MalformedRequest || !strings.Contains(d.Request.Excerpt, "WebSocket") {
					t.Errorf("got %s, %s", d.Decision.Reason, d.Request.Excerpt)
				}
				if o := w.requestsFinished(1)[0].Outcome; o.Error != string(capability.MalformedRequest) {
					t.Errorf("outcome: %+v", o)
				}
			})
		}
		t.Run("NET-08 what the upstream sends is judged too", func(t *testing.T) {
			w := newWorld(t, webSockets, by)
			upgraded(w, nil, "HTTP/1.1 200 OK\r\n\r\n", echoFrames)
			c := w.inside()
			br, _ := w.upgrade(c, "")
			if rest, _ := io.ReadAll(br); len(rest) > 0 {
				t.Errorf("got %q", rest)
			}
			if o := w.requestsFinished(1)[0].Outcome; o.Error != errUpstreamBroken {
				t.Errorf("outcome: %+v", o)
			}
		})
		t.Run("NET-08 ends with its grant", func(t *testing.T) {
			w := newWorld(t, webSockets, by)
			upgraded(w, nil, "", echoFrames)
			c := w.inside()
			w.upgrade(c, "")
			w.reload(nil)
			w.proxy.Rejudge()
			ended(t, c)
		})
		t.Run("NET-08 has a time", func(t *testing.T) {
			w := newWorld(t, webSockets, by, limited(func(l *Limits) { l.Request = 200 * time.Millisecond }))
			upgraded(w, nil, "", echoFrames)
			c := w.inside()
			w.upgrade(c, "")
			ended(t, c)
			if o := w.requestsFinished(1)[0].Outcome; o.Error != string(capability.TooSlow) {
				t.Errorf("outcome: %+v", o)
			}
		})
	})
}

func TestSOCKS(t *testing.T) {
	for name, hello := range map[string]string{
		"NET-09 SOCKS 5 greeting":  "\x05\x01\x00",
		"NET-09 SOCKS 4 CONNECT":   "\x04\x01\x01\xbb\xcb\x00\x71\x07x\x00",
		"NET-09 SOCKS 5 ASSOCIATE": "\x05\x01\x00\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			for _, explicit := range []bool{true, false} {
				w := newWorld(t, nil)
				addr := w.explicit
				if !explicit {
					addr = fmt.Sprintf("%s:%d", good, w.port)
				}
				c := w.dial(addr)
				io.WriteString(c, hello)
				c.SetReadDeadline(time.Now().Add(3 * time.Second))
				answer, _ := io.ReadAll(c)
				if bytes.HasPrefix(answer, []byte{5}) || bytes.HasPrefix(answer, []byte{0}) {
					t.Errorf("it was answered as SOCKS: %q", answer)
				}
				d := w.denials(1)[0]
				if d.Decision.Reason != capability.MalformedRequest && d.Decision.Reason != capability.NotTLS {
					t.Errorf("got %s", d.Decision.Reason)
				}
				w.untouched()
			}
		})
	}
}
