package attempt

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const maxRedirects = 5

// do makes the request, and those that redirects ask for.
func (h HTTP) do(ctx context.Context) Outcome {
	for n := 0; ; n++ {
		out, location := h.once(ctx)
		if !h.Follow || location == "" || n == maxRedirects {
			return out
		}
		next, err := resolveReference(h.URL, location)
		if err != nil {
			return out
		}
		h.URL = next
	}
}

func resolveReference(base, reference string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	r, err := b.Parse(reference)
	if err != nil {
		return "", err
	}
	return r.String(), nil
}

func (h HTTP) once(ctx context.Context) (out Outcome, location string) {
	t, err := parseTarget(h.URL)
	if err != nil {
		return failed(err), ""
	}
	var resp *http.Response
	if h.Version == "2" {
		resp, err = h.second(ctx, t)
	} else {
		resp, err = h.first(ctx, t)
	}
	if err != nil {
		return failed(err), ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxOutput))
	out = Outcome{Status: resp.StatusCode, Output: clip(body)}
	if err != nil {
		out.Error = err.Error()
	}
	if resp.StatusCode/100 == 3 {
		location = resp.Header.Get("Location")
	}
	return out, location
}

// target is a URL cut in three, its spelling kept.
type target struct {
	secure    bool
	authority string
	rest      string
}

func parseTarget(s string) (target, error) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found || scheme != "http" && scheme != "https" {
		return target{}, fmt.Errorf("url %q begins with neither http:// nor https://", s)
	}
	i := strings.IndexAny(rest, "/?#")
	if i < 0 {
		return target{scheme == "https", rest, "/"}, nil
	}
	t := target{scheme == "https", rest[:i], rest[i:]}
	if !strings.HasPrefix(t.rest, "/") {
		t.rest = "/" + t.rest
	}
	return t, nil
}

// address is what a client dials for the target.
func (t target) address() string {
	host := t.authority
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	port := "80"
	if t.secure {
		port = "443"
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// first sends the request as HTTP/1.1 has it.
func (h HTTP) first(ctx context.Context, t target) (*http.Response, error) {
	conn, err := dial(ctx, t.address(), t.secure, "", nil)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(h.text(t)); err != nil {
		conn.Close()
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: h.Method})
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("read the response: %w", err)
	}
	resp.Body = closeBoth{resp.Body, conn}
	return resp, nil
}

type closeBoth struct {
	io.ReadCloser
	conn net.Conn
}

// Close closes the body and its connection.
func (c closeBoth) Close() error { return errors.Join(c.ReadCloser.Close(), c.conn.Close()) }

func (h HTTP) text(t target) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", h.Method, t.rest)
	if !h.has("Host") {
		fmt.Fprintf(&b, "Host: %s\r\n", t.authority)
	}
	for _, line := range h.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", line.Name, line.Value)
	}
	if len(h.Body) > 0 && !h.has("Content-Length") && !h.has("Transfer-Encoding") {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(h.Body))
	}
	if !h.has("Connection") {
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	b.Write(h.Body)
	return b.Bytes()
}

func (h HTTP) has(name string) bool {
	for _, line := range h.Headers {
		if strings.EqualFold(line.Name, name) {
			return true
		}
	}
	return false
}

// second sends the request as HTTP/2 has it.
func (h HTTP) second(ctx context.Context, t target) (*http.Response, error) {
	scheme := "http"
	if t.secure {
		scheme = "https"
	}
	r, err := http.NewRequestWithContext(ctx, h.Method, scheme+"://host.invalid/", bytes.NewReader(h.Body))
	if err != nil {
		return nil, err
	}
	r.URL, r.Host = &url.URL{Scheme: scheme, Host: t.authority, Opaque: t.rest}, t.authority
	for _, line := range h.Headers {
		if strings.EqualFold(line.Name, "Host") {
			r.Host = line.Value
			continue
		}
		r.Header[line.Name] = append(r.Header[line.Name], line.Value)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(t.secure)
	protocols.SetUnencryptedHTTP2(!t.secure)
	transport := &http.Transport{Protocols: protocols, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, DisableCompression: true}
	return transport.RoundTrip(r)
}

// dial connects, and speaks TLS where that is asked for.
func dial(ctx context.Context, address string, secure bool, sni string, alpn []string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	if !secure {
		return conn, nil
	}
	host, _, _ := net.SplitHostPort(address)
	switch sni {
	case "":
		sni = strings.TrimSuffix(host, ".")
	case "-":
		sni = ""
	}
	if len(alpn) == 0 {
		alpn = []string{"http/1.1"}
	}
	client := tls.Client(conn, &tls.Config{ServerName: sni, NextProtos: alpn, InsecureSkipVerify: true})
	if err := client.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return client, nil
}

// quiet is how long a peer that speaks no HTTP may say nothing.
const quiet = 500 * time.Millisecond

// do writes the bytes and reads what is answered.
func (r Raw) do(ctx context.Context) Outcome {
	conn, err := dial(ctx, r.Connect, r.TLS, r.SNI, r.ALPN)
	if err != nil {
		return failed(err)
	}
	defer conn.Close()
	if _, err := conn.Write(r.Bytes); err != nil {
		return failed(err)
	}
	if !r.speaksHTTP() {
		conn.SetReadDeadline(time.Now().Add(quiet))
		answer, err := io.ReadAll(io.LimitReader(conn, maxOutput))
		if err != nil && len(answer) == 0 {
			return failed(err)
		}
		return Outcome{Output: clip(answer)}
	}
	reader, out := bufio.NewReader(conn), Outcome{}
	for range max(r.Responses, 1) {
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			out.Error = err.Error()
			return out
		}
		conn.SetReadDeadline(time.Now().Add(2 * quiet))
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxOutput))
		out.Status, out.Output = resp.StatusCode, clip(append([]byte(out.Output), body...))
	}
	return out
}

// speaksHTTP is a guess by the first line.
func (r Raw) speaksHTTP() bool {
	line, _, _ := bytes.Cut(r.Bytes, []byte("\n"))
	return bytes.Contains(line, []byte(" HTTP/1"))
}
