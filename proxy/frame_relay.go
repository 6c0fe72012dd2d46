package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"scupper.dev/scupper/capability"
)

// frameRelay passes the frames of one direction of a WebSocket on (RFC 6455 section 5).
// It reads each by the letter and writes it anew: a stream of anything else ends it.
type frameRelay struct {
	x      *exchange
	from   *bufio.Reader
	to     io.Writer
	masked bool // frames come from the client

	messages, controls *hiding // nil: there is no secret to hide
	op                 byte    // of the next frame of a message with something hidden

	message int64  // bytes of the message so far
	inside  bool   // a message has begun and not ended
	text    bool   // it is text
	rest    []byte // of a character that the last piece cut
	code    string // of the close frame, once one has passed
	ended   time.Time
}

// The operations of a frame (RFC 6455 section 5.2).
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa

	finBit, maskBit = 0x80, 0x80
	maxControl      = 125
)

var (
	errFrame   = errors.New("not a WebSocket frame of an agreed kind")
	errText    = errors.New("a text message that is not UTF-8")
	errMessage = errors.New("a message over its maximum")
)

// wsFrame is the head of a frame.
type wsFrame struct {
	fin    bool
	op     byte
	length int64
	mask   [4]byte
}

// run passes frames on until the close frame, the end, or a mistake.
func (r *frameRelay) run() {
	for r.code == "" {
		f, err := r.head()
		if err == nil {
			err = r.pass(f)
		}
		if err != nil {
			r.fail(err)
			return
		}
	}
}

// fail says whose fault err is.
func (r *frameRelay) fail(err error) {
	wrong := errors.Is(err, errFrame) || errors.Is(err, errText) || errors.Is(err, errMessage)
	switch {
	case r.x.failed.Load() != nil:
	case wrong && r.masked:
		r.x.q.Excerpt = excerpt("WebSocket: " + err.Error())
		r.x.fail(*denied(capability.MalformedRequest))
		r.x.p.cfg.Authority.Refuse(r.x.q, capability.MalformedRequest)
	case r.masked:
		r.x.fail(failure{kind: errClientGone, cause: err})
	default:
		r.x.fail(failure{kind: errUpstreamBroken, cause: err})
	}
}

// head reads and judges the head of a frame.
func (r *frameRelay) head() (f wsFrame, err error) {
	var b [8]byte
	if _, err := io.ReadFull(r.from, b[:2]); err != nil {
		return f, err
	}
	f.fin, f.op, f.length = b[0]&finBit != 0, b[0]&0x0f, int64(b[1]&^maskBit)
	if b[0]&0x70 != 0 || (b[1]&maskBit != 0) != r.masked {
		return f, errFrame
	}
	switch n := f.length; {
	case n == 126:
		_, err = io.ReadFull(r.from, b[6:])
		f.length = int64(binary.BigEndian.Uint16(b[6:]))
	case n == 127:
		_, err = io.ReadFull(r.from, b[:])
		f.length = int64(binary.BigEndian.Uint64(b[:]) & math.MaxInt64)
		if b[0]&0x80 != 0 || f.length <= math.MaxUint16 {
			err = errors.Join(err, errFrame)
		}
	}
	if err == nil && b[1]&^maskBit == 126 && f.length < 126 {
		err = errFrame // not the shortest form
	}
	if err == nil && r.masked {
		_, err = io.ReadFull(r.from, f.mask[:])
	}
	if err != nil {
		return f, err
	}
	return f, r.admit(f)
}

// admit judges a frame by its place among the others.
func (r *frameRelay) admit(f wsFrame) error {
	switch f.op {
	case opClose, opPing, opPong:
		if !f.fin || f.length > maxControl {
			return errFrame
		}
		return nil
	case opText, opBinary:
		if r.inside {
			return errFrame
		}
		r.message, r.text = 0, f.op == opText
	case opContinuation:
		if !r.inside {
			return errFrame
		}
	default:
		return errFrame
	}
	if r.inside = !f.fin; f.length > r.x.p.cfg.Limits.Message-r.message {
		return errMessage
	}
	r.message += f.length
	return nil
}

