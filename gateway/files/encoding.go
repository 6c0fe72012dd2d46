package files

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how the characters of a file are written.
type encoding string

const (
	utf8Text encoding = "utf-8"
	utf16LE  encoding = "utf-16le"
	utf16BE  encoding = "utf-16be"
	latin1   encoding = "iso-8859-1" // whatever is not UTF-8 and has no NUL
	notText  encoding = "binary"
)

// wide reports whether characters have two bytes or four.
func (e encoding) wide() bool { return e == utf16LE || e == utf16BE }

// sniff tells an encoding by the beginning of a file, and how long its byte order mark is.
// It does not tell UTF-8 from ISO-8859-1: that takes the whole file.
func sniff(head []byte) (e encoding, mark int) {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return utf8Text, 3
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return notText, 0 // UTF-32
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return utf16LE, 2
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return utf16BE, 2
	case bytes.IndexByte(head, 0) >= 0:
		return unmarked(head), 0
	case controls(head) > len(head)/10:
		return notText, 0
	}
	return utf8Text, 0
}

// unmarked tells UTF-16 without a mark: mostly ASCII, so that every other byte is NUL.
func unmarked(head []byte) encoding {
	var zero [2]int
	for i, b := range head {
		if b == 0 {
			zero[i%2]++
		}
	}
	half := len(head) / 2
	switch {
	case half >= 2 && zero[1] > half*7/10 && zero[0] <= half/50:
		return utf16LE
	case half >= 2 && zero[0] > half*7/10 && zero[1] <= half/50:
		return utf16BE
	}
	return notText
}

func controls(head []byte) (n int) {
	for _, b := range head {
		if b < 0x20 && !bytes.ContainsRune([]byte("\t\n\v\f\r\b\x1b"), rune(b)) || b == 0x7f {
			n++
		}
	}
	return n
}

// encodingOf tells the encoding of a whole file. One with some good UTF-8 in it and some
// bytes that are not is taken for UTF-8, and those bytes are left alone.
func encodingOf(text []byte) (e encoding, mark int) {
	e, mark = sniff(text[:min(len(text), 8<<10)])
	if e.wide() && len(text)%2 != 0 || e == utf8Text && bytes.IndexByte(text, 0) >= 0 {
		return notText, 0
	}
	if e == utf8Text && mark == 0 && !utf8.Valid(text) && !hasWide(text) {
		return latin1, 0
	}
	return e, mark
}

// hasWide reports whether there is a good UTF-8 sequence of several bytes.
func hasWide(text []byte) bool {
	for len(text) > 0 {
		_, size := utf8.DecodeRune(text)
		if size > 1 {
			return true
		}
		text = text[size:]
	}
	return false
}

// encode writes characters; it is false when the encoding has not all of them.
func (e encoding) encode(s string) ([]byte, bool) {
	switch e {
	case utf16LE, utf16BE:
		var out []byte
		for _, unit := range utf16.Encode([]rune(s)) {
			out = append(out, e.unit(unit)...)
		}
		return out, true
	case latin1:
		var out []byte
		for _, r := range s {
			if r > 0xff {
				return nil, false
			}
			out = append(out, byte(r))
		}
		return out, true
	}
	return []byte(s), true
}

func (e encoding) unit(u uint16) []byte {
	if e == utf16BE {
		return []byte{byte(u >> 8), byte(u)}
	}
	return []byte{byte(u), byte(u >> 8)}
}

// decode reads characters; what is none becomes U+FFFD.
func (e encoding) decode(text []byte) string {
	switch e {
	case utf16LE, utf16BE:
		units := make([]uint16, 0, len(text)/2)
		for i := 0; i+1 < len(text); i += 2 {
			a, b := uint16(text[i]), uint16(text[i+1])
			if e == utf16BE {
				a, b = b, a
			}
			units = append(units, a|b<<8)
		}
		return string(utf16.Decode(units))
	case latin1:
		var out strings.Builder
		for _, b := range text {
			out.WriteRune(rune(b))
		}
		return out.String()
	}
	return string(text)
}

// decodeLine reads a line of a file that is UTF-8 for the most part.
func decodeLine(text []byte) (s string, e encoding) {
	if utf8.Valid(text) {
		return string(text), utf8Text
	}
	return latin1.decode(text), latin1
}

// typeOf names the type of a binary file by its beginning.
func typeOf(head []byte) string {
	for magic, name := range map[string]string{
		"\x7fELF": "application/x-elf", "SQLite format 3\x00": "application/vnd.sqlite3", "\xca\xfe\xba\xbe": "application/java-vm",
		"\xfd7zXZ\x00": "application/x-xz", "\x28\xb5\x2f\xfd": "application/zstd", "BZh": "application/x-bzip2",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return name
		}
	}
	return http.DetectContentType(head[:min(len(head), 512)])
}

func countLines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
