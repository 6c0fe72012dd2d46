package proxy

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"scupper.dev/scupper/capability"
)

// block is a header block while it is read (RFC 9113 section 8).
type block struct {
	raw      []byte // all of its frames, as they came
	pieces   int
	trailers bool
	ends     bool // it ends its stream

	size, count int
	regular     bool // a field that is no pseudo-header has come
	pseudo      [pseudoHeaders]string
	seen        [pseudoHeaders]bool
	hosts       int
	length      int64 // declared; -1: not
	found       violation
}

// The pseudo-headers of a request (RFC 9113 section 8.3.1, RFC 8441 section 4).
const (
	pseudoMethod = iota
	pseudoScheme
	pseudoAuthority
	pseudoPath
	pseudoProtocol
	pseudoHeaders
)

// pseudoNames are in that order.
var pseudoNames = [pseudoHeaders]string{":method", ":scheme", ":authority", ":path", ":protocol"}

// fault notes the first thing that is wrong with the block.
func (b *block) fault(reason capability.Reason, what string) {
	if b.found.reason == "" {
		b.found = violation{reason: reason, excerpt: excerpt(what)}
	}
}

func (b *block) over(limit string) {
	if b.found.limit == "" {
		b.found = tooLarge(limit)
		b.found.excerpt = b.path()
	}
}

// path is for the record; queries are not recorded in the clear.
func (b *block) path() string {
	path, _, _ := strings.Cut(b.pseudo[pseudoPath], "?")
	return excerpt(path)
}

// headers reads a whole block, judges it and delivers it or the substitute.
func (f *frames) headers(h http2.FrameHeader) error {
	if h.StreamID%2 == 0 {
		return f.breach("HEADERS on a stream that is not the client's", f.head[:])
	}
	f.block = block{raw: f.block.raw[:0], trailers: h.StreamID <= f.last, ends: h.Flags.Has(http2.FlagHeadersEndStream), length: -1}
	f.decoder.SetEmitEnabled(true)
	f.last = max(f.last, h.StreamID)
	ok, err := f.collect(h)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		f.drained, ok, err = true, true, nil
		f.block.found = violation{reason: capability.TooSlow, limit: limitHeaderTime, excerpt: f.block.path()}
	}
	if !ok || err != nil {
		return err
	}
	return f.settle(h.StreamID)
}

// settle delivers the block, or what takes its place.
func (f *frames) settle(id uint32) error {
	b := &f.block
	if b.trailers {
		if b.found.reason != "" || !b.ends {
			f.broke.Store(true)
		}
		if left := f.declared[id]; left > 0 {
			f.broke.Store(true)
		}
		delete(f.declared, id)
		f.streams.end(id, clientEnded)
		f.out = b.raw
		return nil
	}
	if b.found.reason == "" {
		b.judge()
	}
	if b.found.reason != "" {
		f.violate(id, b.found)
		return nil
	}
	if b.length >= 0 && !b.ends {
		if f.declared[id] = b.length; len(f.declared) > maxDeclared {
			return f.breach("too many bodies that do not end", b.raw)
		}
	}
	f.streams.begin(id, b.ends)
	f.out = b.raw
	return nil
}

// collect reads the frames of a block; not ok means that a breach was found.
func (f *frames) collect(h http2.FrameHeader) (ok bool, err error) {
	id := h.StreamID
	for {
		if ok, err = f.piece(h); !ok || err != nil {
			return ok, err
		}
		if h.Flags.Has(http2.FlagHeadersEndHeaders) {
			break
		}
		if err := f.arm(frameHeader); err != nil {
			return false, err
		}
		if h, err = f.header(); err != nil {
			return false, err
		}
		if h.Type != http2.FrameContinuation || h.StreamID != id {
			return false, f.breach("a header block that is interrupted", append(f.block.raw, f.head[:]...))
		}
	}
	if err := f.decoder.Close(); err != nil {
		f.undecodable(err)
	}
	return true, f.disarm()
}

// piece reads one frame of a block. What is over the limit is not kept.
func (f *frames) piece(h http2.FrameHeader) (ok bool, err error) {
	b, most := &f.block, f.link.front.p.cfg.Limits.HeaderBytes
	b.pieces++
	if len(b.raw)+int(h.Length) > 2*most || b.pieces > maxContinuations {
		b.over(limitHeaderBytes)
		f.drained = true // the state of the decoder is lost with what is not read
		f.violate(h.StreamID, b.found)
		return false, nil
	}
	if err := f.arm(int(h.Length)); err != nil {
		return false, err
	}
	b.raw = append(b.raw, f.head[:]...)
	from := len(b.raw)
	b.raw = slices.Grow(b.raw, int(h.Length))[:from+int(h.Length)]
	if _, err := io.ReadFull(f.in, b.raw[from:]); err != nil {
		return false, err
	}
	fragment, parent, ok := unpadded(h, b.raw[from:])
	if !ok {
		return false, f.breach("padding without end", b.raw)
	}
	if parent == h.StreamID {
		b.fault(capability.MalformedRequest, "a stream that depends on itself") // RFC 7540 section 5.3.1; net/http resets it
	}
	if _, err := f.decoder.Write(fragment); err != nil {
		f.undecodable(err)
	}
	return true, nil
}

// undecodable: after a field that cannot be read nothing on the connection can.
func (f *frames) undecodable(err error) {
	f.drained = true
	if errors.Is(err, hpack.ErrStringLength) {
		f.block.over(limitHeaderBytes)
		return
	}
	f.block.fault(capability.MalformedRequest, "a header block that cannot be decoded")
}

