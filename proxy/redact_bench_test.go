package proxy

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/credential"
	"scupper.dev/scupper/credential/redact"
)

// BenchmarkDownload is a body of 64 MiB of random bytes: without a credential, with
// eight secrets to look for, and through the least proxy that net/http makes.
func BenchmarkDownload(b *testing.B) {
	secrets := make([]credential.Secret, 8)
	for i := range secrets {
		secrets[i] = credential.NewSecret("llm", string(rune('a'+i))+real+"-0123456789")
	}
	w := newWorld(b, func(w *world) []*capability.Grant {
		return []*capability.Grant{w.grant("allowed.example", allow(b, "GET", "/public/{rest...}")), w.bound("llm", "/v1/{item}")}
	}, configured(func(c *Config) {
		c.Credentials, c.Redactor = new(safe), redact.New(func() []credential.Secret { return secrets })
	}), func(w *world) { w.config.Authority = bare{w.log} })
	body := make([]byte, 64<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(body)
	w.tls.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.Write(body) })
	b.Run("anonymous", func(b *testing.B) { download(b, w.inside(), w.url("/public/a")) })
	b.Run("redacted", func(b *testing.B) { download(b, w.inside(), w.url("/v1/models")) })
	b.Run("minimal", func(b *testing.B) { download(b, minimal(b, w), w.url("/public/a")) })
}

func download(b *testing.B, c net.Conn, url string) {
	client := &http.Client{Transport: &http.Transport{
		DialTLSContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }, MaxConnsPerHost: 1, DisableCompression: true,
	}}
	b.SetBytes(64 << 20)
	for b.Loop() {
		resp, err := client.Get(url)
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if resp.Body.Close(); n != 64<<20 || err != nil {
			b.Fatal(resp.Status, n, err)
		}
	}
}
