package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"scupper.dev/scupper/credential"
)

const (
	token  = "sk-test-Zq8rT4vXw2Lm9Kp3Nd7H" // 28 bytes
	odd    = `p@ss/w+rd "q" <&> \ %41 é.`
	sorted = "0123456789abcdef"
)

func of(secrets ...string) *Redactor {
	return New(func() (out []credential.Secret) {
		for i, s := range secrets {
			out = append(out, credential.NewSecret(fmt.Sprint("s", i), s))
		}
		return out
	})
}

// spellings are what programs make of a secret.
func spellings(s string) map[string]string {
	quoted, _ := json.Marshal(s)
	plainJSON := new(bytes.Buffer)
	enc := json.NewEncoder(plainJSON)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	var every, everyUpper, unicode, entity, mixed strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&every, "%%%02x", s[i])
		fmt.Fprintf(&everyUpper, "%%%02X", s[i])
	}
	for i, c := range s {
		fmt.Fprintf(&unicode, `\u%04x`, c)
		fmt.Fprintf(&entity, "&#x%X;", c)
		switch i % 3 {
		case 0:
			fmt.Fprintf(&mixed, "&#%d;", c)
		case 1:
			fmt.Fprintf(&mixed, `\u%04X`, c)
		default:
			mixed.WriteString(url.PathEscape(string(c)))
		}
	}
	return map[string]string{
		"raw": s, "hex": hex.EncodeToString([]byte(s)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(s))),
		"query": url.QueryEscape(s), "path": url.PathEscape(s), "every byte": every.String(), "EVERY BYTE": everyUpper.String(),
		"json": string(quoted[1 : len(quoted)-1]), "json without html": strings.Trim(plainJSON.String()[1:], "\n")[:plainJSON.Len()-3],
		"json slashes": strings.ReplaceAll(string(quoted[1:len(quoted)-1]), "/", `\/`), "unicode": unicode.String(),
		"html": html.EscapeString(s), "entities": entity.String(), "mixed": mixed.String(),
	}
}

// covered wants text, between x and y, to come out as asterisks of its length.
func covered(t *testing.T, r *Redactor, name, text string) {
	t.Helper()
	want := "x" + strings.Repeat("*", len(text)) + "y"
	if got := r.mask("x" + text + "y"); got != want {
		t.Errorf("%s: got %q for %q", name, got, text)
	}
}

func TestForms(t *testing.T) {
	for _, secret := range []string{token, odd, sorted, "ünï©ødé-sécret-0"} {
		r := of(secret, "another-secret-of-the-run")
		for name, text := range spellings(secret) {
			covered(t, r, name, text)
		}
	}
}

func TestBase64(t *testing.T) {
	for _, secret := range []string{token, odd, strings.Repeat("\xff\xfb", 12)} {
		r := of(secret)
		for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			for before := range 7 {
				for behind := range 4 {
					text := alphabet.EncodeToString([]byte(strings.Repeat("u", before) + secret + strings.Repeat("v", behind)))
					for name, text := range map[string]string{
						"as it is": text, "in a query": url.QueryEscape(text), "in JSON": strings.ReplaceAll(text, "/", `\/`),
						"in HTML": strings.ReplaceAll(text, "+", "&#43;"),
					} {
						got := r.mask(text)
						left := len(strings.ReplaceAll(got, "*", ""))
						// Whole characters on either side, and one at each end that is shared.
						if most := (before+behind)*4/3 + 7 + 3*2; len(got) != len(text) || left > most {
							t.Errorf("%s, %d before, %d behind: got %q for %q", name, before, behind, got, text)
						}
					}
				}
			}
		}
	}
}

func TestEverySplit(t *testing.T) {
	r := of(token, odd, sorted)
	for _, secret := range []string{token, odd, sorted} {
		for name, form := range spellings(secret) {
			text := "data: {" + form + `} & \ 100% &am %4` + form + "\n\n"
			want := r.mask(text)
			for i := 1; i < len(text); i++ {
				two := io.MultiReader(strings.NewReader(text[:i]), strings.NewReader(text[i:]))
				if got := read(t, r.Reader(two)); got != want {
					t.Fatalf("%s at %d: got %q, want %q", name, i, got, want)
				}
			}
			if got := read(t, r.Reader(iotest.OneByteReader(strings.NewReader(text)))); got != want {
				t.Fatalf("%s byte by byte: got %q, want %q", name, got, want)
			}
		}
	}
}

