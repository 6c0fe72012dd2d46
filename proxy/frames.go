package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"scupper.dev/scupper/capability"
)

// frames is the HTTP/2 side of a link. It lets net/http read a header block only once
// that has exactly one reading, as stream does for HTTP/1: net/http resets what it does
// not like before any handler sees it. For that it decodes each block itself; what it
// lets through are the client's own bytes.
type frames struct {
	net.Conn
	link *link
	in   *bufio.Reader

	out  []byte // to be delivered
	pass int64  // of the payload that follows, to be delivered as it comes
	head [frameHeader]byte

	begun    bool // the preface has been read
	decoder  *hpack.Decoder
	block    block
	last     uint32           // the highest stream that was opened
	declared map[uint32]int64 // what is left of bodies whose length was declared
	dropped  int64            // bytes that were not delivered
	drained  bool             // nothing more will be delivered
	armed    time.Time        // until when a block must be whole; zero: none is under way
	streams  *streams
	bad      atomic.Pointer[violation]
	broke    atomic.Bool // a body contradicted its length
	trailed  trailers
}

const (
	frameHeader      = 9
	maxContinuations = 1 << 10
	maxDeclared      = 1 << 12
	tableSize        = 4096 // of the client's HPACK encoder, as net/http announces it
)

// refusedAuthority is the :authority of the request that stands for a refused block.
// No block that is let through has a "!" there.
const refusedAuthority = "!"

// substituteBlock is GET / for that authority, all literal or from the static table
// (RFC 7541 appendix A), so that the state of no decoder matters.
const substituteBlock = "\x82\x87\x84\x01\x01" + refusedAuthority

var errDrained = errors.New("the connection has ended")

func newFrames(conn net.Conn, l *link) *frames {
	f := &frames{Conn: conn, link: l, in: bufio.NewReader(conn), declared: make(map[uint32]int64)}
	f.streams = newStreams(l.front.p.cfg.Limits.Streams, f.oneTooMany)
	f.decoder = hpack.NewDecoder(tableSize, f.field)
	f.decoder.SetMaxStringLength(l.front.p.cfg.Limits.HeaderBytes)
	return f
}

// Read delivers frames that were judged.
func (f *frames) Read(b []byte) (n int, err error) {
	for len(f.out) == 0 && f.pass == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n = copy(b, f.out)
	f.out = f.out[n:]
	if len(f.out) > 0 || f.pass == 0 || n == len(b) || n > 0 && f.in.Buffered() == 0 {
		return n, nil
	}
	m, err := f.in.Read(b[n:min(int64(len(b)), int64(n)+f.pass)])
	f.pass -= int64(m)
	return n + m, err
}

// Write passes on what net/http answers.
func (f *frames) Write(b []byte) (int, error) {
	f.streams.watch(b)
	return f.Conn.Write(b)
}

// oneTooMany records a stream that net/http resets. Nothing of its request is recorded,
// so that all of them are equal for the log.
func (f *frames) oneTooMany() {
	req := f.link.request(capability.KindHTTP)
	req.Protocol, req.Limit = "HTTP/2.0", limitStreams
	f.link.front.p.cfg.Authority.Refuse(req, capability.LimitExceeded)
}

// next reads on until there is something to deliver.
func (f *frames) next() error {
	switch {
	case f.drained:
		return f.drain()
	case !f.begun:
		return f.preface()
	}
	h, err := f.header()
	if err != nil {
		return err
	}
	if v := f.bad.Load(); v != nil {
		return f.closing(h, v.index)
	}
	switch h.Type {
	case http2.FrameHeaders:
		return f.headers(h)
	case http2.FrameContinuation:
		return f.breach("CONTINUATION of nothing", f.head[:])
	case http2.FrameData:
		if h.StreamID > f.last {
			return f.breach("DATA of no stream", f.head[:])
		}
		if err := f.count(h); err != nil {
			return err
		}
		if h.Flags.Has(http2.FlagDataEndStream) {
			f.streams.end(h.StreamID, clientEnded)
		}
	case http2.FrameRSTStream:
		delete(f.declared, h.StreamID)
		f.streams.reset(h.StreamID)
	}
	f.out, f.pass = f.head[:], int64(h.Length)
	return nil
}

