package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// flusher is what every encoder is.
type flusher interface {
	io.WriteCloser
	Flush() error
}

// encoders by Content-Encoding.
var encoders = map[string]func(io.Writer) flusher{
	"gzip":    func(w io.Writer) flusher { return gzip.NewWriter(w) },
	"x-gzip":  func(w io.Writer) flusher { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) flusher { return zlib.NewWriter(w) },
	"br":      func(w io.Writer) flusher { return brotli.NewWriter(w) },
	"zstd":    func(w io.Writer) flusher { z, _ := zstd.NewWriter(w); return z },
}

func encode(t testing.TB, coding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := encoders[coding](&b)
	_, err := io.WriteString(z, text)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func answer(coding string, body io.Reader) *http.Response {
	h := http.Header{"Etag": {`"1"`}, "Content-Digest": {"sha-256=:AA==:"}, "Content-Length": {"1"}}
	if coding != "" {
		h["Content-Encoding"] = []string{coding}
	}
	return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(body), ContentLength: 1}
}

func TestCodings(t *testing.T) {
	text := strings.Repeat("some text, ", 1000) + token + strings.Repeat(" and more of it", 1000)
	want := strings.Replace(text, token, strings.Repeat("*", len(token)), 1)
	for coding := range encoders {
		coded := encode(t, coding, text)
		for name, src := range map[string]io.Reader{"whole": bytes.NewReader(coded), "byte by byte": iotest.OneByteReader(bytes.NewReader(coded)), "with the end": iotest.DataErrReader(bytes.NewReader(coded))} {
			resp := answer(coding, src)
			if err := of(token).Response(resp); err != nil {
				t.Fatalf("%s: %v", coding, err)
			}
			if got := read(t, resp.Body); got != want {
				t.Errorf("%s %s: got %d bytes, want %d", coding, name, len(got), len(want))
			}
			if got, want := fmt.Sprint(resp.Header, resp.ContentLength), `map[Etag:[W/"1"]] -1`; got != want {
				t.Errorf("%s: got header %s, want %s", coding, got, want)
			}
			resp.Body.Close()
		}
	}
}

func TestWithoutCodingNothingChangesButTheSecret(t *testing.T) {
	resp := answer("", strings.NewReader("a "+token))
	before := fmt.Sprint(resp.Header, resp.ContentLength)
	if err := of(token).Response(resp); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(resp.Header, resp.ContentLength); got != before {
		t.Errorf("got %s, want %s", got, before)
	}
	if got := read(t, resp.Body); got != "a "+strings.Repeat("*", 28) {
		t.Errorf("got %q", got)
	}
}

// TestFlushes: what the origin flushes is to be had before it sends more.
func TestFlushes(t *testing.T) {
	for coding, encoder := range encoders {
		from, to := io.Pipe()
		step := make(chan struct{})
		go func() {
			z := encoder(to)
			for range 3 {
				io.WriteString(z, "data: {\"token\": \""+token+"\"}\n\n")
				z.Flush()
				<-step
			}
			z.Close()
			to.Close()
		}()
		resp := answer(coding, from)
		if err := of(token).Response(resp); err != nil {
			t.Fatalf("%s: %v", coding, err)
		}
		want := "data: {\"token\": \"" + strings.Repeat("*", 28) + "\"}\n\n"
		for range 3 {
			got := make([]byte, len(want))
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
				t.Fatalf("%s: got %q, %v", coding, got, err)
			}
			step <- struct{}{}
		}
		if rest := read(t, resp.Body); rest != "" {
			t.Errorf("%s: got %q behind the end", coding, rest)
		}
		resp.Body.Close()
	}
}

func TestUnreadable(t *testing.T) {
	gz := encode(t, "gzip", "text "+token)
	for name, c := range map[string]struct{ coding, body string }{
		"unknown":                {"compress", "x"},
		"two":                    {"gzip, br", string(gz)},
		"text called gzip":       {"gzip", "hello " + token},
		"text called deflate":    {"deflate", token},
		"text called br":         {"br", token},
		"text called zstd":       {"zstd", token},
		"gzip called zstd":       {"zstd", string(gz)},
		"cut in its head":        {"gzip", string(gz[:7])},
		"a window of 128 MiB":    {"zstd", "\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00"},
		"a dictionary":           {"zstd", "\x28\xb5\x2f\xfd\x01\x58\x07\x01\x00\x00"},
		"dictionary of deflate":  {"deflate", "\x78\xbb\x01\x02\x03\x04"},
		"another method in gzip": {"gzip", "\x1f\x8b\x07" + string(gz[3:])},
	} {
		if err := of(token).Response(answer(c.coding, strings.NewReader(c.body))); err == nil {
			t.Errorf("%s: read", name)
		} else if strings.Contains(err.Error(), token[:8]) {
			t.Errorf("%s: the error says %v", name, err)
		}
	}
}

