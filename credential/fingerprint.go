package credential

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Fingerprint tells the newest secret of a credential from others, for whoever has the
// key: the first 64 bits of an HMAC, in hexadecimal, as foreign credentials have it. It
// is empty where there is no such secret or no key.
func (s *Set) Fingerprint(name string, key []byte) string {
	if !s.Has(name) || len(key) == 0 {
		return ""
	}
	all := s.held[name].all()
	if len(all) == 0 {
		return ""
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(all[len(all)-1].Reveal()))
	return hex.EncodeToString(h.Sum(nil)[:8])
}
