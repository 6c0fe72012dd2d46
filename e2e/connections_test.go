package e2e

import (
	"strings"
	"testing"
)

// TestConnections has a policy limit what clients may hold.
func TestConnections(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI + "connections {\n  url_bytes = \"64B\"\n  header_count = 20\n  questions = 3\n}\n")
	const url = "https://api.example.com/public/a"
	w.control(curl(url)).wantStatus(200).farSide("GET " + url)
	for _, version := range []string{"--http1.1", "--http2"} {
		t.Run("a long URL "+version, func(t *testing.T) {
			w.attack(curl(version, url+"?q="+strings.Repeat("x", 60))).refused(414, "malformed_path")
		})
		t.Run("USE-33 many fields "+version, func(t *testing.T) {
			var args []string
			for range 20 {
				args = append(args, "-H", "X-Field: x")
			}
			w.attack(curl(append(args, version, url)...)).refused(431, "malformed_request")
		})
	}
	t.Run("questions to DNS", func(t *testing.T) {
		w.attack(w.probe(`
def ask():
    try: return socket.getaddrinfo("api.example.com", 443, socket.AF_INET)[0][4][0]
    except socket.gaierror as e: return "no answer"
for i in range(4): attempt("%d" % i, ask)
`)).wantTries("0: 198.18.0.1", "1: 198.18.0.1", "2: 198.18.0.1", "3: no answer").
			wantDenials("name limit_exceeded").farSideNothing()
	})
}
