package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"scupper.dev/scupper/capability"
)

// stream is the HTTP/1 side of a link: the link itself, or the inside of its TLS. It
// lets net/http read a request head only once that has exactly one reading, and it
// knows by the same reading where the next head begins. net/http is more lenient, and
// what it forgives it does not tell.
type stream struct {
	net.Conn
	link *link

	phase phase
	buf   []byte // read from Conn, not yet delivered
	ready int    // of buf, how much may be delivered
	left  int64  // of the body or chunk
	spare []byte // the buffer that buf is a part of
	heads int    // delivered
	bad   atomic.Pointer[violation]
	broke atomic.Bool // inside a body
	early atomic.Bool // an answer did not wait for the end of its request
	begun atomic.Bool // a head has begun and not ended
	last  atomic.Bool // a head was delivered that is the last one

	trailed trailers
}

// phase is what the next bytes of a stream are.
type phase int

const (
	inHead phase = iota
	inBody
	inChunkLine
	inChunk
	inChunkEnd
	inTrailer
	inTunnel // no longer HTTP: a CONNECT came
	atEnd    // nothing more will be read
)

// violation is why the head with number index was not delivered.
type violation struct {
	index    int // on the connection; over HTTP/2 the number of the stream
	reason   capability.Reason
	limit    string // that is exceeded
	excerpt  string
	decision capability.Decision // already on record, where it has an ID
}

// substitute stands for a head that was not delivered, so that the refusal is written
// in its turn, after the answers to the requests before it.
const substitute = "GET /refused HTTP/1.1\r\nHost: refused\r\nConnection: close\r\n\r\n"

const (
	firstBuffer  = 4 << 10
	maxChunkLine = 256
	lingerBytes  = 4 << 20
	lingerTime   = 500 * time.Millisecond
)

// Read delivers bytes that were judged. A deadline that passes loses nothing.
func (s *stream) Read(b []byte) (int, error) {
	for s.ready == 0 {
		if s.phase == atEnd {
			return 0, io.EOF
		}
		if len(s.buf) == 0 && s.passing() {
			return s.pass(b)
		}
		progress, err := s.advance()
		if err != nil {
			return 0, err
		}
		if progress {
			continue
		}
		if err := s.fill(); err != nil && !s.slow(err) {
			return 0, err
		}
	}
	n := copy(b, s.buf[:s.ready])
	s.buf, s.ready = s.buf[n:], s.ready-n
	return n, nil
}

// passing reports whether the next bytes need no look.
func (s *stream) passing() bool {
	return s.phase == inTunnel || (s.phase == inBody || s.phase == inChunk) && s.left > 0
}

// pass reads without a copy.
func (s *stream) pass(b []byte) (int, error) {
	if s.phase != inTunnel && int64(len(b)) > s.left {
		b = b[:s.left]
	}
	n, err := s.Conn.Read(b)
	s.took(int64(n))
	return n, err
}

// took notes that n bytes of a body were let through.
func (s *stream) took(n int64) {
	if s.phase == inTunnel {
		return
	}
	if s.left -= n; s.left > 0 {
		return
	}
	if s.phase == inChunk {
		s.phase = inChunkEnd
	} else {
		s.phase = inHead
	}
}

// fill reads more into the buffer.
func (s *stream) fill() error {
	if len(s.buf) == 0 {
		if s.spare == nil {
			s.spare = make([]byte, firstBuffer)
		}
		s.buf = s.spare[:0]
	}
	if len(s.buf) == cap(s.buf) {
		s.spare = make([]byte, max(firstBuffer, 2*len(s.buf)))
		s.buf = s.spare[:copy(s.spare, s.buf)]
	}
	n, err := s.Conn.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	if n > 0 {
		s.begun.Store(s.phase == inHead)
		return nil
	}
	return err
}

// slow answers a head that did not come in its time.
func (s *stream) slow(err error) bool {
	if s.phase != inHead || len(s.buf) == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	s.violate(violation{reason: capability.TooSlow, limit: limitHeaderTime})
	return true
}

// advance judges what is in the buffer; no progress means that it needs more of it.
func (s *stream) advance() (progress bool, err error) {
	switch s.phase {
	case inHead:
		return s.advanceHead(), nil
	case inTunnel:
		s.ready = len(s.buf)
		return s.ready > 0, nil
	case inBody, inChunk:
		s.ready = int(min(s.left, int64(len(s.buf))))
		s.took(int64(s.ready))
		return s.ready > 0, nil
	}
	return s.advanceLine()
}

