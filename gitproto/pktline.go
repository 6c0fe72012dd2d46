package gitproto

import (
	"errors"
	"strconv"
)

// kind tells lines from the special packets (gitprotocol-common, "pkt-line Format";
// gitprotocol-v2, "Packet-Line Framing").
type kind byte

const (
	line  kind = iota
	flush      // 0000
	delim      // 0001
)

// packet is one pkt-line.
type packet struct {
	kind kind
	text string // without the line feed at its end
}

// maxLine is the longest pkt-line, its length included.
const maxLine = 65520

var (
	errLength = errors.New("a packet length that is not four hexadecimal digits of a known meaning")
	errShort  = errors.New("a packet that is longer than the rest of the body")
	errByte   = errors.New("a line that is not printable ASCII")
)

// split takes a body apart. Nothing of a client is binary, so neither are lines.
func split(body []byte) ([]packet, error) {
	var out []packet
	for len(body) > 0 {
		p, n, err := next(body)
		if err != nil {
			return nil, err
		}
		out, body = append(out, p), body[n:]
	}
	return out, nil
}

func next(body []byte) (packet, int, error) {
	if len(body) < 4 {
		return packet{}, 0, errShort
	}
	n, ok := length(body[:4])
	switch {
	case !ok || n == 2 || n == 3 || n == 4 || n > maxLine:
		return packet{}, 0, errLength
	case n == 0:
		return packet{kind: flush}, 4, nil
	case n == 1:
		return packet{kind: delim}, 4, nil
	case n > len(body):
		return packet{}, 0, errShort
	}
	text := body[4:n]
	if text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	for _, c := range text {
		if c < ' ' || c >= 0x7f {
			return packet{}, 0, errByte
		}
	}
	return packet{line, string(text)}, n, nil
}

// length reads four digits. strconv would take signs and underscores.
func length(digits []byte) (int, bool) {
	n := 0
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | int(c-'0')
		case 'a' <= c && c <= 'f':
			n = n<<4 | int(c-'a'+10)
		case 'A' <= c && c <= 'F':
			n = n<<4 | int(c-'A'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// appendLine writes text as a pkt-line with a line feed.
func appendLine(b []byte, text string) []byte {
	n := strconv.FormatInt(int64(len(text)+5), 16)
	b = append(b, "0000"[len(n):]...)
	b = append(b, n...)
	b = append(b, text...)
	return append(b, '\n')
}

func appendFlush(b []byte) []byte { return append(b, "0000"...) }
func appendDelim(b []byte) []byte { return append(b, "0001"...) }
