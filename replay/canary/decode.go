package canary

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// decoding is what a text says once one encoding is taken off.
type decoding struct {
	name string
	text string
}

// separators is the name of what compact takes off.
const separators = "separators"

// decoded takes every encoding off that the text, or a part of it, can be in. What was
// left over by compact is not compacted again.
func decoded(text string, compacted bool) []decoding {
	var all []decoding
	if d := unescaped(text); d != text {
		all = append(all, decoding{"percent-encoding", d})
	}
	for _, keep := range []func(rune) bool{encodes, alphanumeric} {
		if d := compact(text, keep); !compacted && d != text {
			all = append(all, decoding{separators, d})
		}
	}
	for _, digits := range runs(text, func(r rune) bool { return '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'f' }) {
		for skip := range 2 {
			if b, err := hex.DecodeString(digits[skip : skip+(len(digits)-skip)/2*2]); err == nil && promising(b) {
				all = append(all, decoding{"hexadecimal", string(b)})
			}
		}
	}
	for _, word := range words(text) {
		all = append(all, decodedWord(word)...)
	}
	return append(all, inflated(text)...)
}

// unescaped undoes percent-encoding and leaves what is none.
func unescaped(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				b.WriteByte(c[0])
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// compact leaves out what may separate pieces.
func compact(text string, keep func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if keep(r) {
			return r
		}
		return -1
	}, text)
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// encodes is true for the characters of base64's alphabets.
func encodes(r rune) bool { return alphanumeric(r) || strings.ContainsRune("+/-_=", r) }

// words are the parts of a text that are long enough to encode something, with and
// without the characters that separate in one alphabet and encode in another.
func words(text string) []string {
	all := runs(text, encodes)
	if !strings.ContainsAny(text, "+/-_=") {
		return all
	}
	return append(all, runs(text, alphanumeric)...)
}

// runs are the longest parts of a text that hold such characters only.
func runs(text string, holds func(rune) bool) (all []string) {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return !holds(r) }) {
		if len(f) >= 2*window {
			all = append(all, f)
		}
	}
	return all
}

// decodedWord decodes a word in every alphabet that it fits, for what is inside another
// encoding; the canary itself is found at any alignment without.
func decodedWord(word string) []decoding {
	var all []decoding
	plain := strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(word)
	for skip := range 4 {
		if part := plain[min(skip, len(plain)):]; len(part) >= window {
			if b, err := base64.RawStdEncoding.DecodeString(part[:len(part)/4*4]); err == nil && promising(b) {
				all = append(all, decoding{"base64", string(b)})
			}
		}
	}
	upper := strings.ToUpper(strings.TrimRight(word, "="))
	for _, e := range []*base32.Encoding{base32.StdEncoding, base32.HexEncoding} {
		if b, err := e.WithPadding(base32.NoPadding).DecodeString(upper[:len(upper)/8*8]); err == nil && promising(b) {
			all = append(all, decoding{"base32", string(b)})
		}
	}
	return all
}

// promising bytes may be text, or compressed: else every word would be looked at three
// times over.
func promising(b []byte) bool {
	printable := 0
	for _, c := range b {
		if ' ' <= c && c < 0x7f {
			printable++
		}
	}
	return printable*10 >= len(b)*9 || compressed(string(b)) >= 0
}

// magics begin compressed data: gzip, zstd, three levels of zlib.
func magics() []string {
	return []string{"\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\x78\x01", "\x78\x9c", "\x78\xda"}
}

// compressed is where compressed data may begin; -1: nowhere.
func compressed(text string) int {
	first := -1
	for _, m := range magics() {
		if i := strings.Index(text, m); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// inflated decompresses what begins like compressed data, and the whole text in the two
// formats that begin like nothing.
func inflated(text string) []decoding {
	var all []decoding
	try := func(name, text string, open func(io.Reader) (io.Reader, error)) {
		r, err := open(strings.NewReader(text))
		if err != nil {
			return
		}
		b, _ := io.ReadAll(io.LimitReader(r, longest)) // as much as there is, also of what was cut
		if len(b) >= window {
			all = append(all, decoding{name, string(b)})
		}
	}
	for _, m := range magics() {
		for at, n := 0, 0; n < 4; n++ {
			i := strings.Index(text[at:], m)
			if i < 0 {
				break
			}
			try(nameOf(m), text[at+i:], opener(m))
			at += i + 1
		}
	}
	if !isText(text) {
		try("deflate", text, func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil })
		try("brotli", text, func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil })
	}
	return all
}

func nameOf(magic string) string {
	switch magic[0] {
	case 0x1f:
		return "gzip"
	case 0x28:
		return "zstd"
	}
	return "zlib"
}

func opener(magic string) func(io.Reader) (io.Reader, error) {
	switch nameOf(magic) {
	case "gzip":
		return func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "zstd":
		return func(r io.Reader) (io.Reader, error) {
			d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(longest))
			if err != nil {
				return nil, err
			}
			return d.IOReadCloser(), nil
		}
	}
	return func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }
}

// isText reports whether there is nothing but text in it.
func isText(text string) bool {
	return bytes.IndexFunc([]byte(text), func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0xfffd }) < 0
}
