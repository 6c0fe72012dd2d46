package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"

	"scupper.dev/scupper/capability"
)

// BenchmarkGet is one keep-alive HTTPS GET of 1 KiB: through scupper, and through the
// least proxy that net/http makes, on the same origin.
func BenchmarkGet(b *testing.B) {
	w := newWorld(b, func(w *world) []*capability.Grant {
		return []*capability.Grant{w.grant("allowed.example", allow(b, "GET", "/public/{rest...}"))}
	}, func(w *world) { w.config.Authority = bare{w.log} })
	body := bytes.Repeat([]byte("x"), 1024)
	w.tls.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.Write(body) })
	b.Run("scupper", func(b *testing.B) { benchGet(b, w.inside(), w) })
	b.Run("minimal", func(b *testing.B) { benchGet(b, minimal(b, w), w) })
}

// bare decides and keeps nothing.
type bare struct{ *ledger }

func (a bare) Authorize(r *capability.Request) capability.Decision { return a.policy.Load().Decide(r) }
func (bare) Finish(capability.Decision, capability.Outcome)        {}

func benchGet(b *testing.B, c net.Conn, w *world) {
	url := w.url("/public/a")
	client := &http.Client{Transport: &http.Transport{
		DialTLSContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }, MaxConnsPerHost: 1,
	}}
	b.ReportAllocs()
	for b.Loop() {
		resp, err := client.Get(url)
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 {
			b.Fatal(resp.Status)
		}
	}
}

// minimal is a net/http server in front of an http.Transport, and nothing else.
func minimal(b *testing.B, w *world) net.Conn {
	b.Helper()
	leaf, err := w.ca.leaf("allowed.example")
	if err != nil {
		b.Fatal(err)
	}
	tr := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: w.config.UpstreamRoots}, ForceAttemptHTTP2: true, DisableCompression: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, w.tls.addr.String())
		},
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.URL.Scheme, r.URL.Host, r.RequestURI = "https", r.Host, ""
		resp, err := tr.RoundTrip(r)
		if err != nil {
			rw.WriteHeader(502)
			return
		}
		defer resp.Body.Close()
		for k, v := range resp.Header {
			rw.Header()[k] = v
		}
		rw.WriteHeader(resp.StatusCode)
		io.Copy(rw, resp.Body)
	}), TLSConfig: &tls.Config{Certificates: []tls.Certificate{*leaf}}, ErrorLog: quiet()}
	ln := listen(b, "127.0.0.1:0")
	go srv.ServeTLS(ln, "", "")
	b.Cleanup(func() { srv.Close() })
	c, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{RootCAs: w.roots, ServerName: "allowed.example"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}
