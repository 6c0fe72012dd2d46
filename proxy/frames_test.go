package proxy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/iotest"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"scupper.dev/scupper/capability"
)

// post opens POST /notes on stream id.
func (h *rawH2) post(w *world, id uint32, length string) {
	h.open(id, h.fields(":method", "POST", ":scheme", "https", ":path", "/notes", ":authority", fmt.Sprintf("allowed.example:%d", w.port),
		"content-type", "application/json", "content-length", length), false)
}

// statuses reads answers until every stream of ids has one, or the connection ends.
func (h *rawH2) statuses(ids ...uint32) map[uint32]string {
	got := make(map[uint32]string)
	h.until(func(f http2.Frame) bool {
		if m, ok := f.(*http2.MetaHeadersFrame); ok {
			got[m.StreamID] = m.PseudoValue("status")
		}
		if r, ok := f.(*http2.RSTStreamFrame); ok && got[r.StreamID] == "" {
			got[r.StreamID] = "reset"
		}
		return len(got) == len(ids)
	})
	return got
}

func TestFrames(t *testing.T) {
	t.Run("HP-21 other streams outlive a malformed one", func(t *testing.T) {
		w := newWorld(t, nil)
		w.control()
		h := w.rawH2()
		h.post(w, 1, "8")
		h.WriteData(1, false, []byte(`{"a"`))
		h.open(3, h.fields(":method", "GET", "x", "\r\n"), true)
		h.open(5, h.get(w, "/public/later"), true)
		h.WriteData(1, true, []byte(`:1} `))
		got := h.statuses(1, 3)
		if got[1] != "200" || got[3] != "400" || got[5] != "" {
			t.Errorf("got %v, want 200 for stream 1, 400 for stream 3 and nothing for stream 5", got)
		}
		if d := w.denials(1)[0]; d.Decision.Reason != capability.MalformedRequest {
			t.Errorf("got %s", d.Decision.Reason)
		}
		if seen := w.tls.requests(); len(seen) != 1 || string(seen[0].Body) != `{"a":1} ` {
			t.Errorf("the far side saw %+v", seen)
		}
	})
	for name, bodies := range map[string][]string{"HP-07 more than declared": {"{}    "}, "HP-07 less than declared": {"{"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.control()
			h := w.rawH2()
			h.post(w, 1, "2")
			for i, b := range bodies {
				h.WriteData(1, i == len(bodies)-1, []byte(b))
			}
			h.statuses(1)
			w.refused(capability.MalformedRequest)
		})
	}
	for name, send := range map[string]func(w *world, h *rawH2){
		"a block that cannot be decoded": func(_ *world, h *rawH2) { h.open(1, []byte{0xff, 0xff, 0xff}, true) },
		"an index that is not there":     func(_ *world, h *rawH2) { h.open(1, []byte{0xff, 0x00}, true) },
		"CONTINUATION of nothing":        func(w *world, h *rawH2) { h.WriteContinuation(1, true, h.get(w, "/public/a")) },
		"an interrupted block": func(w *world, h *rawH2) {
			h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h.get(w, "/public/a"), EndStream: true})
			h.WritePing(false, [8]byte{})
		},
		"DATA of no stream":        func(w *world, h *rawH2) { h.WriteData(1, true, []byte("{}")) },
		"a stream of the server's": func(w *world, h *rawH2) { h.open(2, h.get(w, "/public/a"), true) },
		"padding without end": func(w *world, h *rawH2) {
			h.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, 1, []byte{200, 0x82})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.control()
			h := w.rawH2()
			send(w, h)
			ended(t, h.conn)
			w.refused(capability.MalformedRequest)
		})
	}
	for name, send := range map[string]func(w *world, h *rawH2){
		"HP-16 a trailer that frames": func(w *world, h *rawH2) { h.open(1, h.fields("content-length", "5"), true) },
		"HP-16 a trailer that routes": func(w *world, h *rawH2) { h.open(1, h.fields("host", "other.example"), true) },
		"HP-16 trailers without end":  func(w *world, h *rawH2) { h.open(1, h.fields("x-sum", "1"), false) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			h := w.rawH2()
			h.open(1, h.fields(":method", "POST", ":scheme", "https", ":path", "/notes", ":authority", fmt.Sprintf("allowed.example:%d", w.port),
				"content-type", "application/json", "content-length", "2", "trailer", "x-sum"), false)
			h.WriteData(1, false, []byte("{}"))
			send(w, h)
			w.denials(1)
			if r := w.requestsFinished(1)[0]; r.Outcome.Error != string(capability.MalformedRequest) {
				t.Errorf("outcome: %+v", r.Outcome)
			}
			w.refused(capability.MalformedRequest)
		})
	}
	t.Run("no preface", func(t *testing.T) {
		w := newWorld(t, nil)
		c, err := w.dialTLS(&tls.Config{ServerName: "allowed.example", NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "GET /public/a HTTP/1.1\r\nHost: allowed.example\r\n\r\n")
		ended(t, c)
		w.refused(capability.MalformedRequest)
	})
	t.Run("a block that never ends", func(t *testing.T) {
		w := newWorld(t, nil)
		h := w.rawH2()
		h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h.get(w, "/public/a"), EndStream: true})
		if got := h.statuses(1); got[1] != "408" {
			t.Errorf("got %v, want 408", got)
		}
		w.refused(capability.TooSlow)
	})
	t.Run("a stream that depends on itself", func(t *testing.T) {
		w := newWorld(t, nil)
		h := w.rawH2()
		h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h.get(w, "/public/a"), EndStream: true, EndHeaders: true, Priority: http2.PriorityParam{StreamDep: 3}})
		if got := h.statuses(1); got[1] != "200" {
			t.Errorf("one that depends on another: got %v, want 200", got)
		}
		w.forget()
		h.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: h.get(w, "/public/a"), EndStream: true, EndHeaders: true, Priority: http2.PriorityParam{StreamDep: 3}})
		if got := h.statuses(3); got[3] != "400" {
			t.Errorf("got %v, want 400", got)
		}
		w.refused(capability.MalformedRequest)
	})
	t.Run("too many fields", func(t *testing.T) {
		w := newWorld(t, nil)
		h := w.rawH2()
		fields := []string{":method", "GET", ":scheme", "https", ":path", "/public/a", ":authority", fmt.Sprintf("allowed.example:%d", w.port)}
		for range 300 {
			fields = append(fields, "x", "y")
		}
		h.open(1, h.fields(fields...), true)
		if got := h.statuses(1); got[1] != "431" {
			t.Errorf("got %v, want 431", got)
		}
		w.refused(capability.MalformedRequest)
	})
}

