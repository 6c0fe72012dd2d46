package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// world is a proxy with both fronts, a far side and a log, all on loopback.
type world struct {
	t        testing.TB
	log      *ledger
	ca       *CA
	proxy    *Proxy
	tls      *origin // https, h2 and h1
	plain    *origin // http
	port     uint16  // of the https endpoints, and of the transparent listener
	cleart   uint16  // of the http endpoints, and of a second one
	explicit string
	config   Config
	roots    *x509.CertPool // trusts the run's CA
	way      way            // of inside
	asked    *lookups       // what was looked up outside
}

const (
	good     = "127.0.0.2" // leased for allowed.example
	other    = "127.0.0.3" // leased for other.example
	unleased = "127.0.0.9" // never leased
)

type leases map[netip.Addr]capability.Host

func (l leases) Name(a netip.Addr) (capability.Host, bool) { h, ok := l[a]; return h, ok }

// option changes a world before it starts.
type option func(*world)

func configured(change func(*Config)) option { return func(w *world) { change(&w.config) } }

func newWorld(t testing.TB, grants func(w *world) []*capability.Grant, options ...option) *world {
	t.Helper()
	w := &world{t: t, log: newLedger()}
	var err error
	if w.ca, err = NewCA(time.Now()); err != nil {
		t.Fatal(err)
	}
	w.roots = x509.NewCertPool()
	w.roots.AppendCertsFromPEM(w.ca.CertPEM())
	far := newFarCA(t)
	w.tls, w.plain = startOrigin(t, far), startOrigin(t, nil)

	caught, clear, explicit := listen(t, "0.0.0.0:0"), listen(t, "0.0.0.0:0"), listen(t, "127.0.0.1:0")
	w.port, w.cleart = portOf(caught), portOf(clear)
	w.explicit = explicit.Addr().String()
	w.way.front, w.asked = capability.Transparent, &lookups{}
	w.config = Config{
		Authority: w.log, CA: w.ca, UpstreamRoots: far.pool,
		Names: leases{
			netip.MustParseAddr(good): "allowed.example", netip.MustParseAddr(other): "other.example",
		},
		Policy: func() *capability.Policy { return w.log.policy.Load() }, Resolver: w.asked,
		Overrides: []Override{
			{"allowed.example", w.port, w.tls.addr}, {"other.example", w.port, w.tls.addr},
			{"allowed.example", w.cleart, w.plain.addr}, {"other.example", w.cleart, w.plain.addr},
		},
		Limits: Limits{Handshake: time.Second, Header: time.Second, Refused: 200 * time.Millisecond},
	}
	for _, o := range options {
		o(w)
	}
	if grants == nil {
		grants = standard
	}
	w.reload(grants(w))
	if w.proxy, err = New(w.config); err != nil {
		t.Fatal(err)
	}
	w.serve(w.proxy.ServeTransparent, caught)
	w.serve(w.proxy.ServeTransparent, clear)
	w.serve(w.proxy.ServeExplicit, explicit)
	t.Cleanup(func() {
		if len(w.log.twice) > 0 {
			t.Errorf("decisions finished twice: %v", w.log.twice)
		}
		w.noMoreThanGranted()
	})
	return w
}

func (w *world) reload(grants []*capability.Grant) {
	w.t.Helper()
	p, err := capability.Compile(grants, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.log.policy.Store(p)
}

func (w *world) serve(serve func(context.Context, net.Listener) error, ln net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, ln) }()
	w.t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				w.t.Errorf("serve: %v", err)
			}
		case <-time.After(20 * time.Second):
			w.t.Error("serve did not return")
		}
	})
}

// grant makes a grant for the https endpoint of host.
func (w *world) grant(host string, allows ...*capability.Allow) *capability.Grant {
	return &capability.Grant{
		Name: "https-" + host, Host: capability.HostPattern{Name: capability.Host(host)}, Port: w.port, Scheme: capability.HTTPS,
		Credential: capability.Credential{Mode: capability.Anonymous}, Allows: allows,
	}
}

// clear makes a grant for the http endpoint of host.
func (w *world) clear(host string, allows ...*capability.Allow) *capability.Grant {
	g := w.grant(host, allows...)
	g.Name, g.Port, g.Scheme = "http-"+host, w.cleart, capability.HTTP
	return g
}