func TestBrokenBehindTheBeginning(t *testing.T) {
	long := strings.Repeat("text, ", 100000)
	for coding := range encoders {
		coded := encode(t, coding, long)
		for name, body := range map[string][]byte{
			"cut": coded[:len(coded)-1], "more behind it": append(bytes.Clone(coded), "more"...), "a bomb": encode(t, coding, strings.Repeat("\x00", 8<<20)),
		} {
			resp := answer(coding, bytes.NewReader(body))
			err := of(token).Response(resp)
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
			}
			if err == nil {
				t.Errorf("%s %s: read to its end", coding, name)
			}
		}
	}
}

func TestMembersAndFrames(t *testing.T) {
	for _, coding := range []string{"gzip", "zstd"} {
		body := append(encode(t, coding, "one "+token[:15]), encode(t, coding, token[15:]+" two")...)
		resp := answer(coding, bytes.NewReader(body))
		if err := of(token).Response(resp); err != nil {
			t.Fatal(err)
		}
		if got, want := read(t, resp.Body), "one "+strings.Repeat("*", 28)+" two"; got != want {
			t.Errorf("%s: got %q, want %q", coding, got, want)
		}
	}
}

func TestNoBody(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		status int
	}{"HEAD": {"HEAD", 200}, "304": {"GET", 304}, "204": {"GET", 204}, "empty": {"GET", 200}} {
		resp := answer("gzip", strings.NewReader(""))
		resp.StatusCode, resp.Request = c.status, &http.Request{Method: c.method}
		if err := of(token).Response(resp); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := read(t, resp.Body); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestAsk(t *testing.T) {
	for _, c := range []struct{ accept, span, wantAccept, wantSpan string }{
		{"", "", "identity", ""},
		{"gzip, compress, br;q=0.5, *", "", "gzip, br;q=0.5", ""},
		{"deflate, GZIP, zstd, dcb, x", "", "gzip, zstd", ""},
		{"compress", "", "identity", ""},
		{"deflate", "", "identity", ""},
		{"gzip", "bytes=0-3", "gzip", ""},
		{"gzip", "bytes=0-65534", "gzip", ""},
		{"gzip", "bytes=0-65535", "identity", "bytes=0-65535"},
		{"gzip", "bytes=5-", "identity", "bytes=5-"},
		{"gzip", "bytes=-70000", "identity", "bytes=-70000"},
		{"gzip", "bytes=0-65535,70000-70001", "gzip", ""},
		{"gzip", "bytes=5-, 6-", "gzip", ""},
		{"gzip", "items=0-", "gzip", ""},
		{"gzip", "bytes=9-1", "gzip", ""},
		{"gzip", "bytes=--70000", "gzip", ""},
	} {
		h := http.Header{}
		if c.accept != "" {
			h.Set("Accept-Encoding", c.accept)
		}
		if c.span != "" {
			h.Set("Range", c.span)
		}
		of(token).Ask(h)
		if got := h.Get("Accept-Encoding"); got != c.wantAccept || h.Get("Range") != c.wantSpan {
			t.Errorf("%+v: got %q, %q", c, got, h.Get("Range"))
		}
	}
}

// TestParts: whatever part of an echoed secret an origin sends, a third is missing.
func TestParts(t *testing.T) {
	for _, secret := range []string{token, sorted, eight()[0]} {
		r := of(secret)
		for from := range len(secret) {
			for to := from + 1; to <= len(secret); to++ {
				got := part(t, r, secret[from:to], "")
				if left := len(strings.ReplaceAll(got, "*", "")); left >= max(4, len(secret)/8) {
					t.Errorf("%d to %d of %q: got %q", from, to, secret, got)
				}
				after := part(t, r, secret[from:], strings.Repeat(".", 100))
				if left := len(strings.Trim(after, "*.")); left >= max(4, len(secret)/8) {
					t.Errorf("%d to %d of %q with more behind: got %q", from, to, secret, after)
				}
			}
		}
	}
	if got := part(t, of(token), token[20:]+token, " and more"); got != strings.Repeat("*", 36)+" and more" {
		t.Errorf("got %q", got)
	}
	if got := part(t, of(token), "nothing of it", strings.Repeat("x", 200)); got != "nothing of it"+strings.Repeat("x", 200) {
		t.Errorf("got %q", got)
	}
}

func part(t *testing.T, r *Redactor, text, more string) string {
	t.Helper()
	resp := answer("", iotest.OneByteReader(strings.NewReader(text+more)))
	resp.StatusCode = 206
	if err := r.Response(resp); err != nil {
		t.Fatal(err)
	}
	return read(t, resp.Body)
}

func TestPartsThatCannotBeRead(t *testing.T) {
	coded := answer("gzip", bytes.NewReader(encode(t, "gzip", "x")))
	parts := answer("", strings.NewReader("x"))
	parts.Header.Set("Content-Type", "Multipart/byteranges; boundary=x")
	for _, resp := range []*http.Response{coded, parts} {
		resp.StatusCode = 206
		if err := of(token).Response(resp); err == nil {
			t.Errorf("read %v", resp.Header)
		}
	}
}

// TestFailingBody: what was held back when a body broke off is never shown.
func TestFailingBody(t *testing.T) {
	resp := answer("", io.MultiReader(strings.NewReader("a "+token[:5]), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if err := of(token).Response(resp); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if string(got) != "a " || err != io.ErrUnexpectedEOF {
		t.Errorf("got %q, %v", got, err)
	}
}
