package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// origin is a far side that notes what reaches it.
type origin struct {
	*http.Server
	addr    netip.AddrPort
	handler http.HandlerFunc
	dials   atomic.Int64
	before  int64 // dials, when the test forgot
	mu      sync.Mutex
	seen    []seen
}

type seen struct {
	Method, URI, Host, Proto string
	Header                   http.Header
	Body                     string
}

func (o *origin) requests() []seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]seen(nil), o.seen...)
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := seen{Method: r.Method, URI: r.RequestURI, Host: r.Host, Proto: r.Proto, Header: r.Header.Clone()}
	if o.handler == nil {
		body, _ := io.ReadAll(r.Body)
		s.Body = string(body)
	}
	o.mu.Lock()
	o.seen = append(o.seen, s)
	o.mu.Unlock()
	if o.handler != nil {
		o.handler(w, r)
		return
	}
	fmt.Fprintf(w, "origin: %s %s", r.Method, r.RequestURI)
}

// farCA signs the certificates of the far side.
type farCA struct {
	pool *x509.CertPool
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newFarCA(t testing.TB) *farCA {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "far side"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, _ := x509.ParseCertificate(der)
	ca := &farCA{pool: x509.NewCertPool(), cert: cert, key: key}
	ca.pool.AddCert(cert)
	return ca
}

// issue makes a server certificate for names until then.
func (ca *farCA) issue(t testing.TB, until time.Time, names ...string) tls.Certificate {
	t.Helper()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
		} else {
			tmpl.DNSNames = append(tmpl.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, ca.cert, ca.key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: ca.key}
}

// startOrigin serves https with certificates of ca, or http without one.
func startOrigin(t testing.TB, ca *farCA) *origin {
	t.Helper()
	if ca == nil {
		return startOriginWith(t, nil)
	}
	cert := ca.issue(t, time.Now().Add(time.Hour), "allowed.example", "other.example", "127.0.0.1")
	return startOriginWith(t, &cert)
}

func startOriginWith(t testing.TB, cert *tls.Certificate) *origin {
	t.Helper()
	ln := listen(t, "127.0.0.1:0")
	o := &origin{addr: netip.MustParseAddrPort(ln.Addr().String())}
	o.Server = &http.Server{Handler: o, ErrorLog: quiet(), ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			o.dials.Add(1)
		}
	}}
	if cert == nil {
		go o.Serve(ln)
	} else {
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*cert}}
		go o.ServeTLS(ln, "", "")
	}
	t.Cleanup(func() { o.Close() })
	return o
}