func allow(t testing.TB, methods, path string) *capability.Allow {
	t.Helper()
	tmpl, err := capability.ParseTemplate(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &capability.Allow{Methods: strings.Fields(methods), Path: tmpl}
}

func withBody(a *capability.Allow, media string, most int64) *capability.Allow {
	a.Body = &capability.BodyRule{Type: media, Max: most}
	return a
}

// standard grants reading under /public and posting to /notes, over both schemes.
func standard(w *world) []*capability.Grant {
	allows := func() []*capability.Allow {
		return []*capability.Allow{
			allow(w.t, "GET HEAD", "/public/{rest...}"),
			withBody(allow(w.t, "POST", "/notes"), "application/json", 64<<10),
		}
	}
	return []*capability.Grant{w.grant("allowed.example", allows()...), w.clear("allowed.example", allows()...)}
}

func listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	lc := net.ListenConfig{}
	lc.SetMultipathTCP(false)
	ln, err := lc.Listen(context.Background(), "tcp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

func portOf(ln net.Listener) uint16 { return ln.Addr().(*net.TCPAddr).AddrPort().Port() }

// client is an ordinary HTTP client inside the sandbox: it looks names up in its own
// table, as a stub resolver would through the leases.
func (w *world) client(h2 bool) *http.Client {
	w.t.Helper()
	table := map[string]string{"allowed.example": good, "other.example": other}
	tr := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: w.roots}, ForceAttemptHTTP2: h2, DisableCompression: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, port, _ := net.SplitHostPort(addr)
			if ip, ok := table[strings.TrimSuffix(strings.ToLower(host), ".")]; ok {
				host = ip
			}
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(host, port))
		},
	}
	if !h2 {
		tr.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	w.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (w *world) url(path string) string {
	return fmt.Sprintf("https://allowed.example:%d%s", w.port, path)
}

func (w *world) clearURL(path string) string {
	return fmt.Sprintf("http://allowed.example:%d%s", w.cleart, path)
}

// get is a GET whose answer must come.
func (w *world) get(c *http.Client, url string) (status int, body string, h http.Header) {
	w.t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

// dialTLS opens TLS to the transparent front as conf says.
func (w *world) dialTLS(conf *tls.Config) (*tls.Conn, error) {
	if conf.RootCAs == nil {
		conf.RootCAs = w.roots
	}
	return tls.Dial("tcp", fmt.Sprintf("%s:%d", good, w.port), conf)
}

func (w *world) dialTLSTo(addr, name string) (*tls.Conn, error) {
	return tls.Dial("tcp", fmt.Sprintf("%s:%d", addr, w.port), &tls.Config{RootCAs: w.roots, ServerName: name})
}

func (w *world) dial(addr string) net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// say writes text, with HOST and PORT filled in, and reads one response.
func (w *world) say(c net.Conn, text string) (status int, body string) {
	w.t.Helper()
	br := bufio.NewReader(c)
	status, body, err := w.exchange(c, br, text)
	if err != nil {
		w.t.Fatalf("read the answer to %q: %v", text, err)
	}
	return status, body
}

// filled is text with the authorities in it, written as it has to be on the world's way.
func (w *world) filled(text string) string {
	return strings.NewReplacer("HOST", fmt.Sprintf("allowed.example:%d", w.port), "CLEAR", fmt.Sprintf("allowed.example:%d", w.cleart), "OTHER", fmt.Sprintf("other.example:%d", w.port)).Replace(w.spell(text))
}

func (w *world) exchange(c net.Conn, br *bufio.Reader, text string) (int, string, error) {
	w.t.Helper()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	text = w.filled(text)
	if _, err := io.WriteString(c, text); err != nil {
		return 0, "", err
	}
	method, _, _ := strings.Cut(text, " ")
	resp, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		return 0, "", err
	}
	if method == "CONNECT" && resp.StatusCode == 200 {
		return 200, "", nil
	}
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// denials waits until n denying records exist and returns them; more are a failure.
func (w *world) denials(n int) []record {
	w.t.Helper()
	var out []record
	deadline := time.After(3 * time.Second)
	for {
		out = out[:0]
		for _, r := range w.log.all() {
			if !r.Decision.Allowed() {
				out = append(out, r)
			}
		}
		if len(out) >= n {
			break
		}
		select {
		case <-w.log.changed:
		case <-deadline:
			w.t.Fatalf("got %d denying records, want %d: %+v", len(out), n, w.log.all())
		}
	}
	if len(out) > n {
		w.t.Fatalf("got %d denying records, want %d: %+v", len(out), n, out)
	}
	return out
}

// begun waits until n requests have been granted.
func (w *world) begun(n int) {
	w.t.Helper()
	deadline := time.After(3 * time.Second)
	for {
		granted := 0
		for _, r := range w.log.all() {
			if r.Decision.Allowed() && r.Request.Kind == capability.KindHTTP {
				granted++
			}
		}
		if granted >= n {
			return
		}
		select {
		case <-w.log.changed:
		case <-deadline:
			w.t.Fatalf("%d requests were granted, want %d", granted, n)
		}
	}
}

// refused wants exactly one denial with reason and nothing at the far side.
func (w *world) refused(reason capability.Reason) {
	w.t.Helper()
	if got := w.denials(1)[0].Decision.Reason; got != reason {
		w.t.Errorf("recorded reason: got %q, want %q", got, reason)
	}
	w.untouched()
}

// untouched wants that since forget nothing reached the far side, no connection was
// opened to it and no name was looked up.
func (w *world) untouched() {
	w.t.Helper()
	w.unasked()
	for _, o := range []*origin{w.tls, w.plain} {
		if n := o.dials.Load() - o.before; n > 0 {
			w.t.Errorf("%d connections were opened to the far side", n)
		}
	}
	if got := w.asked.names(); len(got) > 0 {
		w.t.Errorf("%q were looked up", got)
	}
}

// unasked wants that no request reached the far side; a connection may have.
func (w *world) unasked() {
	w.t.Helper()
	if got := append(w.tls.requests(), w.plain.requests()...); len(got) > 0 {
		w.t.Errorf("the far side saw %+v", got)
	}
}

// noMoreThanGranted wants that as many requests reached the far side as were granted, at
// most. Every test ends with it.
func (w *world) noMoreThanGranted() {
	granted := 0
	for _, r := range w.log.all() {
		if r.Decision.Allowed() && r.Request.Kind == capability.KindHTTP {
			granted++
		}
	}
	if got := append(w.tls.requests(), w.plain.requests()...); len(got) > granted {
		w.t.Errorf("the far side saw %d requests, %d were granted: %+v", len(got), granted, got)
	}
}

// lookups is a resolver that knows no name and remembers who was asked for.
type lookups struct {
	mu   sync.Mutex
	seen []string
}

func (l *lookups) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, host)
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (l *lookups) names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen)
}

func (l *lookups) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = nil
}
