package proxy

import (
	"encoding/binary"
	"sync"

	"golang.org/x/net/http2"
)

// streams follows which streams of an HTTP/2 connection are open, by the frames of both
// sides. net/http resets a stream that is one too many before any handler sees it (RFC
// 9113 section 5.1.2). Which one it takes for that is its own: we read a frame before
// it does, so what was too many for us may have found a place for it.
type streams struct {
	most    int
	refused func() // called for each that was reset

	mu   sync.Mutex
	open map[uint32]streamState

	head [frameHeader + 4]byte // of the frame that the server writes, with the code of a reset
	got  int                   // bytes of head
	skip int                   // bytes of the payload that are still to come
}

// streamState says who has ended a stream, and that it was over the maximum.
type streamState uint8

const (
	clientEnded streamState = 1 << iota
	serverEnded
	overMost
)

func newStreams(most int, refused func()) *streams {
	return &streams{most: most, refused: refused, open: make(map[uint32]streamState)}
}

// begin notes HEADERS that open a stream.
func (s *streams) begin(id uint32, ends bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var state streamState
	if len(s.open) >= s.most {
		state |= overMost
	}
	if ends {
		state |= clientEnded
	}
	s.open[id] = state
}

// end notes that one side of a stream says nothing more.
func (s *streams) end(id uint32, side streamState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok := s.open[id]
	if !ok {
		return
	}
	if s.open[id] = state | side; s.open[id]&(clientEnded|serverEnded) == clientEnded|serverEnded {
		delete(s.open, id)
	}
}

// reset notes the end of a stream, and reports whether it was over the maximum.
func (s *streams) reset(id uint32) (over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over = s.open[id]&overMost != 0
	delete(s.open, id)
	return over
}

// watch looks at what the server writes, before it is written.
func (s *streams) watch(b []byte) {
	for len(b) > 0 {
		if s.skip > 0 {
			n := min(s.skip, len(b))
			s.skip, b = s.skip-n, b[n:]
			continue
		}
		want := frameHeader
		if s.got >= frameHeader && http2.FrameType(s.head[3]) == http2.FrameRSTStream {
			want = len(s.head)
		}
		n := copy(s.head[s.got:want], b)
		s.got, b = s.got+n, b[n:]
		if s.got == frameHeader || s.got == len(s.head) {
			s.frame()
		}
	}
}

// frame takes a frame of the server whose head, or whole reset, is there.
func (s *streams) frame() {
	h := parseFrameHeader([frameHeader]byte(s.head[:frameHeader]))
	if h.Type == http2.FrameRSTStream && s.got == frameHeader && h.Length == 4 {
		return // the code comes next
	}
	s.skip = int(h.Length) - (s.got - frameHeader)
	s.got = 0
	switch h.Type {
	case http2.FrameHeaders, http2.FrameData:
		if h.Flags.Has(http2.FlagDataEndStream) { // of both the same bit
			s.end(h.StreamID, serverEnded)
		}
	case http2.FrameRSTStream:
		code := http2.ErrCode(binary.BigEndian.Uint32(s.head[frameHeader:]))
		if s.reset(h.StreamID) && (code == http2.ErrCodeProtocol || code == http2.ErrCodeRefusedStream) {
			s.refused()
		}
	}
}