// silent records nothing.
type silent struct{}

func (silent) Authorize(*capability.Request) capability.Decision { return capability.Decision{} }

func (silent) Refuse(_ *capability.Request, reason capability.Reason) capability.Decision {
	return capability.Deny(reason)
}
func (silent) Spend(capability.Decision, int64, int64) bool   { return false }
func (silent) Finish(capability.Decision, capability.Outcome) {}

// FuzzFrames: what frames delivers of any bytes is the same bytes, up to a substitute;
// every header block in it has one reading for another parser too.
func FuzzFrames(f *testing.F) {
	cfg, err := Config{Authority: silent{}, Names: leases{}, Policy: func() *capability.Policy { return nil }, CA: &CA{}}.withDefaults()
	if err != nil {
		f.Fatal(err)
	}
	p := &Proxy{cfg: cfg}
	f.Fuzz(func(t *testing.T, sent []byte, slow bool) {
		sent = append([]byte(http2.ClientPreface), sent...)
		var from io.Reader = bytes.NewReader(sent)
		if slow {
			from = iotest.OneByteReader(from)
		}
		fr := newFrames(readConn{from: from}, &link{front: &front{p: p}, scheme: capability.HTTPS})
		got, _ := io.ReadAll(fr)
		same := len(got)
		if v := fr.bad.Load(); v != nil {
			same = bytes.LastIndex(got, frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, uint32(v.index), substituteBlock))
			if same < 0 {
				t.Fatalf("no substitute in %q", got)
			}
		}
		if !bytes.HasPrefix(sent, got[:same]) {
			t.Fatalf("delivered %q of %q", got[:same], sent)
		}
		if fr.drained && fr.bad.Load() == nil {
			return // a breach, which is delivered as it is
		}
		framer := http2.NewFramer(io.Discard, bufio.NewReader(bytes.NewReader(got[len(http2.ClientPreface):])))
		framer.ReadMetaHeaders = hpack.NewDecoder(tableSize, nil)
		framer.SetMaxReadFrameSize(1 << 20)
		open, highest := make(map[uint32]bool), uint32(0)
		for {
			frame, err := framer.ReadFrame()
			if e, ok := err.(http2.StreamError); ok && !open[e.StreamID] && e.StreamID < highest {
				return // a stream that was passed over is closed: net/http ends the connection (RFC 9113 section 5.1.1)
			}
			if e, ok := err.(http2.StreamError); ok && !open[e.StreamID] {
				t.Fatalf("another parser refuses stream %d of %q: %v", e.StreamID, got, err)
			}
			if _, ok := err.(http2.StreamError); ok {
				continue
			}
			if err != nil {
				return
			}
			if m, ok := frame.(*http2.MetaHeadersFrame); ok && !open[m.StreamID] {
				open[m.StreamID], highest = true, max(highest, m.StreamID)
				if _, err := http.NewRequest(m.PseudoValue("method"), "http://example.com/", nil); err != nil || m.Truncated {
					t.Fatalf("another parser refuses %v: %v", m.Fields, err)
				}
			}
		}
	})
}