// unpadded takes padding and priority off (RFC 9113 section 6.2). parent is the stream
// that the priority names, 0 for none.
func unpadded(h http2.FrameHeader, payload []byte) (fragment []byte, parent uint32, ok bool) {
	if h.Type != http2.FrameHeaders {
		return payload, 0, true
	}
	pad := 0
	if h.Flags.Has(http2.FlagHeadersPadded) {
		if len(payload) == 0 {
			return nil, 0, false
		}
		pad, payload = int(payload[0]), payload[1:]
	}
	if h.Flags.Has(http2.FlagHeadersPriority) {
		if len(payload) < 5 {
			return nil, 0, false
		}
		parent, payload = binary.BigEndian.Uint32(payload)&^(1<<31), payload[5:]
	}
	if pad > len(payload) {
		return nil, 0, false
	}
	return payload[:len(payload)-pad], parent, true
}

// arm gives the client a time for what is still missing of a block. It costs nothing
// where all of it is there.
func (f *frames) arm(want int) error {
	if f.in.Buffered() >= want || !f.armed.IsZero() {
		return nil
	}
	f.armed = time.Now().Add(f.link.front.p.cfg.Limits.Header)
	return f.SetReadDeadline(f.armed)
}

func (f *frames) disarm() error {
	if f.armed.IsZero() {
		return nil
	}
	f.armed = time.Time{}
	return f.SetReadDeadline(time.Time{})
}

// field takes one field from the decoder.
func (f *frames) field(h hpack.HeaderField) {
	b, limits := &f.block, &f.link.front.p.cfg.Limits
	b.size += len(h.Name) + len(h.Value) + len(": \r\n")
	if b.count++; b.count > limits.HeaderCount {
		b.over(limitHeaderCount)
	}
	if b.size > limits.HeaderBytes {
		b.over(limitHeaderBytes)
	}
	if b.found.limit != "" {
		f.decoder.SetEmitEnabled(false)
		return
	}
	if strings.HasPrefix(h.Name, ":") {
		b.notePseudo(h)
		return
	}
	b.regular = true
	if b.trailers {
		f.trailed.add(h.Name)
	}
	b.note(h)
}

func (b *block) notePseudo(h hpack.HeaderField) {
	for i, name := range pseudoNames {
		if name != h.Name {
			continue
		}
		if b.seen[i] || b.regular || b.trailers {
			b.fault(capability.MalformedRequest, "pseudo-header out of place: "+h.Name)
		}
		b.seen[i], b.pseudo[i] = true, h.Value
		return
	}
	b.fault(capability.MalformedRequest, "unknown pseudo-header")
}

// note judges a field by the letter of RFC 9113 section 8.2.
func (b *block) note(h hpack.HeaderField) {
	switch {
	case !isLowerToken(h.Name):
		b.fault(capability.MalformedRequest, "a field name: "+h.Name)
	case !isWholeValue(h.Value):
		b.fault(capability.MalformedRequest, "the value of "+h.Name)
	case forConnection(h.Name), h.Name == "te" && h.Value != "trailers":
		b.fault(capability.MalformedRequest, "a field of connections: "+h.Name)
	case b.trailers && !httpguts.ValidTrailerHeader(http.CanonicalHeaderKey(h.Name)):
		b.fault(capability.MalformedRequest, "behind a body: "+h.Name) // net/http resets it where trailers are announced, else drops it
	case h.Name == "host":
		if b.hosts++; b.hosts > 1 {
			b.fault(capability.MalformedRequest, "host twice")
		} else if !allBytes([]byte(h.Value), isHostByte) {
			b.fault(capability.MalformedHost, h.Value)
		}
	case h.Name == "content-length":
		n, err := strconv.ParseUint(h.Value, 10, 62)
		if err != nil || h.Value[0] == '+' || b.length >= 0 {
			b.fault(capability.MalformedRequest, "content-length")
		}
		b.length = int64(n)
	}
}

// judge looks at the block as a whole.
func (b *block) judge() {
	method, path := b.pseudo[pseudoMethod], b.pseudo[pseudoPath]
	switch {
	case !b.seen[pseudoMethod] || !tokens(method):
		b.fault(capability.MalformedRequest, "method")
	case b.seen[pseudoProtocol]:
		b.found = violation{reason: capability.ProtocolNotGranted, excerpt: b.path()}
	case method == http.MethodConnect && (b.seen[pseudoScheme] || b.seen[pseudoPath] || !b.seen[pseudoAuthority]):
		b.fault(capability.MalformedRequest, "CONNECT with a path or a scheme")
	case method != http.MethodConnect && (b.pseudo[pseudoScheme] != "https" || path == ""):
		b.fault(capability.MalformedRequest, "no path, or another scheme")
	case b.seen[pseudoAuthority] && !allBytes([]byte(b.pseudo[pseudoAuthority]), isHostByte):
		b.found = violation{reason: capability.MalformedHost, excerpt: excerpt(b.pseudo[pseudoAuthority])}
	case !isTarget([]byte(path)), method != http.MethodConnect && path[0] != '/': // net/http resets most of those that begin otherwise
		b.found = violation{reason: capability.MalformedPath, excerpt: b.path()}
	case b.ends && b.length > 0:
		b.fault(capability.MalformedRequest, "a declared body that does not come")
	}
}

// forConnection: fields of one connection, which HTTP/2 does not have (RFC 9113 section
// 8.2.2).
func forConnection(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		return true
	}
	return false
}

func tokens(s string) bool { return s != "" && allBytes([]byte(s), isTokenByte) }

func isLowerToken(s string) bool { return tokens(s) && strings.ToLower(s) == s }

// isWholeValue: no control character, and no space around it (RFC 9113 section 8.2.1).
func isWholeValue(s string) bool {
	return allBytes([]byte(s), isValueByte) && strings.Trim(s, " \t") == s
}
