package differential

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/proxy"
)

// broken is an enforcer as one might write it in an afternoon. What it judges is clean;
// what it sends is what mistake makes of it.
type broken struct {
	proxy.Config
	mistake   string
	transport *http.Transport
}

// The mistakes.
const (
	spelling = "the client's spelling is sent, not the form that was judged"
	twice    = "a request is sent twice"
	refused  = "a request is sent before it is judged"
	lost     = "a request that was granted is not sent"
	shorter  = "the last byte of a body is lost"
	changed  = "the first byte of a body is changed"
	elsehost = "the client's spelling of the host is sent"
	another  = "another method is sent"
	cutoff   = "a body that broke off is sent as a whole one"
	extra    = "a header of the client's comes along"
)

func brokenBy(mistake string) func(proxy.Config) (enforcer, error) {
	return func(c proxy.Config) (enforcer, error) {
		return &broken{c, mistake, &http.Transport{DialContext: c.Dialer.DialContext, DisableCompression: true}}, nil
	}
}

func (b *broken) ServeExplicit(ctx context.Context, ln net.Listener) error {
	return b.ServeTransparent(ctx, ln)
}

func (b *broken) ServeTransparent(ctx context.Context, ln net.Listener) error {
	s := &http.Server{Handler: b}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.Serve(ln); err != http.ErrServerClosed {
		return err
	}
	b.transport.CloseIdleConnections()
	return nil
}

func (b *broken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	q, ok := b.judged(r, int64(len(body)))
	if !ok || err != nil && b.mistake != cutoff {
		http.Error(w, "malformed", http.StatusBadRequest)
		return
	}
	if b.mistake == refused {
		b.send(r, r.RequestURI, body)
	}
	d := b.Authority.Authorize(q)
	if !d.Allowed() {
		http.Error(w, "refused", http.StatusForbidden)
		return
	}
	defer b.Authority.Finish(d, capability.Outcome{Status: 200})
	target := d.Target(q)
	switch b.mistake {
	case refused, lost:
		return
	case spelling:
		target = r.RequestURI
	case twice:
		b.send(r, target, body)
	}
	if err := b.send(r, target, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

// judged cleans the path, as if that made all spellings equal.
func (b *broken) judged(r *http.Request, length int64) (*capability.Request, bool) {
	clean := url.URL{Path: path.Clean(r.URL.Path)}
	p, err := capability.ParsePath(clean.EscapedPath())
	query, err2 := capability.ParseQuery(r.URL.RawQuery)
	host, err3 := capability.ParseHost(strings.TrimSuffix(r.Host, ":80"))
	q := &capability.Request{
		Kind: capability.KindHTTP, Scheme: capability.HTTP, Host: host, Port: 80, Method: r.Method, Path: p, Query: query, Header: r.Header,
	}
	if length > 0 {
		media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		q.Body = capability.Body{Present: true, Type: media, Length: length}
	}
	return q, err == nil && err2 == nil && err3 == nil
}

func (b *broken) send(r *http.Request, target string, body []byte) error {
	raw, query, _ := strings.Cut(target, "?")
	up := &http.Request{
		Method: r.Method, Host: strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(r.Host, ":80"), ".")), Header: http.Header{"User-Agent": nil},
		URL: &url.URL{Scheme: "http", Host: b.Overrides[0].To.String(), Opaque: raw, RawQuery: query},
	}
	switch {
	case b.mistake == shorter && len(body) > 0:
		body = body[:len(body)-1]
	case b.mistake == changed && len(body) > 0:
		body[0] ^= 1
	case b.mistake == elsehost:
		up.Host = r.Host
	case b.mistake == another && r.Method == http.MethodDelete:
		up.Method = http.MethodPatch
	case b.mistake == extra:
		for name, values := range r.Header {
			if strings.HasPrefix(name, "X-") {
				up.Header[name] = values
			}
		}
	}
	if len(body) > 0 {
		up.Body, up.ContentLength = io.NopCloser(strings.NewReader(string(body))), int64(len(body))
	}
	answer, err := b.transport.RoundTrip(up)
	if err != nil {
		return fmt.Errorf("send %q: %w", target, err)
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// TestFindsMistakes gives the harness enforcers that it must find fault with.
func TestFindsMistakes(t *testing.T) {
	k := makeKeys(t, t.TempDir())
	all := origins(t, k)
	for _, mistake := range []string{spelling, twice, refused, lost, shorter, changed, elsehost, another, cutoff, extra} {
		t.Run(mistake, func(t *testing.T) {
			x := &experiment{lab: newLaboratory(t, k), seed: 1, most: 1, requests: 1000, generate: (*generator).simple}
			x.lab.make, x.lab.patience = brokenBy(mistake), time.Second
			against := all
			if mistake != spelling {
				against = all[:1]
			}
			for _, o := range against {
				x.faults = nil
				x.ask(t, []*origin{o})
				if len(x.faults) == 0 {
					t.Fatalf("%s: nothing found in %d requests", o.name, x.tally[o].requests)
				}
				t.Logf("%s: found after %d requests: %s", o.name, x.tally[o].requests, x.faults[0].found[0])
			}
			if mistake == spelling {
				t.Log(x.explain(x.faults[0], 40))
			}
		})
	}
}

// simple makes samples that need no TLS.
func (g *generator) simple() (sample, int) { return g.on(plain, 1), 1 }
