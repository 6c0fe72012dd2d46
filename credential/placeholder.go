package credential

import (
	"io"
	"strings"
)

// prefixes by which clients know a kind of credential. They are public; nothing else of
// a secret is kept in its placeholder.
var prefixes = [...]string{
	"sk-ant-api03-", "sk-ant-oat01-", "sk-ant-", "sk-proj-", "sk-svcacct-", "sk-", "github_pat_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_",
	"glpat-", "gldt-", "glcbt-", "npm_", "pypi-", "hf_", "xoxb-", "xoxp-", "xoxa-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "lin_api_",
	"rubygems_", "dop_v1_", "sntrys_", "hvs.", "AGE-SECRET-KEY-",
}

// minRandom is how many characters of a placeholder are random at least.
const minRandom = 16

// placeholder is a text of the shape of secret: its well-known prefix, its length and
// alphabet, its separators. It is unguessable and has nothing else of the secret.
func placeholder(secret string, random io.Reader) (string, error) {
	rest := secret
	prefix := ""
	for _, p := range prefixes {
		if strings.HasPrefix(secret, p) && len(secret)-len(p) >= minRandom {
			prefix, rest = p, secret[len(p):]
			break
		}
	}
	alphabet := alphabetOf(rest)
	var b strings.Builder
	b.WriteString(prefix)
	drawn := 0
	for i := 0; i < len(rest) || drawn < minRandom; i++ {
		if i < len(rest) && isSeparator(rest[i]) && i > 0 && i < len(rest)-1 {
			b.WriteByte(rest[i])
			continue
		}
		c, err := draw(alphabet, random)
		if err != nil {
			return "", err
		}
		b.WriteByte(c)
		drawn++
	}
	return b.String(), nil
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

// alphabetOf are the classes of characters that s has, hexadecimal where that is all.
func alphabetOf(s string) string {
	hex, classes := true, ""
	for _, class := range []string{lower, upper, digits} {
		if strings.ContainsAny(s, class) {
			classes += class
		}
	}
	for i := range len(s) {
		if !isSeparator(s[i]) && strings.IndexByte("0123456789abcdef", s[i]) < 0 {
			hex = false
		}
	}
	switch {
	case hex:
		return "0123456789abcdef"
	case classes == digits || classes == "":
		return lower + digits
	}
	return classes
}

func isSeparator(c byte) bool { return c == '-' || c == '_' || c == '.' }

// draw picks a character evenly.
func draw(alphabet string, random io.Reader) (byte, error) {
	var b [1]byte
	most := byte(256 / len(alphabet) * len(alphabet) % 256)
	for {
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return 0, err
		}
		if most == 0 || b[0] < most {
			return alphabet[int(b[0])%len(alphabet)], nil
		}
	}
}
