package proxy

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"scupper.dev/scupper/capability"
)

// maxConnectAnswer is how much a proxy may answer to a CONNECT, in bytes.
const maxConnectAnswer = 64 << 10

var (
	errViaAddress    = errors.New("the upstream proxy has no host and port")
	errViaCredential = errors.New("the user of the upstream proxy holds a colon, or user or password a control character")
	errViaBytes      = errors.New("the upstream proxy sent something before anything was asked")
)

// Via is another proxy, through which every connection upstream then goes, whatever its
// scheme, by CONNECT (RFC 9110 section 9.3.6). There is no way around it: when it does
// not connect, nothing does. Names are resolved by that proxy, so that the addresses
// they lead to are not checked; literals and overrides are. Its own address is the
// operator's word and may be private.
type Via struct {
	to            authority
	authorization string // the value of Proxy-Authorization, empty for none
}

// NewVia is the proxy at host and port. user and password, where there are any, are
// sent to it in clear, as Basic authentication does (RFC 7617).
func NewVia(host capability.Host, port uint16, user, password string) (*Via, error) {
	v := &Via{to: authority{host, port}}
	if host == "" || port == 0 {
		return nil, errViaAddress
	}
	if strings.Contains(user, ":") || strings.ContainsFunc(user+password, isControl) {
		return nil, errViaCredential // without them: they are secret
	}
	if user != "" || password != "" {
		v.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	return v, nil
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// String is host and port, and no credential.
func (v *Via) String() string { return hostport(v.to.host, v.to.port, 0) }

// GoString keeps the credential out of dumps.
func (v *Via) GoString() string { return v.String() }

// dialVia has the proxy connect to address, once that passed what can be checked here.
func (d *dialer) dialVia(ctx context.Context, network string, to authority) (net.Conn, error) {
	target, err := d.target(to)
	if err != nil {
		return nil, err
	}
	addrs, err := d.viaAddrs(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := d.dialFirst(ctx, network, addrs)
	if err != nil {
		return nil, &failure{kind: errProxyUnreachable, cause: err}
	}
	if err := d.Via.connect(ctx, conn, target); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// target is what the proxy is asked for: a checked literal, or the name.
func (d *dialer) target(to authority) (string, error) {
	_, literal := to.host.Addr()
	if _, overridden := d.override(to); !literal && !overridden {
		return hostport(to.host, to.port, 0), nil
	}
	addrs, err := d.resolve(context.Background(), to) // looks nothing up
	if err != nil {
		return "", err
	}
	return addrs[0].String(), nil
}

// viaAddrs are the addresses of the proxy itself.
func (d *dialer) viaAddrs(ctx context.Context) ([]netip.AddrPort, error) {
	addrs, err := d.lookup(ctx, d.Via.to.host)
	if err != nil {
		return nil, &failure{kind: errProxyUnreachable, cause: err}
	}
	return d.checked(addrs, d.Via.to.port, everywhere, nil)
}

// connect asks for target and reads no byte past the answer.
func (v *Via) connect(ctx context.Context, conn net.Conn, target string) error {
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	head := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if v.authorization != "" {
		head += "Proxy-Authorization: " + v.authorization + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return &failure{kind: errProxyUnreachable, cause: err}
	}
	answer := bufio.NewReader(io.LimitReader(conn, maxConnectAnswer))
	resp, err := http.ReadResponse(answer, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return &failure{kind: errProxyUnreachable, cause: err}
	}
	if err := judgeConnect(resp.StatusCode); err != nil {
		return err
	}
	// What stands behind the answer would be read as the target's.
	if answer.Buffered() > 0 {
		return &failure{kind: errProxyRefused, cause: errViaBytes}
	}
	if !stop() { // too late: conn has a deadline that has passed
		return &failure{kind: errProxyUnreachable, cause: ctx.Err()}
	}
	return nil
}

// judgeConnect says what a status other than 2xx means.
func judgeConnect(status int) error {
	switch {
	case status/100 == 2:
		return nil
	case status == http.StatusProxyAuthRequired:
		return &failure{kind: errProxyCredential}
	}
	return &failure{kind: errProxyRefused, cause: fmt.Errorf("the upstream proxy answered %d", status)}
}
