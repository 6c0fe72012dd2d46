package canary

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// spelling is a way of writing a secret that a program knows without writing one itself.
type spelling struct {
	name  string
	write func(secret, before, after string) string
}

func spellings() []spelling {
	coded := func(name string, encode func(string) string) spelling {
		return spelling{name, func(secret, before, after string) string { return encode(before + secret + after) }}
	}
	packed := func(name string, open func(io.Writer) io.WriteCloser) spelling {
		return coded(name, func(s string) string {
			var b bytes.Buffer
			w := open(&b)
			_, _ = io.WriteString(w, s)
			_ = w.Close()
			return b.String()
		})
	}
	return []spelling{
		coded("plain", func(s string) string { return s }),
		coded("upper case", strings.ToUpper),
		coded("reversed", reversed),
		coded("hex", func(s string) string { return hex.EncodeToString([]byte(s)) }),
		coded("upper hex", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }),
		coded("base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		coded("base64url", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }),
		coded("base32", func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }),
		coded("lower base32", func(s string) string { return strings.ToLower(base32.StdEncoding.EncodeToString([]byte(s))) }),
		coded("url", func(s string) string {
			var b strings.Builder
			for _, c := range []byte(s) {
				fmt.Fprintf(&b, "%%%02x", c)
			}
			return b.String()
		}),
		coded("url twice", func(s string) string {
			var b strings.Builder
			for _, c := range []byte(s) {
				fmt.Fprintf(&b, "%%25%02X", c)
			}
			return b.String()
		}),
		coded("UTF-16LE", func(s string) string { return wide(s, false) }),
		coded("UTF-16BE", func(s string) string { return wide(s, true) }),
		packed("gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
		packed("zlib", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }),
		packed("deflate", func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 9); return f }),
		packed("brotli", func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }),
		packed("zstd", func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }),
		coded("base64 of base64", func(s string) string {
			return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s))))
		}),
		coded("base64 of gzip", func(s string) string {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, _ = io.WriteString(w, s)
			_ = w.Close()
			return base64.URLEncoding.EncodeToString(b.Bytes())
		}),
		coded("hex of reversed", func(s string) string { return hex.EncodeToString([]byte(reversed(s))) }),
		coded("query escaped base64", func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) }),
	}
}

// carriers put a text somewhere in messages.
func carriers() map[string]func(text string, r *rand.Rand) []Flow {
	one := func(slot string) func(string, *rand.Rand) []Flow {
		return func(text string, r *rand.Rand) []Flow {
			f := ordinary(r)
			f.Parts = append(f.Parts, Part{slot, text})
			return []Flow{f}
		}
	}
	within := func(kind string) func(string, *rand.Rand) []Flow {
		return func(text string, r *rand.Rand) []Flow {
			f := ordinary(r)
			for i, p := range cut(text, r, 1, 9) {
				f.Parts = append(f.Parts, Part{fmt.Sprintf("%s %d", kind, 100+i), p})
			}
			return []Flow{f}
		}
	}
	across := func(slot, prefix, suffix string) func(string, *rand.Rand) []Flow {
		return func(text string, r *rand.Rand) []Flow {
			var all []Flow
			for _, p := range cut(text, r, 1, 6) {
				all = append(all, Flow{Host: "evil.test", Kind: "http", Parts: []Part{{slot, prefix + p + suffix}}})
			}
			return all
		}
	}
	return map[string]func(string, *rand.Rand) []Flow{
		"body": one("body"), "header": one("header x-note"), "parameter": one("parameter q"), "payload": one("payload"),
		"over headers": within("header"), "over segments": within("segment"), "over parameters": within("parameter"), "over labels": within("label"),
		"over questions": across("label 0", "", ""), "over requests": across("segment 3", "", ""), "between constants": across("parameter id", "a", ".png"),
		"over chunk sizes": across("chunk sizes", "", ""),
	}
}

// cut cuts a text into pieces of a length between least and most.
func cut(text string, r *rand.Rand, least, most int) (pieces []string) {
	for text != "" {
		n := min(len(text), least+r.IntN(most-least+1))
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// ordinary is a request of an install.
func ordinary(r *rand.Rand) Flow {
	digest := make([]byte, 64)
	for i := range digest {
		digest[i] = byte(r.Uint32())
	}
	name := []string{"left-pad", "is-number", "@types/node", "react-dom", "lodash.merge", "core-js", "typescript"}[r.IntN(7)]
	version := fmt.Sprintf("%d.%d.%d", r.IntN(20), r.IntN(30), r.IntN(40))
	parts := []Part{
		{"segment 0", name}, {"segment 1", "-"}, {"segment 2", name + "-" + version + ".tgz"}, {"header user-agent", "npm/10.8.2 node/v22.1.0 linux x64 workspaces/false"},
		{"header accept-encoding", "gzip,deflate,br"}, {"header npm-command", "ci"}, {"header npm-session", hex.EncodeToString(digest[:16])},
		{"header if-none-match", `"` + base64.StdEncoding.EncodeToString(digest[16:36]) + `"`}, {"parameter write", fmt.Sprint(r.IntN(2) == 0)},
	}
	if r.IntN(4) == 0 {
		parts = append(parts, Part{"body", `{"integrity":"sha512-` + base64.StdEncoding.EncodeToString(digest) + `","size":` + fmt.Sprint(r.IntN(1<<20)) + `}`})
	}
	return Flow{Host: "npm.example.com", Kind: "http", Parts: parts}
}

// TestFindsEveryForm plants 2,000 messages and more, each form in each carrier.
func TestFindsEveryForm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	planted := 0
	for round := 0; planted < 2000; round++ {
		for _, s := range spellings() {
			for name, carry := range carriers() {
				if (s.name == "deflate" || s.name == "brotli") && strings.HasPrefix(name, "over ") {
					continue // begins like nothing, and here not at the beginning
				}
				c := New("secret")
				around := func() string { return strings.Repeat("x", r.IntN(7)) + "key=" }
				flows := carry(s.write(c.Value, around(), "&"+strings.Repeat("y", r.IntN(5))), r)
				for range 5 {
					flows = append(flows, ordinary(r))
				}
				planted += len(flows)
				found := Find([]Canary{New("other"), c}, flows)
				if len(found) != 1 || !found[0].Whole() || found[0].Canary != "secret" {
					t.Errorf("%s, %s: found %+v", s.name, name, found)
				}
			}
		}
	}
	t.Logf("%d messages", planted)
}

func TestNoFalseAlarm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	flows := make([]Flow, 10_000)
	for i := range flows {
		flows[i] = ordinary(r)
	}
	canaries := []Canary{New("a"), New("b"), New("c"), New("d")}
	// The one that is there shows that the others are looked for.
	flows[5000].Parts = append(flows[5000].Parts, Part{"header referer", "https://example.com/" + canaries[2].Value})
	found := Find(canaries, flows)
	if len(found) != 1 || found[0].Flow != 5000 || found[0].Where != "npm.example.com: header referer" || found[0].Canary != "c" {
		t.Errorf("found %+v, want canary c alone", found)
	}
}

func TestPieces(t *testing.T) {
	c := New("secret")
	found := Find([]Canary{c}, []Flow{{Host: "a.test", Parts: []Part{{"segment 0", c.Value[3:15]}}}})
	if len(found) != 1 || found[0].Whole() || found[0].Bits != 60 {
		t.Errorf("twelve characters: %+v", found)
	}
	if found := Find([]Canary{c}, []Flow{{Host: "a.test", Parts: []Part{{"segment 0", c.Value[3:10]}}}}); len(found) != 0 {
		t.Errorf("seven characters: %+v", found)
	}
}
