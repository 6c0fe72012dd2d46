package replay

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// Fault is what is wrong with the certificate that a host presents.
type Fault int

// The faults. NoFault is a certificate that verifies under CA.
const (
	NoFault Fault = iota
	SelfSigned
	Expired
	WrongName
)

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte

	mu     sync.Mutex
	faults map[string]Fault
	leaves map[string]*tls.Certificate
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key of the pretend CA: %w", err)
	}
	tmpl := template("pretend Internet CA")
	tmpl.IsCA, tmpl.BasicConstraintsValid, tmpl.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("sign the pretend CA: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parse the pretend CA: %w", err)
	}
	return &authority{
		cert: cert, key: key,
		pem:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		faults: map[string]Fault{}, leaves: map[string]*tls.Certificate{},
	}, nil
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func (a *authority) present(name string, f Fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults[name] = f
	delete(a.leaves, name)
}

// leaf is a tls.Config.GetCertificate. A client without SNI gets a certificate
// for the address it dialled.
func (a *authority) leaf(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := canonicalName(hello.ServerName)
	if name == "" {
		name, _, _ = net.SplitHostPort(hello.Conn.LocalAddr().String())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if leaf, ok := a.leaves[name]; ok {
		return leaf, nil
	}
	leaf, err := a.mint(name, a.faults[name])
	if err != nil {
		return nil, err
	}
	a.leaves[name] = leaf
	return leaf, nil
}

func (a *authority) mint(name string, fault Fault) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key for %q: %w", name, err)
	}
	tmpl := template(name)
	tmpl.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	parent, signer := a.cert, a.key
	switch fault {
	case SelfSigned:
		parent, signer = tmpl, key
	case Expired:
		tmpl.NotAfter = time.Now().Add(-time.Minute)
	case WrongName:
		name = "wrong.example"
	}
	if ip := net.ParseIP(name); ip != nil {
		tmpl.IPAddresses = []net.IP{ip}
	} else {
		tmpl.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, fmt.Errorf("sign certificate for %q: %w", name, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
