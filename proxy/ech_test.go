package proxy

import (
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"scupper.dev/scupper/capability"
)

// echConfigs is a list of one configuration with a key that nobody here has
// (draft-ietf-tls-esni-22 section 4).
func echConfigs(t *testing.T, public string) []byte {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	u16 := func(b []byte, v int) []byte { return binary.BigEndian.AppendUint16(b, uint16(v)) }
	pub := key.PublicKey().Bytes()
	c := []byte{7}       // config_id
	c = u16(c, 0x0020)   // DHKEM(X25519, HKDF-SHA256)
	c = u16(c, len(pub)) // public_key
	c = append(c, pub...)
	c = u16(c, 4)                        // cipher_suites
	c = u16(u16(c, 0x0001), 0x0001)      // HKDF-SHA256, AES-128-GCM
	c = append(c, 64, byte(len(public))) // maximum_name_length, public_name
	c = u16(append(c, public...), 0)     // extensions
	one := append(u16(u16(nil, 0xfe0d), len(c)), c...)
	return append(u16(nil, len(one)), one...)
}

// TestEncryptedClientHello: the outer name alone counts, and no inner one is accepted.
func TestEncryptedClientHello(t *testing.T) {
	hello := func(t *testing.T, w *world, name, public string) error {
		t.Helper()
		c, err := w.dialTLS(&tls.Config{ServerName: name, MinVersion: tls.VersionTLS13, EncryptedClientHelloConfigList: echConfigs(t, public)})
		if err == nil {
			c.Close()
			t.Errorf("the handshake for %s behind %s completed", name, public)
		}
		return err
	}
	t.Run("TLS-07 outer name of a provider", func(t *testing.T) {
		w := newWorld(t, nil)
		w.control()
		hello(t, w, "allowed.example", "provider.example")
		w.refused(capability.AuthorityMismatch)
		if got := w.denials(1)[0].Request.Excerpt; got != `"provider.example"` {
			t.Errorf("recorded name: got %s", got)
		}
		if status, _, _ := w.get(w.client(true), w.url("/public/a")); status != 200 {
			t.Errorf("again without ECH: got %d", status)
		}
	})
	t.Run("TLS-07 granted outer name, another inside", func(t *testing.T) {
		w := newWorld(t, nil)
		w.control()
		var rejected *tls.ECHRejectionError
		if err := hello(t, w, "other.example", "allowed.example"); !errors.As(err, &rejected) || len(rejected.RetryConfigList) > 0 {
			t.Errorf("got %v, want a rejection that says to go without", err)
		}
		w.untouched()
		if status, _, _ := w.get(w.client(true), w.url("/public/a")); status != 200 {
			t.Errorf("again without ECH: got %d", status)
		}
	})
	t.Run("TLS-07 in a tunnel", func(t *testing.T) {
		w := newWorld(t, nil)
		w.control()
		c := tls.Client(w.tunnel(), &tls.Config{RootCAs: w.roots, ServerName: "allowed.example", MinVersion: tls.VersionTLS13, EncryptedClientHelloConfigList: echConfigs(t, "provider.example")})
		if _, err := io.WriteString(c, "GET /public/a HTTP/1.1\r\n"); err == nil {
			t.Error("the handshake completed")
		}
		w.refused(capability.AuthorityMismatch)
	})
}
