package proxy

import (
	"bytes"
	"testing"

	"golang.org/x/net/http2"

	"scupper.dev/scupper/capability"
)

func TestStreamsOverTheLimit(t *testing.T) {
	for name, settle := range map[string]func(h *rawH2){
		"settings not acknowledged": func(*rawH2) {},
		"settings acknowledged":     func(h *rawH2) { h.WriteSettingsAck() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil, limited(func(l *Limits) { l.Streams = 2 }))
			h := w.rawH2()
			settle(h)
			for id := uint32(1); id < 9; id += 2 { // one after the other: as many as you like
				h.open(id, h.get(w, "/public/a"), true)
				if got := h.statuses(id); got[id] != "200" {
					t.Fatalf("control: stream %d: got %v", id, got)
				}
				h.ended(id)
			}
			w.forget()
			h.post(w, 11, "2")
			h.post(w, 13, "2")
			for id := uint32(15); id < 21; id += 2 {
				h.open(id, h.get(w, "/public/a"), true)
			}
			if got := h.statuses(15, 17, 19); got[15] != "reset" || got[17] != "reset" || got[19] != "reset" {
				t.Errorf("got %v", got)
			}
			for _, d := range w.denials(3) {
				if d.Decision.Reason != capability.LimitExceeded || d.Request.Limit != limitStreams || d.Request.Host != "allowed.example" {
					t.Errorf("got %s for %q at %q", d.Decision.Reason, d.Request.Limit, d.Request.Host)
				}
			}
			w.untouched()
			h.WriteData(11, true, []byte("{}"))
			h.WriteData(13, true, []byte("{}"))
			if got := h.statuses(11, 13); got[11] != "200" || got[13] != "200" {
				t.Errorf("the streams within the limit: got %v", got)
			}
			w.denials(3)
		})
	}
	t.Run("a client that counts", func(t *testing.T) {
		w := newWorld(t, nil, limited(func(l *Limits) { l.Streams = 3 }))
		h := w.rawH2()
		for id := uint32(1); id < 100; id += 6 {
			for i := range uint32(3) {
				h.open(id+2*i, h.get(w, "/public/a"), true)
			}
			left := 3
			h.until(func(f http2.Frame) bool {
				if d, ok := f.(*http2.DataFrame); ok && d.StreamEnded() {
					left--
				}
				return left == 0
			})
		}
		w.denials(0)
		if got := len(w.tls.requests()); got != 51 {
			t.Errorf("the far side saw %d requests", got)
		}
	})
}

// ended reads until stream id has been answered in full.
func (h *rawH2) ended(id uint32) {
	h.until(func(f http2.Frame) bool {
		d, ok := f.(*http2.DataFrame)
		return ok && d.StreamID == id && d.StreamEnded()
	})
}

// TestWatch: how the bytes of the server are cut says nothing.
func TestWatch(t *testing.T) {
	var wire bytes.Buffer
	f := http2.NewFramer(&wire, nil)
	f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 2})
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}, EndHeaders: true})
	f.WriteData(1, true, make([]byte, 1000))
	f.WriteRSTStream(5, http2.ErrCodeRefusedStream) // over
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true})
	f.WriteRSTStream(3, http2.ErrCodeNo)
	f.WriteRSTStream(7, http2.ErrCodeProtocol) // over
	f.WriteRSTStream(9, http2.ErrCodeCancel)   // over, but found a place
	for size := 1; size <= wire.Len(); size++ {
		refused := 0
		s := newStreams(2, func() { refused++ })
		s.begin(1, true)
		s.begin(3, false)
		s.begin(5, true)
		s.begin(7, true)
		s.begin(9, true)
		for rest := wire.Bytes(); len(rest) > 0; {
			n := min(size, len(rest))
			s.watch(rest[:n])
			rest = rest[n:]
		}
		if refused != 2 || len(s.open) != 0 {
			t.Fatalf("cut every %d bytes: %d refused, %v are open", size, refused, s.open)
		}
	}
}