func (f *frames) preface() error {
	got := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(f.in, got); err != nil {
		return err
	}
	f.begun, f.out = true, got
	if string(got) != http2.ClientPreface {
		return f.breach("no HTTP/2 preface", got)
	}
	return nil
}

func (f *frames) header() (http2.FrameHeader, error) {
	if _, err := io.ReadFull(f.in, f.head[:]); err != nil {
		return http2.FrameHeader{}, err
	}
	return parseFrameHeader(f.head), nil
}

// parseFrameHeader reads what stands before every payload (RFC 9113 section 4.1).
func parseFrameHeader(b [frameHeader]byte) http2.FrameHeader {
	return http2.FrameHeader{
		Length: uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]), Type: http2.FrameType(b[3]), Flags: http2.Flags(b[4]),
		StreamID: binary.BigEndian.Uint32(b[5:]) &^ (1 << 31),
	}
}

func frame(t http2.FrameType, flags http2.Flags, id uint32, payload string) []byte {
	b := make([]byte, frameHeader, frameHeader+len(payload))
	b[2], b[3], b[4] = byte(len(payload)), byte(t), byte(flags)
	binary.BigEndian.PutUint32(b[5:], id)
	return append(b, payload...)
}

// count holds a body to its declared length (RFC 9113 section 8.1.1). net/http does so
// too, and resets the stream.
func (f *frames) count(h http2.FrameHeader) error {
	left, ok := f.declared[h.StreamID]
	if !ok {
		return nil
	}
	n := int64(h.Length)
	if h.Flags.Has(http2.FlagDataPadded) && n > 0 {
		pad, err := f.in.Peek(1)
		if err != nil {
			return err
		}
		n -= 1 + int64(pad[0])
	}
	left -= n
	ends := h.Flags.Has(http2.FlagDataEndStream)
	if left < 0 || ends && left > 0 {
		f.broke.Store(true)
	}
	f.declared[h.StreamID] = left
	if left < 0 || ends {
		delete(f.declared, h.StreamID)
	}
	return nil
}

// violate puts the substitute in the place of the block on stream id, and records it at
// once: net/http may never get to it.
func (f *frames) violate(id uint32, v violation) {
	v.index = int(id)
	req := f.link.request(capability.KindHTTP)
	req.Protocol, req.Excerpt, req.Limit = "HTTP/2.0", v.excerpt, v.limit
	v.decision = f.link.front.p.cfg.Authority.Refuse(req, v.reason)
	f.bad.Store(&v)
	f.out = frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, id, substituteBlock)
}

// breach records bytes that are no frames in any order that has a meaning, and lets
// net/http see them: its answer is a GOAWAY.
func (f *frames) breach(what string, show []byte) error {
	req := f.link.request(capability.KindHTTP)
	req.Protocol, req.Excerpt = "HTTP/2.0", excerpt(what)
	f.link.front.p.cfg.Authority.Refuse(req, capability.MalformedRequest)
	f.out, f.drained = show, true
	return nil
}

// closing goes on after a refused block, until net/http closes the connection: requests
// that came before it end as they would, and later ones are not looked at (RFC 9113
// section 6.8).
func (f *frames) closing(h http2.FrameHeader, bad int) error {
	id, block := int(h.StreamID), h.Type == http2.FrameHeaders || h.Type == http2.FrameContinuation
	steering := h.Type == http2.FrameRSTStream || h.Type == http2.FrameWindowUpdate
	if !block && (id < bad || id == bad && steering) {
		f.out, f.pass = f.head[:], int64(h.Length)
		return nil
	}
	if h.Type == http2.FrameHeaders && id < bad { // trailers, of which none go upstream
		f.out = frame(http2.FrameData, http2.FlagDataEndStream, h.StreamID, "")
	}
	if f.dropped += frameHeader + int64(h.Length); f.dropped > lingerBytes {
		return errDrained
	}
	_, err := io.CopyN(io.Discard, f.in, int64(h.Length))
	return err
}

// drain leaves net/http the time to write its last answer.
func (f *frames) drain() error {
	if err := f.SetReadDeadline(time.Now().Add(lingerTime)); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, f.in, lingerBytes); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return errDrained
}

// violation is the violation that a request for host stands for.
func (f *frames) violation(host string) *violation {
	if host != refusedAuthority {
		return nil
	}
	return f.bad.Load()
}

// CloseWrite tells the client that no more answers come.
func (f *frames) CloseWrite() error {
	if c, ok := f.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}
