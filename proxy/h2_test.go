package proxy

import (
	"bytes"
	"context"
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
	cc, err := (&http2.Transport{DisableCompression: true}).NewClientConn(w.insideTLS("h2"))
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
	c := w.insideTLS("h2")
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, f := range fields {
		i := 0
		if f != ": b" {
			i = strings.Index(f[1:], ":") + 1
		}
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
		case *http2.RSTStreamFrame:
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
	field := func(f string) func(string) []string {
		return func(a string) []string { return []string{method, scheme, path, ":authority: " + a, f} }
	}
	rows := []struct {
		name   string
		fields func(authority string) []string
		status string
		reason capability.Reason
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
		{"NET-08 extended CONNECT", func(a string) []string {
			return []string{":method: CONNECT", ":protocol: websocket", scheme, path, ":authority: " + a}
		}, "403", capability.ProtocolNotGranted},
		{"HP-19 transfer-encoding", field("transfer-encoding: chunked"), "400", capability.MalformedRequest},
		{"HP-19 connection", field("connection: close"), "400", capability.MalformedRequest},
		{"HP-19 upgrade", field("upgrade: websocket"), "400", capability.MalformedRequest},
		{"HP-19 te", field("te: gzip"), "400", capability.MalformedRequest},
		{"HP-18 CRLF in a value", field("x-a: b\r\nx-c: d"), "400", capability.MalformedRequest},
		{"HP-18 LF in a value", field("x-a: b\nx-c: d"), "400", capability.MalformedRequest},
		{"HP-18 NUL in a value", field("x-a: b\x00"), "400", capability.MalformedRequest},
		{"HP-18 space around a value", field("x-a:  b "), "400", capability.MalformedRequest},
		{"HP-18 CRLF in a name", field("x-a\r\nx-b: c"), "400", capability.MalformedRequest},
		{"capitals in a name", field("X-A: b"), "400", capability.MalformedRequest},
		{"space in a name", field("x a: b"), "400", capability.MalformedRequest},
		{"an empty name", field(": b"), "400", capability.MalformedRequest},
		{"an unknown pseudo-header", field(":status: 200"), "400", capability.MalformedRequest},
		{"a late pseudo-header", func(a string) []string { return []string{method, scheme, ":authority: " + a, "x-a: b", path} }, "400", capability.MalformedRequest},
		{"a doubled pseudo-header", func(a string) []string { return []string{method, scheme, path, path, ":authority: " + a} }, "400", capability.MalformedRequest},
		{"no method", func(a string) []string { return []string{scheme, path, ":authority: " + a} }, "400", capability.MalformedRequest},
		{"no path", func(a string) []string { return []string{method, scheme, ":authority: " + a} }, "400", capability.MalformedRequest},
		{"another scheme", func(a string) []string { return []string{method, ":scheme: http", path, ":authority: " + a} }, "400", capability.MalformedRequest},
		{"HP-07 content-length twice", func(a string) []string {
			return []string{":method: POST", scheme, ":path: /notes", ":authority: " + a, "content-length: 0", "content-length: 1"}
		}, "400", capability.MalformedRequest},
		{"HP-07 content-length of nothing", field("content-length: 5"), "400", capability.MalformedRequest},
		{"HP-07 content-length that is no number", field("content-length: +0"), "400", capability.MalformedRequest},
		{"host twice", func(a string) []string { return []string{method, scheme, path, "host: " + a, "host: " + a} }, "400", capability.MalformedRequest},
		{"HOST-05 userinfo", func(a string) []string { return []string{method, scheme, path, ":authority: user@" + a} }, "400", capability.MalformedHost},
		{"HOST-05 userinfo in Host", func(a string) []string { return []string{method, scheme, path, "host: user@" + a} }, "400", capability.MalformedHost},
		{"the substitute's authority", func(string) []string { return []string{method, scheme, path, ":authority: !"} }, "400", capability.MalformedHost},
		{"a path without a slash", func(a string) []string { return []string{method, scheme, ":path: public/a", ":authority: " + a} }, "400", capability.MalformedPath},
		{"a query without a path", func(a string) []string { return []string{method, scheme, ":path: ?a=b", ":authority: " + a} }, "400", capability.MalformedPath},
		{"a port as path", func(a string) []string { return []string{method, scheme, ":path: :443", ":authority: " + a} }, "400", capability.MalformedPath},
		{"an absolute form that is none", func(a string) []string { return []string{method, scheme, ":path: https://[x/a", ":authority: " + a} }, "400", capability.MalformedPath},
		{"broken escape", func(a string) []string { return []string{method, scheme, ":path: /public/%zz", ":authority: " + a} }, "400", capability.MalformedPath},
		{"space in a path", func(a string) []string { return []string{method, scheme, ":path: /public/a b", ":authority: " + a} }, "400", capability.MalformedPath},
	}
	each(t, secured(), func(t *testing.T, by option) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				w := newWorld(t, nil, by)
				got := h2Raw(w, row.fields(fmt.Sprintf("allowed.example:%d", w.port))...)
				if got != row.status {
					t.Errorf("got status %q, want %q", got, row.status)
				}
				if row.reason != capability.Granted {
					w.refused(row.reason)
				}
			})
		}
	})
}
