package proxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"scupper.dev/scupper/capability"
)

// wsEvent is a whole message or a control frame.
type wsEvent struct {
	op      byte
	payload string
}

// wsStory is what a stream of frames says, as far as it is frames (RFC 6455 section 5).
type wsStory struct {
	events []wsEvent
	open   *wsEvent // a message without its end; nil: none
	wrong  string   // why the rest is not read; "cut" where only more is missing
}

// tell reads frames from memory, one rule after the other, unlike frameRelay.
func tell(b []byte, masked bool, most int) (s wsStory) {
	for len(b) > 0 {
		op, fin, payload, rest, wrong := nextFrame(b, masked)
		if wrong == "cut" && s.open == nil && (op == opText || op == opBinary) {
			s.open = &wsEvent{op: op}
		}
		if control := op >= opClose; wrong == "cut" && !control && s.open != nil {
			s.open.payload += string(payload)
		}
		if wrong != "" {
			s.wrong = wrong
			return s
		}
		switch {
		case op >= opClose:
			s.events = append(s.events, wsEvent{op, string(payload)})
			if op == opClose {
				return s
			}
		case (op == opContinuation) == (s.open == nil):
			s.wrong = "a message in another, or a continuation of none"
			return s
		default:
			if s.open == nil {
				s.open = &wsEvent{op: op}
			}
			s.open.payload += string(payload)
		}
		if s.open != nil {
			switch text := s.open.op == opText; {
			case len(s.open.payload) > most:
				s.wrong = "too long"
				return s
			case op < opClose && text && !textSoFar(s.open.payload, fin):
				s.wrong = "not UTF-8"
				return s
			case op < opClose && fin:
				s.events, s.open = append(s.events, *s.open), nil
			}
		}
		b = rest
	}
	return s
}

// textSoFar reports whether s is UTF-8, or, before the end of its message, may become so.
func textSoFar(s string, whole bool) bool {
	for missing := 0; missing < utf8.UTFMax && missing <= len(s); missing++ {
		if at := len(s) - missing; utf8.ValidString(s[:at]) && (missing == 0 || !whole && !utf8.FullRuneInString(s[at:])) {
			return true
		}
	}
	return false
}

// nextFrame takes one frame off b. Of one that is cut the payload is what is there.
func nextFrame(b []byte, masked bool) (op byte, fin bool, payload, rest []byte, wrong string) {
	if len(b) < 2 {
		return opClose, false, nil, nil, "cut"
	}
	op, fin = b[0]&15, b[0]>>7 == 1
	n, at := uint64(b[1]&127), 2
	switch {
	case b[0]&0x70 != 0:
		return op, fin, nil, nil, "a reserved bit"
	case !slices.Contains([]byte{0, 1, 2, 8, 9, 10}, op):
		return op, fin, nil, nil, "a reserved operation"
	case b[1]>>7 == 1 != masked:
		return op, fin, nil, nil, "a mask"
	case op >= 8 && (!fin || n > 125):
		return op, fin, nil, nil, "a control frame"
	}
	if wide := map[uint64]int{126: 2, 127: 8}[n]; wide > 0 {
		if len(b) < at+wide {
			return op, fin, nil, nil, "cut"
		}
		n = 0
		for _, c := range b[at : at+wide] {
			n = n<<8 | uint64(c)
		}
		if at += wide; n < 126 || wide == 8 && (n < 1<<16 || n>>63 == 1) {
			return op, fin, nil, nil, "a long form"
		}
	}
	mask := make([]byte, 4)
	if masked {
		if len(b) < at+4 {
			return op, fin, nil, nil, "cut"
		}
		at += copy(mask, b[at:])
	}
	payload = bytes.Clone(b[at:])
	if uint64(len(payload)) > n {
		payload = payload[:n]
	}
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	if uint64(len(payload)) < n {
		return op, fin, payload, nil, "cut"
	}
	if op == 8 && !closes(payload) {
		return op, fin, nil, nil, "a close"
	}
	return op, fin, payload, b[at+int(n):], ""
}

// closes: RFC 6455 section 7.4, by the list of the codes that nobody may send.
func closes(payload []byte) bool {
	if len(payload) == 0 {
		return true
	}
	if len(payload) == 1 || !utf8.Valid(payload[2:]) {
		return false
	}
	code := binary.BigEndian.Uint16(payload)
	return code >= 1000 && code < 5000 && !slices.Contains([]uint16{1004, 1005, 1006, 1015}, code) && (code < 1015 || code >= 3000)
}

// nothingHidden passes messages through the path of those with a secret.
func nothingHidden() *hiding {
	return &hiding{pass: bytes.Clone, end: func() []byte { return nil }}
}

// boundless has no limit of bytes.
type boundless struct{ silent }

func (boundless) Spend(capability.Decision, int64, int64) bool { return true }

// FuzzFrameRelay: whatever a side sends, what leaves are whole frames by the letter, a
// reader of another make finds in them the very messages that were sent, and nothing
// leaves from where the bytes are no frames any more.
func FuzzFrameRelay(f *testing.F) {
	for _, payload := range []string{"", "x", "h\xc3\xa4", string(make([]byte, 200))} {
		for _, op := range []byte{opText, opBinary, opPing, opContinuation} {
			f.Add([]byte(maskedFrame(finBit|op, payload)+maskedFrame(finBit|opClose, "\x03\xe8bye")), true, false, true)
			f.Add([]byte(plainFrame(op, "x")+plainFrame(finBit|opContinuation, "y")), false, true, false)
		}
	}
	const most = 300
	cfg, err := Config{Authority: boundless{}, Names: leases{}, Policy: func() *capability.Policy { return nil }, CA: &CA{}, Limits: Limits{Message: most}}.withDefaults()
	if err != nil {
		f.Fatal(err)
	}
	p := &Proxy{cfg: cfg, buffers: newBuffers()}
	f.Fuzz(func(t *testing.T, sent []byte, client, hidden, slow bool) {
		var from io.Reader = bytes.NewReader(sent)
		if slow {
			from = iotest.OneByteReader(from)
		}
		var left bytes.Buffer
		r := &frameRelay{x: &exchange{p: p, q: &capability.Request{}}, from: bufio.NewReader(from), to: &left, masked: client}
		if hidden && !client {
			r.messages, r.controls = nothingHidden(), nothingHidden()
		}
		r.run()
		said, heard := tell(sent, client, most), tell(left.Bytes(), client, most)
		if heard.wrong != "" && heard.wrong != "cut" {
			t.Fatalf("%s left, in %q of %q", heard.wrong, left.Bytes(), sent)
		}
		if !slices.Equal(heard.events, said.events) {
			t.Fatalf("heard %q, said were %q", heard.events, said.events)
		}
		if heard.open != nil && (said.open == nil || heard.open.op != said.open.op || !bytes.HasPrefix([]byte(said.open.payload), []byte(heard.open.payload))) {
			t.Fatalf("heard is the beginning %q of %q", heard.open, said.open)
		}
		if failed := r.x.failed.Load(); (failed == nil) != (r.code != "") {
			t.Fatalf("the relay ended with %v and the code %q", failed, r.code)
		}
		if wrong := said.wrong != "" && said.wrong != "cut"; wrong && r.code != "" {
			t.Fatalf("%s was taken for an end", said.wrong)
		}
	})
}
