package proxy

import (
	"context"
	"crypto/tls"
	"net/http"
	"strings"

	"golang.org/x/net/http2"
)

// h2Conn is an HTTP/2 connection to allowed.example.
func (w *world) h2Conn() *http2.ClientConn {
	w.t.Helper()
	c, err := w.dialTLS(&tls.Config{ServerName: "allowed.example", NextProtos: []string{"h2"}})
	if err != nil {
		w.t.Fatal(err)
	}
	cc, err := (&http2.Transport{DisableCompression: true}).NewClientConn(c)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { cc.Close() })
	return cc
}

// h2Authority sends a GET whose :authority is other.
func h2Authority(w *world, other string) (int, error) {
	req, err := http.NewRequestWithContext(context.Background(), "GET", w.url("/public/a"), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Host = other
	resp, err := w.h2Conn().RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// h2Path sends a GET whose :path is target, byte for byte.
func h2Path(w *world, cc *http2.ClientConn, target string) (*http.Response, error) {
	req, err := http.NewRequest("GET", w.url("/"), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	path, query, found := strings.Cut(target, "?")
	req.URL.Opaque, req.URL.RawQuery, req.URL.ForceQuery = path, query, found
	return cc.RoundTrip(req)
}