func (s *stream) advanceHead() bool {
	if len(s.buf) == 0 {
		return false
	}
	end, most := bytes.Index(s.buf, []byte("\r\n\r\n")), s.link.front.p.cfg.Limits.HeaderBytes
	if end > most || end < 0 && len(s.buf) > most {
		s.violate(tooLarge(limitHeaderBytes))
		return true
	}
	if end < 0 && isTokenByte(s.buf[0]) {
		return false
	}
	if end < 0 { // TLS, most likely: there is no point in waiting for more
		s.violate(violation{reason: capability.MalformedRequest})
		return true
	}
	h, reason := readHead(s.buf[:end+2], s.link)
	if h.fields > s.link.front.p.cfg.Limits.HeaderCount {
		s.violate(tooLarge(limitHeaderCount))
		return true
	}
	if reason == capability.Granted && h.chunked && !s.foresee(s.buf[end+4:]) {
		reason = capability.MalformedRequest
	}
	if reason != capability.Granted {
		s.violate(violation{reason: reason})
		return true
	}
	s.begun.Store(false)
	s.heads++
	s.ready = end + 4
	switch {
	case h.connect, h.upgrade && h.length == 0 && !h.chunked:
		// Whatever comes of it, no request follows.
		s.phase = inTunnel
		s.last.Store(true)
	case h.chunked:
		s.phase = inChunkLine
	case h.length > 0:
		s.phase, s.left = inBody, h.length
	}
	return true
}

// foresee looks at what has come of a chunked body with its head, so that of a request
// which is malformed already nothing goes upstream. It notes the trailers that are there.
func (s *stream) foresee(body []byte) bool {
	ahead := stream{link: s.link, phase: inChunkLine, buf: body}
	for ahead.phase != inHead {
		progress, err := ahead.advance()
		if err != nil {
			return false
		}
		if !progress {
			break
		}
		ahead.buf, ahead.ready = ahead.buf[ahead.ready:], 0
	}
	for _, name := range ahead.trailed.list() {
		s.trailed.add(name)
	}
	return true
}

// violate puts the substitute in the place of the head, as the last one.
func (s *stream) violate(v violation) {
	line, _, _ := bytes.Cut(s.buf[:min(len(s.buf), 256)], []byte("\r\n"))
	line, _, _ = bytes.Cut(line, []byte("?")) // queries are not recorded in the clear
	v.index, v.excerpt = s.heads, excerpt(string(line))
	s.bad.Store(&v)
	s.begun.Store(false)
	s.heads++
	s.buf, s.phase = []byte(substitute), atEnd
	s.ready = len(s.buf)
}

// advanceLine judges the lines between chunks (RFC 9112 section 7.1).
func (s *stream) advanceLine() (progress bool, err error) {
	end := bytes.IndexByte(s.buf, '\n')
	if end < 0 && len(s.buf) <= maxChunkLine {
		return false, nil
	}
	if end < 1 || end > maxChunkLine || s.buf[end-1] != '\r' || bytes.IndexByte(s.buf[:end-1], '\r') >= 0 {
		return false, s.broken()
	}
	line := s.buf[:end-1]
	s.ready = end + 1
	switch s.phase {
	case inChunkEnd:
		if len(line) > 0 {
			return false, s.broken()
		}
		s.phase = inChunkLine
	case inTrailer:
		if len(line) == 0 {
			s.phase = inHead
		} else if !isField(line) {
			return false, s.broken()
		} else {
			s.trailed.add(string(line[:bytes.IndexByte(line, ':')]))
		}
	default:
		size, ok := chunkSize(line)
		if !ok {
			return false, s.broken()
		}
		if s.phase, s.left = inChunk, size; size == 0 {
			s.phase = inTrailer
		}
	}
	return true, nil
}

// broken ends the stream inside a body: where the next request begins is in doubt.
func (s *stream) broken() error {
	s.phase, s.ready, s.buf = atEnd, 0, nil
	s.broke.Store(true)
	return denied(capability.MalformedRequest)
}

// violation is the violation that the request with number n stands for.
func (s *stream) violation(n int) *violation {
	if v := s.bad.Load(); v != nil && v.index == n {
		return v
	}
	return nil
}

// CloseWrite tells the client that no more answers come.
func (s *stream) CloseWrite() error {
	if c, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close closes the connection. It reads on for a moment when the client may still be
// sending, because a reset would take the answer away from it.
func (s *stream) Close() error {
	sending := s.bad.Load() != nil || s.broke.Load() || s.early.Load()
	if sending && s.CloseWrite() == nil && s.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, s.Conn, lingerBytes)
	}
	return s.Conn.Close()
}
