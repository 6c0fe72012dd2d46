package redact

import (
	"bytes"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzStream: no form of a secret survives, however it is spelt and however the text
// comes; what is not of a secret stays as it is, byte for byte.
func FuzzStream(f *testing.F) {
	f.Add(token, "before ", "&amp; behind", uint64(1))
	f.Add(odd, `{"a": "`, `"}\n`, uint64(2))
	f.Add(strings.Repeat("ab", 10), "ababa", "babab%61", uint64(3))
	f.Add("0123456789abcdef%41", "%30%31", "%3", uint64(4))
	f.Fuzz(func(t *testing.T, secret, before, behind string, seed uint64) {
		if len(secret) < 16 || len(secret) > 200 || strings.ContainsFunc(secret, func(c rune) bool { return c < ' ' || c == utf8.RuneError || c > 0xffff }) || len(before)+len(behind) > 1000 {
			return
		}
		rnd, r := rand.New(rand.NewPCG(seed, 0)), of(secret)
		forms := spellings(secret)
		forms["base64"] = base64.StdEncoding.EncodeToString([]byte(secret))
		for name, form := range forms {
			text := before + form + behind
			got := read(t, r.Reader(&pieces{text, rnd}))
			if len(got) != len(text) {
				t.Fatalf("%s: got %d bytes, want %d", name, len(got), len(text))
			}
			// Of what lacks its beginning, pieces that are gone may show more.
			whole := r.mask(text)
			for i := range len(text) {
				if got[i] != whole[i] && (whole[i] != '*' || got[i] != text[i]) {
					t.Fatalf("%s: in pieces %q, as a whole %q", name, got, whole)
				}
			}
			if misread(secret, introducers) != secret || !standsAlone(text, len(before)) || !standsAlone(text, len(before)+len(form)) {
				continue // the text spells something else
			}
			most := 0
			if name == "base64" {
				most = 4 // in its end neighbours have a part
			}
			if shown := strings.TrimLeft(got[len(before):len(before)+len(form)], "*"); len(shown) > most {
				t.Fatalf("%s: got %q for %q", name, got, text)
			}
		}
		if got := r.mask(before + behind); got != before+behind && !begins(allForms([]string{secret}), before+behind) {
			t.Fatalf("changed %q to %q", before+behind, got)
		}
	})
}

// standsAlone reports whether no escape of text reaches from before at to behind it.
func standsAlone(text string, at int) bool {
	i := 0
	for i < at {
		_, size, _ := unescape(nil, []byte(text[i:]))
		i += max(size, 1)
	}
	return i == at
}

// begins reports whether text has so much of a form, in any spelling, that some of it
// may be hidden: the first bytes of one.
func begins(forms []string, text string) bool {
	spelt := misread(text, introducers)
	for _, f := range forms {
		for _, f := range []string{f, f[third(len(f)):]} {
			if first := f[:min(third(len(f)), len(f))]; strings.Contains(text, first) || strings.Contains(spelt, first) {
				return true
			}
		}
	}
	return false
}

// pieces gives a text in pieces of random sizes.
type pieces struct {
	text string
	rnd  *rand.Rand
}

func (p *pieces) Read(buf []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(buf, p.text[:min(len(p.text), 1+p.rnd.IntN(9))])
	p.text = p.text[n:]
	return n, nil
}

// FuzzCodings: no body makes a decoder panic or grow without bound.
func FuzzCodings(f *testing.F) {
	for coding := range encoders {
		f.Add(coding, encode(f, coding, "text "+token))
	}
	f.Fuzz(func(t *testing.T, coding string, body []byte) {
		resp := answer(coding, bytes.NewReader(body))
		if err := of(token).Response(resp); err != nil {
			return
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err == nil && n > freeBytes && n/maxRatio > int64(len(body)) {
			t.Errorf("%d bytes made %d", len(body), n)
		}
		resp.Body.Close()
	})
}
