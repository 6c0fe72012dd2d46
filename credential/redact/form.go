package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// shortestForm is the length of the shortest form that is looked for, in bytes.
const shortestForm = 8

// forms are the texts by which secret could be known, but for escapes.
func forms(secret string) []string {
	if len(secret) < shortestForm {
		return nil
	}
	digits := hex.EncodeToString([]byte(secret))
	out := []string{secret, digits, strings.ToUpper(digits), strings.ReplaceAll(secret, " ", "+")}
	for _, some := range []string{`%`, `\`, `&`, `%\`, `%&`, `\&`, introducers} {
		out = append(out, misread(secret, some))
	}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			out = append(out, inner(alphabet, secret, before))
		}
	}
	return out
}

// misread is secret where what looks like an escape in it is taken for one: in text
// with escapes of another kind it is.
func misread(secret, some string) string {
	b, out := []byte(secret), []byte(nil)
	for len(b) > 0 {
		size := 0
		if strings.IndexByte(some, b[0]) >= 0 {
			out, size, _ = unescape(out, b)
		}
		if size == 0 {
			out, size = append(out, b[0]), 1
		}
		b = b[size:]
	}
	return string(out)
}

// inner is what base64 makes of secret behind so many other bytes, without the
// characters in which its neighbours have a part.
func inner(alphabet *base64.Encoding, secret string, before int) string {
	text := alphabet.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
	from := (before*8 + 5) / 6
	to := (before + len(secret)) * 8 / 6
	return text[from:to]
}

// allForms are the forms of all secrets, each once.
func allForms(secrets []string) []string {
	var out []string
	for _, s := range secrets {
		out = append(out, forms(s)...)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(f string) bool { return len(f) < shortestForm })
}
