package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

// TestDigest: the record has the hash of a body that went out whole, and of no other.
func TestDigest(t *testing.T) {
	posting := func(inspect capability.Inspector) func(w *world) []*capability.Grant {
		return func(w *world) []*capability.Grant {
			notes := withBody(allow(w.t, "POST", "/notes"), "application/json", 1<<20)
			notes.Body.Inspector = inspect
			return []*capability.Grant{w.grant("allowed.example", notes)}
		}
	}
	nobody := listen(t, "127.0.0.1:0")
	nobody.Close()
	nowhere := func(w *world) {
		w.config.Overrides[0].To = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), portOf(nobody))
	}
	for _, c := range []struct {
		name, body, sent string
		inspect          capability.Inspector
	}{
		{"a small body", "{}", "{}", nil},
		{"a large body", strings.Repeat("x", readAheadMax+1), strings.Repeat("x", readAheadMax+1), nil},
		{"an inspected body", "abc", "ABC", shouting{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, h2 := range []bool{false, true} {
				post := func(w *world) *capability.Outcome {
					resp, err := w.client(h2).Post(w.url("/notes"), "application/json", strings.NewReader(c.body))
					if err != nil {
						t.Fatal(err)
					}
					resp.Body.Close()
					return w.requestsFinished(1)[0].Outcome
				}
				sum := sha256.Sum256([]byte(c.sent))
				w := newWorld(t, posting(c.inspect))
				if got := post(w); got.Digest != hex.EncodeToString(sum[:]) {
					t.Errorf("got %q of %q", got.Digest, c.sent[:2])
				}
				if got := post(newWorld(t, posting(c.inspect), nowhere)); got.Digest != "" || got.Error != errUpstreamUnreachable {
					t.Errorf("of a body that nobody received: got %+v", got)
				}
			}
		})
	}
}
