package proxy

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
	"time"

	"golang.org/x/sync/singleflight"

	"scupper.dev/scupper/capability"
)

const (
	validity  = 365 * 24 * time.Hour // below the 398 days that clients accept of a leaf
	backdated = time.Hour            // for clocks that differ
	maxLeaves = 4096
)

// CA issues the certificates that clients of one run see. Its key exists in memory
// only, and no other run trusts it.
type CA struct {
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	leafKey *ecdsa.PrivateKey // one for all leaves: whoever has one has this process
	cache   *leaves
	mint    singleflight.Group
}

// NewCA makes a CA that is valid for a year from now: ECDSA P-256, able to sign
// leaves and nothing else.
func NewCA(now time.Time) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make CA key: %w", err)
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make leaf key: %w", err)
	}
	t, err := certificate(now.Add(-backdated), now.Add(validity))
	if err != nil {
		return nil, err
	}
	t.Subject = pkix.Name{CommonName: "scupper, this run only"}
	t.IsCA, t.MaxPathLenZero = true, true
	t.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign CA certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read back CA certificate: %w", err)
	}
	return &CA{cert: cert, key: key, leafKey: leafKey, cache: newLeaves(maxLeaves)}, nil
}

// CertPEM is the CA's certificate, to be added to the clients' trust.
func (ca *CA) CertPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
}

func certificate(from, until time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return nil, fmt.Errorf("draw serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial, NotBefore: from, NotAfter: until, BasicConstraintsValid: true,
	}, nil
}

// leaf is the certificate for host, made at most once at a time.
func (ca *CA) leaf(host capability.Host) (*tls.Certificate, error) {
	if c := ca.cache.get(host); c != nil {
		return c, nil
	}
	c, err, _ := ca.mint.Do(string(host), func() (any, error) {
		c, err := ca.issue(host)
		if err != nil {
			return nil, fmt.Errorf("issue certificate for %q: %w", host, err)
		}
		ca.cache.put(host, c)
		return c, nil
	})
	if err != nil {
		return nil, err
	}
	return c.(*tls.Certificate), nil
}

// issue signs a leaf whose one SAN is exactly host.
func (ca *CA) issue(host capability.Host) (*tls.Certificate, error) {
	t, err := certificate(ca.cert.NotBefore, ca.cert.NotAfter)
	if err != nil {
		return nil, err
	}
	t.Subject = pkix.Name{Organization: []string{"scupper"}}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if addr, literal := host.Addr(); literal {
		t.IPAddresses = append(t.IPAddresses, addr.AsSlice())
	} else {
		t.DNSNames = []string{string(host)}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, ca.cert, ca.leafKey.Public(), ca.key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: ca.leafKey, Leaf: parsed}, nil
}
