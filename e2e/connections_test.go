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

// TestTooManyAtOnce: NET-08 USE-31, whoever holds too much learns it at once, before HTTP by an
// alert, and each limit is on record once, with a count.
func TestTooManyAtOnce(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	for _, c := range []struct{ name, limit, script string }{
		{"handshakes, transparent", `handshakes = "2/h"`, `
for i in range(4): attempt("%d" % i, lambda: tls("api.example.com", get("api.example.com", "/public/a")))`},
		{"handshakes, explicit", `handshakes = "2/h"`, `
for i in range(4): attempt("%d" % i, lambda: tls("api.example.com", get("api.example.com", "/public/a"), tunnel=True))`},
		{"connections, transparent", `open = 2`, `
held = [socket.create_connection(("api.example.com", 443), PATIENCE) for _ in range(2)]
def ask():
    try: return tls("api.example.com", get("api.example.com", "/public/a"))
    finally: release()
def release():
    if len(held) == 2 and len(tries) == 2:
        for s in held: s.close()
        time.sleep(0.5)
tries = []
for i in range(4):
    attempt("%d" % i, ask)
    tries.append(i)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.policy(publicAPI + "connections {\n  " + c.limit + "\n}\n")
			a := w.attack(w.probe(c.script))
			const granted, over = "GET https://api.example.com/public/a", "connect limit_exceeded api.example.com:443"
			if strings.HasPrefix(c.name, "connections") {
				a.wantDenials(over, "connect tls_failed api.example.com:443") // those that said nothing
				a.wantTries("0: TLSV1_UNRECOGNIZED_NAME", "1: TLSV1_UNRECOGNIZED_NAME", "2: TLSV1_UNRECOGNIZED_NAME", "3: 200").farSide(granted)
				return
			}
			a.wantDenials(over).wantTries("0: 200", "1: 200", "2: TLSV1_UNRECOGNIZED_NAME", "3: TLSV1_UNRECOGNIZED_NAME").farSide(granted, granted)
		})
	}
	t.Run("connections, explicit", func(t *testing.T) {
		w.policy(publicAPI + "connections {\n  open = 1\n}\n")
		w.attack(w.probe(`
held = socket.create_connection((GATEWAY, 3128), PATIENCE)
for i in range(2):
    attempt("%d" % i, lambda: explicit(b"CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n"))
held.close()
time.sleep(0.5)
attempt("2", lambda: tls("api.example.com", get("api.example.com", "/public/a"), tunnel=True))
`)).wantTries("0: 429 limit_exceeded", "1: 429 limit_exceeded", "2: 200").wantReasons("connect limit_exceeded").farSide("GET https://api.example.com/public/a")
	})
}
