package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"scupper.dev/scupper/capability"
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

// h2Raw sends one header block, "name: value" each, that no client would send. It
// returns the status, empty when the stream or connection was reset.
func h2Raw(w *world, fields ...string) string {
	w.t.Helper()
	c, err := w.dialTLS(&tls.Config{ServerName: "allowed.example", NextProtos: []string{"h2"}})
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, f := range fields {
		i := strings.Index(f[1:], ":") + 1
		enc.WriteField(hpack.HeaderField{Name: f[:i], Value: strings.TrimPrefix(f[i+1:], " ")})
	}
	io.WriteString(c, http2.ClientPreface)
	fr := http2.NewFramer(c, c)
	fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	fr.WriteSettings()
	fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
	for {
		switch f, err := fr.ReadFrame(); f := f.(type) {
		case *http2.MetaHeadersFrame:
			return f.PseudoValue("status")
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return ""
		default:
			if err != nil {
				return ""
			}
		}
	}
}

func TestRawHTTP2(t *testing.T) {
	const method, scheme, path = ":method: GET", ":scheme: https", ":path: /public/a"
	rows := []struct {
		name   string
		fields func(authority string) []string
		status string
		reason capability.Reason // empty: reset by net/http, nothing recorded
	}{
		{"control", func(a string) []string { return []string{method, scheme, path, ":authority: " + a} }, "200", capability.Granted},
		{"TLS-02 Host beside :authority", func(a string) []string {
			return []string{method, scheme, path, ":authority: " + a, "host: " + strings.Replace(a, "allowed", "other", 1)}
		}, "421", capability.AuthorityMismatch},
		{"TLS-02 Host alone", func(a string) []string {
			return []string{method, scheme, path, "host: " + strings.Replace(a, "allowed", "other", 1)}
		}, "421", capability.AuthorityMismatch},
		{"PATH-05 leading slashes", func(a string) []string { return []string{method, scheme, ":path: //public/a", ":authority: " + a} }, "400", capability.MalformedPath},
		{"absolute form as path", func(a string) []string {
			return []string{method, scheme, ":path: https://" + a + "/public/a", ":authority: " + a}
		}, "400", capability.MalformedPath},
		{"TLS-08 CONNECT", func(string) []string { return []string{":method: CONNECT", ":authority: evil.example:443"} }, "403", capability.ProtocolNotGranted},
		{"extended CONNECT", func(a string) []string {
			return []string{":method: CONNECT", ":protocol: websocket", scheme, path, ":authority: " + a}
		}, "", ""},
		{"HP-19 transfer-encoding", func(a string) []string {
			return []string{method, scheme, path, ":authority: " + a, "transfer-encoding: chunked"}
		}, "", ""},
		{"HP-18 CRLF in a value", func(a string) []string {
			return []string{method, scheme, path, ":authority: " + a, "x-a: b\r\nx-c: d"}
		}, "", ""},
		{"broken escape", func(a string) []string { return []string{method, scheme, ":path: /public/%zz", ":authority: " + a} }, "", ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, nil)
			got := h2Raw(w, row.fields(fmt.Sprintf("allowed.example:%d", w.port))...)
			if row.status == "" && got == "200" || row.status != "" && got != row.status {
				t.Errorf("got status %q, want %q", got, row.status)
			}
			switch row.reason {
			case capability.Granted:
			case "":
				w.untouched()
			default:
				w.refused(row.reason)
			}
		})
	}
}
