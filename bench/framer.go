package main

import (
	"bufio"
	"encoding/binary"
	"io"
)

// Frame types and flags (RFC 9113 sections 6 and 11.2).
const (
	kindData     = 0
	kindHeaders  = 1
	kindReset    = 3
	kindSettings = 4
	kindPing     = 6
	kindGoAway   = 7
	kindWindow   = 8

	flagEndStream  = 1
	flagAck        = 1
	flagEndHeaders = 4
)

const (
	clientHello = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	wideWindow  = 1 << 30
)

// frame is one frame of HTTP/2; a payload that was read holds until the next read.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

// ends reports whether the frame is the last of its stream.
func (f frame) ends() bool {
	return (f.kind == kindData || f.kind == kindHeaders) && f.flags&flagEndStream != 0
}

// ok reports whether a header block begins with :status 200 (RFC 7541: indexed
// field 8) after changes of the table's size. No header has padding or priority
// here: no server sends them.
func (f frame) ok() bool {
	block := f.payload
	for len(block) > 0 && block[0]&0xe0 == 0x20 {
		block = block[1:]
	}
	return len(block) == 0 || block[0] == 0x88
}

// framer reads and writes frames. Write errors come with the next Flush.
type framer struct {
	in     *bufio.Reader
	out    *bufio.Writer
	buffer []byte
}

func (f *framer) read() (frame, error) {
	var head [9]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return frame{}, err
	}
	length := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	if cap(f.buffer) < length {
		f.buffer = make([]byte, length)
	}
	payload := f.buffer[:length]
	_, err := io.ReadFull(f.in, payload)
	return frame{head[3], head[4], binary.BigEndian.Uint32(head[5:]) &^ (1 << 31), payload}, err
}

func (f *framer) write(g frame) {
	n := len(g.payload)
	head := [9]byte{byte(n >> 16), byte(n >> 8), byte(n), g.kind, g.flags}
	binary.BigEndian.PutUint32(head[5:], g.stream)
	f.out.Write(head[:])
	f.out.Write(g.payload)
}

// preface opens the connection: no push, no dynamic header table, wide windows.
func (f *framer) preface() {
	f.out.WriteString(clientHello)
	var settings []byte
	for _, s := range []struct {
		id    uint16
		value uint32
	}{{1, 0}, {2, 0}, {4, wideWindow}} {
		settings = binary.BigEndian.AppendUint16(settings, s.id)
		settings = binary.BigEndian.AppendUint32(settings, s.value)
	}
	f.write(frame{kind: kindSettings, payload: settings})
	f.window(wideWindow)
}

func (f *framer) window(more uint32) {
	f.write(frame{kind: kindWindow, payload: binary.BigEndian.AppendUint32(nil, more)})
}

// acknowledge answers SETTINGS and PING.
func (f *framer) acknowledge(g frame) {
	if g.flags&flagAck != 0 {
		return
	}
	answer := frame{kind: g.kind, flags: flagAck}
	if g.kind == kindPing {
		answer.payload = g.payload
	}
	f.write(answer)
}

// requestBlock is the header block of a GET, literals without indexing (RFC 7541
// section 6.2.2), so that every stream can send the same bytes.
func requestBlock(path string) []byte {
	block := []byte{0x82, 0x87} // :method GET, :scheme https
	block = literal(block, 1, originURL)
	block = literal(block, 4, path)
	return literal(block, 58, "bench") // user-agent
}

func literal(block []byte, index byte, value string) []byte {
	if index < 15 {
		block = append(block, index)
	} else {
		block = append(block, 0x0f, index-15)
	}
	return append(append(block, byte(len(value))), value...)
}