// pass writes a frame anew, as its payload comes.
func (r *frameRelay) pass(f wsFrame) error {
	buf := r.x.p.buffers.Get().(*[chunk]byte)
	defer r.x.p.buffers.Put(buf)
	if f.op >= opClose {
		return r.control(f, buf[:f.length])
	}
	if r.messages != nil {
		return r.passHidden(f, buf[:])
	}
	head, mask := r.encode(f)
	for done := int64(0); done < f.length || len(head) > 0; head = nil {
		at := copy(buf[:], head) // with the first piece, so that one that is refused is no frame for anybody
		piece, err := r.piece(buf[at:min(int64(len(buf)), int64(at)+f.length-done)], f, done)
		if err != nil {
			return err
		}
		r.cover(piece, mask, done)
		if err := r.write(buf[:at+len(piece)]); err != nil {
			return err
		}
		done += int64(len(piece))
	}
	return nil
}

// piece reads some of the payload of a frame, from offset on, in the clear. The last
// one of a text is judged with all of it.
func (r *frameRelay) piece(buf []byte, f wsFrame, offset int64) ([]byte, error) {
	if len(buf) > 0 {
		n, err := r.from.Read(buf)
		if err != nil {
			return nil, err
		}
		buf = buf[:n]
		r.cover(buf, f.mask, offset)
	}
	last := f.fin && offset+int64(len(buf)) == f.length
	if r.text && (!r.whole(buf) || last && len(r.rest) > 0) {
		return nil, errText
	}
	return buf, nil
}

// control passes a frame that stands for itself; it is judged before any of it is sent.
func (r *frameRelay) control(f wsFrame, payload []byte) error {
	if _, err := io.ReadFull(r.from, payload); err != nil {
		return err
	}
	r.cover(payload, f.mask, 0)
	if f.op == opClose && !validClose(payload) {
		return errFrame
	}
	code := "without a code"
	if f.op == opClose && len(payload) > 0 {
		code = strconv.Itoa(int(binary.BigEndian.Uint16(payload)))
	}
	if f.op == opClose {
		r.ended = time.Now() // before it is passed on: the answer may be quick
	}
	payload = r.hideControl(f.op, payload)
	head, mask := r.encode(f)
	r.cover(payload, mask, 0)
	if err := r.write(append(head, payload...)); err != nil {
		return err
	}
	if f.op == opClose {
		r.code = code
	}
	return nil
}

// validClose: no payload, or a code that may be sent and a text (RFC 6455 section 7.4).
func validClose(payload []byte) bool {
	if len(payload) == 0 {
		return true
	}
	if len(payload) == 1 || !utf8.Valid(payload[2:]) {
		return false
	}
	switch code := binary.BigEndian.Uint16(payload); {
	case code >= 1000 && code <= 1003, code >= 1007 && code <= 1014, code >= 3000 && code <= 4999:
		return true
	}
	return false
}

// encode is the head in its shortest form, with a mask of our own towards the upstream:
// the client's could say something.
func (r *frameRelay) encode(f wsFrame) (head []byte, mask [4]byte) {
	first, second := f.op, byte(0)
	if f.fin {
		first |= finBit
	}
	if r.masked {
		second = maskBit
		copy(mask[:], random(len(mask)))
	}
	head = make([]byte, 0, 14)
	switch {
	case f.length < 126:
		head = append(head, first, second|byte(f.length))
	case f.length <= math.MaxUint16:
		head = binary.BigEndian.AppendUint16(append(head, first, second|126), uint16(f.length))
	default:
		head = binary.BigEndian.AppendUint64(append(head, first, second|127), uint64(f.length))
	}
	if r.masked {
		head = append(head, mask[:]...)
	}
	return head, mask
}

// cover masks or unmasks bytes that stand at offset in the payload.
func (r *frameRelay) cover(b []byte, mask [4]byte, offset int64) {
	if !r.masked {
		return
	}
	for i := range b {
		b[i] ^= mask[(offset+int64(i))%4]
	}
}

// whole reports whether a piece of a text goes on in UTF-8; a cut character waits.
func (r *frameRelay) whole(piece []byte) bool {
	b := append(r.rest, piece...)
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n == 1 {
			if utf8.FullRune(b) {
				return false
			}
			break
		}
		b = b[n:]
	}
	r.rest = append(make([]byte, 0, utf8.UTFMax), b...)
	return true
}

// write counts what it passes on.
func (r *frameRelay) write(b []byte) error {
	sent, received := int64(len(b)), int64(0)
	if !r.masked {
		sent, received = received, sent
	}
	if !r.x.spend(sent, received) {
		return r.x.failed.Load()
	}
	_, err := r.to.Write(b)
	return err
}
