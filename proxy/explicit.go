package proxy

import (
	"io"
	"net"
	"net/http"
	"time"

	"scupper.dev/scupper/capability"
)

// established is the whole answer to a CONNECT (RFC 9110 section 9.3.6).
const established = "HTTP/1.1 200 Connection established\r\n\r\n"

// connect answers CONNECT. Its verdict is about host and port only; what is sent
// through is judged request by request. There is no raw tunnel.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request, l *link) {
	req := l.request(capability.KindConnect)
	req.Method, req.Protocol = r.Method, r.Proto
	to, err := parseAuthority(r.RequestURI, 0)
	if err != nil {
		req.Excerpt = excerpt(r.RequestURI)
		refuse(w, r, p.cfg.Authority.Refuse(req, capability.MalformedHost))
		return
	}
	req.Host, req.Port = to.host, to.port
	d := p.cfg.Authority.Authorize(req)
	if !d.Allowed() {
		refuse(w, r, d)
		return
	}
	finish := func(errText string) {
		p.cfg.Authority.Finish(d, capability.Outcome{Error: errText, Duration: p.cfg.Now().Sub(req.Time)})
	}
	inner, err := tunnel(w, l, to)
	if err != nil {
		finish(errClosed)
		return
	}
	inner.close = func() { finish("") }
	if !l.front.add(inner) {
		inner.Close()
		return
	}
	l.front.admit(inner)
}

// tunnel takes the connection from net/http and says yes to the client.
func tunnel(w http.ResponseWriter, l *link, to authority) (*link, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	inner := &link{Conn: conn, front: l.front, host: to.host, port: to.port}
	if inner.prefix, err = early(buffered.Reader.Buffered(), buffered.Reader); err == nil {
		err = answer(conn)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return inner, nil
}

// early is what the client sent behind its CONNECT without waiting for the answer.
func early(n int, from io.Reader) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(from, b)
	return b, err
}

func answer(conn net.Conn) error {
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	_, err := io.WriteString(conn, established)
	return err
}
