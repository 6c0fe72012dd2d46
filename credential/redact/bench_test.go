package redact

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"
	"time"

	"scupper.dev/scupper/credential"
)

// BenchmarkScan is text in pieces as the proxy reads them, with eight secrets.
func BenchmarkScan(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 32<<10)
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	rows := make([]map[string]string, 300)
	for i := range rows {
		rows[i] = map[string]string{"name": "package-name", "text": "a line\nand \"another\" one", "url": "https://example.com/a/b?c=d"}
	}
	text, _ := json.Marshal(rows)
	for name, text := range map[string][]byte{"random": random, "JSON": text[:32<<10], "escapes only": bytes.Repeat([]byte(`\"`), 16<<10), "letters": bytes.Repeat([]byte("ordinary words "), 2200)[:32<<10]} {
		b.Run(name, func(b *testing.B) {
			f, _ := of(eight()...).automata()
			s := newStream(f)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			n, before := 0, processor(b)
			for b.Loop() {
				s.Next(text)
				n += len(text)
			}
			b.ReportMetric(float64(n)/1e6/(processor(b)-before).Seconds(), "MB/cpu-s")
		})
	}
}

// BenchmarkSmall is an answer of 1 KiB from its beginning to its end.
func BenchmarkSmall(b *testing.B) {
	secrets := of(eight()...).secrets()
	r := New(func() []credential.Secret { return secrets })
	text := bytes.Repeat([]byte("x"), 1<<10)
	buf := make([]byte, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		from := r.Reader(bytes.NewReader(text))
		for {
			if _, err := from.Read(buf); err == io.EOF {
				break
			}
		}
	}
}

// processor is the time that this process has used: what counts where others use the
// machine, too.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// BenchmarkHeader is the header of an ordinary answer.
func BenchmarkHeader(b *testing.B) {
	secrets := of(eight()...).secrets()
	r := New(func() []credential.Secret { return secrets })
	h := http.Header{
		"Date": {"Mon, 30 Nov 2026 14:37:07 GMT"}, "Content-Type": {"application/json; charset=utf-8"}, "Content-Length": {"1234"},
		"Cache-Control": {"public, max-age=60"}, "Etag": {`W/"0123456789abcdef0123456789abcdef"`}, "Vary": {"Accept, Authorization"},
		"X-Request-Id": {"7b1c:3e5a:91f2d:a0b1c2:6543210f"}, "Strict-Transport-Security": {"max-age=31536000; includeSubDomains"},
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Header(h)
	}
}
