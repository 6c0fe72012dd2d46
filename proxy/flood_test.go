package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"scupper.dev/scupper/capability"
)

// rawH2 is an HTTP/2 connection to allowed.example that sends any frames.
type rawH2 struct {
	*http2.Framer
	conn  net.Conn
	block bytes.Buffer
	enc   *hpack.Encoder
}

func (w *world) rawH2() *rawH2 {
	w.t.Helper()
	c := w.insideTLS("h2")
	c.SetDeadline(time.Now().Add(20 * time.Second))
	io.WriteString(c, http2.ClientPreface)
	h := &rawH2{Framer: http2.NewFramer(c, c), conn: c}
	h.enc = hpack.NewEncoder(&h.block)
	h.AllowIllegalWrites = true
	h.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	h.WriteSettings()
	return h
}

// fields is a header block.
func (h *rawH2) fields(pairs ...string) []byte {
	h.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		h.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return bytes.Clone(h.block.Bytes())
}

func (h *rawH2) get(w *world, path string) []byte {
	return h.fields(":method", "GET", ":scheme", "https", ":path", path, ":authority", fmt.Sprintf("allowed.example:%d", w.port))
}

func (h *rawH2) open(id uint32, block []byte, end bool) error {
	return h.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: end})
}

// until reads frames until the connection ends or stop says so.
func (h *rawH2) until(stop func(http2.Frame) bool) {
	for {
		f, err := h.ReadFrame()
		if _, ok := err.(http2.StreamError); ok {
			continue
		}
		if err != nil || stop(f) {
			return
		}
	}
}

// TestFloods sends what has brought other HTTP/2 servers down. Each flood is bounded;
// the proxy serves others meanwhile and afterwards, and keeps nothing of it.
func TestFloods(t *testing.T) {
	const many = 20000
	floods := map[string]func(w *world, h *rawH2) error{
		"rapid reset": func(w *world, h *rawH2) error {
			for id := uint32(1); id < many; id += 2 {
				if err := h.open(id, h.get(w, "/public/a"), true); err != nil {
					return err
				}
				if err := h.WriteRSTStream(id, http2.ErrCodeCancel); err != nil {
					return err
				}
			}
			return nil
		},
		"CONTINUATION": func(w *world, h *rawH2) error {
			h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h.get(w, "/public/a")})
			for range many {
				if err := h.WriteContinuation(1, false, h.fields("x-a", strings.Repeat("x", 1000))); err != nil {
					return err
				}
			}
			return nil
		},
		"empty CONTINUATION": func(w *world, h *rawH2) error {
			h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h.get(w, "/public/a")})
			for range many {
				if err := h.WriteContinuation(1, false, nil); err != nil {
					return err
				}
			}
			return nil
		},
		"SETTINGS": func(_ *world, h *rawH2) error {
			for i := range many {
				if err := h.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(i)}); err != nil {
					return err
				}
			}
			return nil
		},
		"PING": func(_ *world, h *rawH2) error {
			for range many {
				if err := h.WritePing(false, [8]byte{}); err != nil {
					return err
				}
			}
			return nil
		},
		"WINDOW_UPDATE 0": func(w *world, h *rawH2) error {
			for id := uint32(1); id < 400; id += 2 {
				h.open(id, h.get(w, "/public/a"), false)
				if err := h.WriteWindowUpdate(id, 0); err != nil {
					return err
				}
			}
			return nil
		},
		"empty DATA": func(w *world, h *rawH2) error {
			h.open(1, h.fields(":method", "POST", ":scheme", "https", ":path", "/notes", ":authority", fmt.Sprintf("allowed.example:%d", w.port), "content-type", "application/json"), false)
			for range many {
				if err := h.WriteData(1, false, nil); err != nil {
					return err
				}
			}
			return nil
		},
		"many streams that are never read": func(w *world, h *rawH2) error {
			h.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
			for id := uint32(1); id < 2000; id += 2 {
				if err := h.open(id, h.get(w, "/public/a"), true); err != nil {
					return err
				}
			}
			return nil
		},
	}
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.control()
			before, begun := runtime.NumGoroutine(), time.Now()
			h := w.rawH2()
			sent := make(chan error, 1)
			go func() { sent <- flood(w, h) }()
			if name != "PING" && name != "SETTINGS" { // whose answers are not read either
				go h.until(func(http2.Frame) bool { return false })
			}
			if status, _, _ := w.get(w.client(true), w.url("/public/b")); status != 200 {
				t.Errorf("meanwhile: got %d", status)
			}
			select {
			case <-sent:
			case <-time.After(5 * time.Second): // it is not read any more
			}
			h.conn.Close()
			if status, _, _ := w.get(w.client(false), w.url("/public/c")); status != 200 {
				t.Errorf("afterwards: got %d", status)
			}
			for deadline := time.Now().Add(3 * time.Second); runtime.NumGoroutine() > before+60; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
				}
			}
			t.Logf("took %v, %d records", time.Since(begun), len(w.log.all()))
		})
	}
}

// TestHTTP2LargeHeaders: USE-33 over HTTP/2.
func TestHTTP2LargeHeaders(t *testing.T) {
	send := func(t *testing.T, w *world, size int) (status string) {
		h := w.rawH2()
		block := h.fields(":method", "GET", ":scheme", "https", ":path", "/public/a", ":authority", fmt.Sprintf("allowed.example:%d", w.port), "x-large", strings.Repeat("#", size))
		first := true
		for len(block) > 0 || first {
			part := block[:min(len(block), 16<<10)]
			block = block[len(part):]
			if first {
				h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: part, EndHeaders: len(block) == 0, EndStream: true})
			} else {
				h.WriteContinuation(1, len(block) == 0, part)
			}
			first = false
		}
		h.until(func(f http2.Frame) bool {
			if m, ok := f.(*http2.MetaHeadersFrame); ok {
				status = m.PseudoValue("status")
			}
			return status != ""
		})
		return status
	}
	w := newWorld(t, nil)
	if got := send(t, w, 32<<10); got != "200" {
		t.Errorf("32 KiB: got %q", got)
	}
	w.forget()
	if got := send(t, w, 100<<10); got != "431" {
		t.Errorf("100 KiB: got %q, want 431", got)
	}
	w.refused(capability.MalformedRequest)
	w.forget()
	if got := send(t, w, 2<<20); got == "200" {
		t.Errorf("2 MiB: got %q", got)
	}
	w.untouched()
}
