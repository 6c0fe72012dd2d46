package policyfile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
)

// certificate is a PEM certificate of nobody.
func certificate(t testing.TB) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestUpstreamCA(t *testing.T) {
	policy := []byte("version = 1\nupstream { ca = \"ca.pem\" }\n")
	good := certificate(t)
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"a certificate":        {good, true},
		"two":                  {good + "# between\n" + good, true},
		"nothing":              {"", false},
		"no PEM":               {"hello", false},
		"a private key":        {good + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", false},
		"a broken certificate": {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", false},
	} {
		_, diags := Parse("policy.hcl", policy, files(map[string]string{"ca.pem": c.text}))
		if diags.HasErrors() == c.ok {
			t.Errorf("%s: got %v, want ok %t", name, diags, c.ok)
		}
		if strings.Contains(diags.Error(), "AAAA") {
			t.Errorf("%s: the error shows what is in the file: %v", name, diags)
		}
	}
}

// TestHashCoversWhatDecides: another CA is another policy.
func TestHashCoversWhatDecides(t *testing.T) {
	policy := "version = 1\nupstream { ca = \"ca.pem\" }\n"
	one := load(t, policy, files(map[string]string{"ca.pem": certificate(t)}))
	two := load(t, policy, files(map[string]string{"ca.pem": certificate(t)}))
	three := load(t, policy+"\n", files(map[string]string{"ca.pem": certificate(t)}))
	if one.Hash == two.Hash || one.Hash == three.Hash || len(one.Hash) != 64 {
		t.Errorf("got %s, %s, %s, want three hashes", one.Hash, two.Hash, three.Hash)
	}
}

// TestHashTellsFilesApart: where one file ends and the next begins is part of the sum.
func TestHashTellsFilesApart(t *testing.T) {
	one, two := newHash([]byte("ab")), newHash([]byte("a"))
	one.add([]byte("c"))
	two.add([]byte("bc"))
	if one.sum() == two.sum() {
		t.Error("two sets of files have one hash")
	}
}
