package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"time"
)

// authority signs certificates for one side of the benchmark.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func newAuthority(name string, key crypto.Signer) (*authority, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	certificate, err := sign(template, template, key.Public(), key)
	return &authority{certificate, key}, err
}

// leaf is a certificate for names with the public part of key.
func (a *authority) leaf(key crypto.Signer, names ...string) (*x509.Certificate, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	return sign(template, a.certificate, key.Public(), a.key)
}

func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate of %q: %w", template.Subject.CommonName, err)
	}
	return x509.ParseCertificate(der)
}

// writeKeys writes what all peers share: the keys of the origin and of two
// intercepting authorities, one with RSA, because mitmproxy takes nothing else.
func writeKeys(w *world) error {
	originKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	originCA, err := newECDSAAuthority("bench origin")
	if err != nil {
		return err
	}
	leaf, err := originCA.leaf(originKey, originName)
	if err != nil {
		return err
	}
	proxyCA, err := newECDSAAuthority("bench proxy")
	if err != nil {
		return err
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	rsaCA, err := newAuthority("bench proxy with RSA", rsaKey)
	if err != nil {
		return err
	}
	upstream := append(certificatePEM(originCA.certificate), w.internet.CA()...)
	for name, parts := range map[string][][]byte{
		"origin.pem":    {certificatePEM(leaf), certificatePEM(originCA.certificate), keyPEM(originKey)},
		"proxy-ca.pem":  {certificatePEM(proxyCA.certificate), keyPEM(proxyCA.key)},
		"rsa-ca.pem":    {keyPEM(rsaKey), certificatePEM(rsaCA.certificate)},
		"upstream.pem":  {upstream}, // whom a proxy trusts
		"authority.pem": {upstream, certificatePEM(proxyCA.certificate), certificatePEM(rsaCA.certificate)},
	} {
		var text []byte
		for _, part := range parts {
			text = append(text, part...)
		}
		// For whatever user a peer runs as; the keys are worth nothing elsewhere.
		if err := os.WriteFile(w.at(name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func newECDSAAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return newAuthority(name, key)
}

func certificatePEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

func keyPEM(key crypto.Signer) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// roots is the pool of a PEM file, or the system's, which a sandbox replaces by its own.
func roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return x509.SystemCertPool()
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool, nil
}