// TestEveryPlace: wherever a secret stands behind an escape, and the piece ends.
func TestEveryPlace(t *testing.T) {
	r := of(token)
	for name, form := range spellings(token) {
		for at := range 2*stride + 10 {
			text := `\/` + strings.Repeat(`.`, at) + form + "%41"
			want := `\/` + strings.Repeat(`.`, at) + strings.Repeat("*", len(form)) + "%41"
			if got := r.mask(text); got != want {
				t.Fatalf("%s at %d: got %q", name, at, got)
			}
			cut := io.MultiReader(strings.NewReader(text[:at+len(form)/2]), strings.NewReader(text[at+len(form)/2:]))
			if got := read(t, r.Reader(cut)); got != want {
				t.Fatalf("%s at %d, cut: got %q", name, at, got)
			}
		}
	}
}

func read(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCutOff(t *testing.T) {
	r := of(token)
	for name, c := range map[string]struct{ text, want string }{
		"a third at the end": {"key " + token[:10], "key **********"},
		"less at the end":    {"key " + token[:9], "key " + token[:9]},
		"half in the middle": {"key " + token[:14] + "... ok", "key **************... ok"},
		"less in the middle": {"key " + token[:13] + "... ok", "key " + token[:13] + "... ok"},
		"all but one":        {"key " + token[:27] + "!", "key " + strings.Repeat("*", 27) + "!"},
		"twice":              {token + token, strings.Repeat("*", 56)},
		"begun twice":        {token[:5] + token, token[:5] + strings.Repeat("*", 28)},
		"escaped, cut":       {"%73%6b-test-Zq8r", strings.Repeat("*", 16)},
		"cut in an escape":   {token[:12] + "%3", strings.Repeat("*", 14)},
	} {
		if got := r.mask(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestMessages: what is spread over messages is hidden from its first third on, an escape
// that has begun excepted, and no message waits for the next.
func TestMessages(t *testing.T) {
	for name, form := range spellings(token) {
		for size := 1; size < len(form)+3; size++ {
			pass, end := of(token).Messages()
			text, got := "m: "+form+" and more", ""
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				piece := string(pass([]byte(rest[:n])))
				if piece += string(end()); len(piece) != n {
					t.Fatalf("%s: got %q for %q", name, piece, rest[:n])
				}
				got, rest = got+piece, rest[n:]
			}
			shown := len(strings.ReplaceAll(got[3:3+len(form)], "*", ""))
			if shown > len(form)/3+longestEscape || got[:3] != text[:3] || !strings.HasSuffix(got, " and more") || strings.TrimRight(got[3:3+len(form)], "*") != form[:shown] {
				t.Errorf("%s by %d: got %q", name, size, got)
			}
		}
	}
}

// TestPieces: of no piece of two thirds so much is left.
func TestPieces(t *testing.T) {
	for _, secret := range append(eight()[:2], token) {
		r := of(secret)
		for name, form := range map[string]string{"raw": secret, "hex": hex.EncodeToString([]byte(secret)), "base64": base64.RawStdEncoding.EncodeToString([]byte(secret + "--"))[:len(secret)*4/3]} {
			n := (2*len(form) + 2) / 3
			for from := range len(form) {
				for to := from + n; to <= len(form); to++ {
					got := r.mask("..." + form[from:to] + " ...")
					if shown := len(strings.Trim(strings.ReplaceAll(got, "*", ""), ". ")); shown > len(form)/3+1 {
						t.Errorf("%s %d to %d: got %q", name, from, to, got)
					}
					got = read(t, r.Reader(iotest.OneByteReader(strings.NewReader("..."+form[from:to]+" ..."))))
					if shown := len(strings.Trim(strings.ReplaceAll(got, "*", ""), ". ")); shown >= n {
						t.Errorf("%s %d to %d, byte by byte: got %q", name, from, to, got)
					}
				}
			}
		}
	}
}

func TestFormsInsideForms(t *testing.T) {
	a, b := "abcdefghijklmnop", "xxabcdefghijklmnopqrstuvwxyz0123456789-and-more"
	r := of(a, b)
	for text, want := range map[string]string{
		a:                  strings.Repeat("*", 16),
		b:                  strings.Repeat("*", len(b)),
		"xx" + a + "q!":    "xx" + strings.Repeat("*", 16) + "q!",
		"xx" + a[:9] + "!": "xx*********!",
	} {
		if got := r.mask(text); got != want {
			t.Errorf("got %q, want %q for %q", got, want, text)
		}
	}
}

func TestHoldsBackBeginningsOnly(t *testing.T) {
	f, _ := of(token, odd).automata()
	for text, held := range map[string]int{
		"data: {\"a\": 1}\n\n": 0, "event: s": 1, "sk": 2, "sk-x": 0, "a sk-test-": 8, "hello": 0, "50 %": 1, "50 % ": 0, "%7": 2, "a&b": 0,
		"{\"s\":\"\\": 1, "%73k": 4, "caf\u00e9": 0, token: len(token), token + ".": 0, odd[:3] + "!": 0,
	} {
		s := newStream(f)
		if out := s.Next([]byte(text)); len(text)-len(out) != held {
			t.Errorf("%q: held %d, want %d", text, len(text)-len(out), held)
		}
	}
}

func TestShortSecretsAreLeftAlone(t *testing.T) {
	if got := of("short", "").mask("a short text"); got != "a short text" {
		t.Errorf("got %q", got)
	}
}

// TestShortSecret: of one of eight bytes the whole is hidden, since half of it could be
// anything.
func TestShortSecret(t *testing.T) {
	r := of("a1b2c3d4")
	for text, want := range map[string]string{"x a1b2c3d4 x": "x ******** x", "x a1b2c3d x": "x a1b2c3d x", "ends a1b2": "ends ****"} {
		if got := r.mask(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestOtherTextStays: no other byte changes, however the text comes.
func TestOtherTextStays(t *testing.T) {
	r := of(eight()...)
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{"", "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", `%\&u0123;x"`} {
		text := make([]byte, 1<<20)
		for i := range text {
			if text[i] = byte(rnd.Uint32()); alphabet != "" {
				text[i] = alphabet[int(text[i])%len(alphabet)]
			}
		}
		if got := read(t, r.Reader(bytes.NewReader(text))); got != string(text) {
			t.Errorf("%q: text without secrets changed", alphabet)
		}
	}
}

func eight() (out []string) {
	rnd := rand.New(rand.NewPCG(8, 8))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for range 8 {
		b := []byte("ghp_")
		for range 36 {
			b = append(b, alphabet[rnd.IntN(len(alphabet))])
		}
		out = append(out, string(b))
	}
	return out
}

func TestRenewedSecretsAreHidden(t *testing.T) {
	secrets := []credential.Secret{credential.NewSecret("a", token)}
	r := New(func() []credential.Secret { return secrets })
	covered(t, r, "first", token)
	secrets = append(secrets, credential.NewSecret("a", sorted))
	covered(t, r, "first, still", token)
	covered(t, r, "second", sorted)
}

func TestHeader(t *testing.T) {
	h := http.Header{"Location": {"https://example.com/?k=" + url.QueryEscape(odd)}, "X-A": {"1", token}, http.CanonicalHeaderKey(token): {"1"}, "X-B": {"b"}}
	of(token, odd).Header(h)
	want := http.Header{"Location": {"https://example.com/?k=" + strings.Repeat("*", len(url.QueryEscape(odd)))}, "X-A": {"1", strings.Repeat("*", 28)}, "X-B": {"b"}}
	if fmt.Sprint(h) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", h, want)
	}
}

// TestText: CRED-07, a message does not tell how long a secret is.
func TestText(t *testing.T) {
	r := of(token, odd)
	for text, want := range map[string]string{
		"it said " + token + ", " + url.QueryEscape(odd): "it said [secret], [secret]",
		"* a ** " + token[:15] + "... *":                 "* a ** [secret]... *",
		token + token:                                    "[secret]",
		"nothing of it ***":                              "nothing of it ***",
		"":                                               "",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
