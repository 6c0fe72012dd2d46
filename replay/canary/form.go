package canary

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf16"
)

// form is one spelling of a canary, in lower case.
type form struct {
	canary int
	name   string
	text   string
}

// forms are the spellings of a value that stand as they are in some text. A text is
// compared in lower case, which costs base64 one bit in six.
func forms(i int, value string) []form {
	all := []form{
		{i, "plain", value}, {i, "reversed", reversed(value)}, {i, "hexadecimal", hex.EncodeToString([]byte(value))},
		{i, "UTF-16", wide(value, false)}, {i, "UTF-16, big-endian", wide(value, true)},
	}
	for offset := range 3 {
		all = append(all, form{i, "base64", inner(base64.RawStdEncoding.EncodeToString, value, offset, 3, 4)})
	}
	for offset := range 5 {
		all = append(all, form{i, "base32", inner(base32.StdEncoding.EncodeToString, value, offset, 5, 8)},
			form{i, "base32hex", inner(base32.HexEncoding.EncodeToString, value, offset, 5, 8)})
	}
	for j := range all {
		all[j].text = strings.ToLower(all[j].text)
	}
	return all
}

// inner is what the encoding of a longer text has of value, when value begins offset
// bytes into a group of size bytes, which become width characters.
func inner(encode func([]byte) string, value string, offset, size, width int) string {
	skip := (size - offset) % size // bytes of value in a group that others begin
	whole := (len(value) - skip) / size * size
	return encode([]byte(value[skip : skip+whole]))[:whole/size*width]
}

func reversed(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

func wide(s string, bigEndian bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if bigEndian {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}
