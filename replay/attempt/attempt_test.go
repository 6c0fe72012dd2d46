package attempt_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/replay"
	"scupper.dev/scupper/replay/attempt"
)

func TestMain(m *testing.M) {
	code, err := replay.Sealed(context.Background(), m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 3
	}
	os.Exit(code)
}

func start(t *testing.T) *replay.Internet {
	t.Helper()
	in, err := replay.Start(replay.Config{Whole: true, RawPorts: []uint16{25}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// eventually waits until the far side has taken up what was sent.
func eventually(t *testing.T, what string, arrived func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !arrived(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not arrive", what)
		}
	}
}

func TestHTTP(t *testing.T) {
	in := start(t)
	t.Setenv("PLACEHOLDER", "stands-for-it")
	for _, version := range []string{"1.1", "2"} {
		t.Run(version, func(t *testing.T) {
			if err := in.Reset(); err != nil {
				t.Fatal(err)
			}
			out := attempt.Do(context.Background(), attempt.Attempt{HTTP: &attempt.HTTP{
				Method: "POST", URL: "https://api.example.com/a/%2e%2e/b?x=%41", Version: version, Body: []byte("body"),
				Headers: []attempt.Header{{Name: "X-Key", Value: "Bearer " + attempt.Variable("PLACEHOLDER")}, {Name: "X-Twice", Value: "1"}, {Name: "X-Twice", Value: "2"}},
			}})
			if out.Status != 200 || out.Error != "" {
				t.Fatalf("got %+v", out)
			}
			r := in.Received()[0]
			if r.Host != "api.example.com" || r.URI != "/a/%2e%2e/b?x=%41" || r.BodyHead != "body" || r.Header.Get("X-Key") != "Bearer stands-for-it" || !slices.Equal(r.Header["X-Twice"], []string{"1", "2"}) {
				t.Errorf("got %+v", r)
			}
			if want := "HTTP/" + map[string]string{"1.1": "1.1", "2": "2.0"}[version]; r.Proto != want {
				t.Errorf("got %s, want %s", r.Proto, want)
			}
		})
	}
}

// TestRaw sends what no client would, inside TLS, and finds all of it.
func TestRaw(t *testing.T) {
	in := start(t)
	bytes := "\x01\x02\x01POST / HTTP/1.1\r\nHost: a.example.com\r\nHost: b.example.com\r\nContent-Length : 3\r\n\r\nabc"
	out := attempt.Do(context.Background(), attempt.Attempt{Raw: &attempt.Raw{Connect: "a.example.com:443", TLS: true, Bytes: []byte(bytes)}})
	if out.Status != 400 {
		t.Errorf("got %+v", out)
	}
	eventually(t, "the malformed request", func() bool {
		c := in.Connections()
		return len(c) > 0 && string(c[0].Head) == bytes
	})
	attempt.Do(context.Background(), attempt.Attempt{Raw: &attempt.Raw{Connect: "a.example.com:443", Bytes: []byte("SSH-2.0-no-tls\r\n")}})
	eventually(t, "what is no TLS", func() bool {
		return slices.ContainsFunc(in.Connections(), func(c replay.Connection) bool { return string(c.Head) == "SSH-2.0-no-tls\r\n" })
	})
	attempt.Do(context.Background(), attempt.Attempt{Raw: &attempt.Raw{Connect: "mail.example.com:25", Bytes: []byte("EHLO me\r\n")}})
	eventually(t, "the greeting", func() bool {
		return slices.ContainsFunc(in.Connections(), func(c replay.Connection) bool { return string(c.Head) == "EHLO me\r\n" })
	})
}

func TestPackets(t *testing.T) {
	in := start(t)
	ctx := context.Background()
	if out := attempt.Do(ctx, attempt.Attempt{ICMP: &attempt.Send{To: "203.0.113.77", Bytes: []byte("ping-payload")}}); out.Error != "" {
		t.Fatalf("got %+v", out)
	}
	attempt.Do(ctx, attempt.Attempt{UDP: &attempt.Send{To: "203.0.113.77:443", Bytes: []byte("datagram")}})
	for _, network := range []string{"udp", "tcp"} {
		d := &attempt.DNS{Name: network + ".attacker.test", Type: "A", Server: "203.0.113.53", Network: network}
		if out := attempt.Do(ctx, attempt.Attempt{DNS: d}); out.Status != 0 || out.Output != "1 answers" {
			t.Errorf("%s: got %+v", network, out)
		}
	}
	packets, err := in.Packets()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ping-payload", "datagram"} {
		if !slices.ContainsFunc(packets, func(p replay.Packet) bool { return string(p.Payload) == want }) {
			t.Errorf("no packet with %q", want)
		}
	}
	if q := in.Queries(); len(q) != 2 || q[0].Name != "udp.attacker.test" || q[1].Name != "tcp.attacker.test" {
		t.Errorf("got %+v", q)
	}
}

func TestRedirects(t *testing.T) {
	in := start(t)
	in.Handle("one.example.com", http.RedirectHandler("https://two.example.com/end", http.StatusFound))
	follow := func(follow bool) int {
		if err := in.Reset(); err != nil {
			t.Fatal(err)
		}
		attempt.Do(context.Background(), attempt.Attempt{HTTP: &attempt.HTTP{Method: "GET", URL: "https://one.example.com/", Follow: follow}})
		return len(in.Received())
	}
	if stay, gone := follow(false), follow(true); stay != 1 || gone != 2 {
		t.Errorf("got %d and %d requests, want 1 and 2", stay, gone)
	}
}

func TestRun(t *testing.T) {
	t.Setenv("NAME", "value")
	out := attempt.Do(context.Background(), attempt.Attempt{Run: &attempt.Run{Command: []string{"sh", "-c", "echo " + attempt.Variable("NAME") + "; exit 3"}}})
	if out.Exit != 3 || strings.TrimSpace(out.Output) != "value" {
		t.Errorf("got %+v", out)
	}
	if out := attempt.Do(context.Background(), attempt.Attempt{Run: &attempt.Run{Command: []string{"no-such-program"}}}); out.Exit != 127 || out.Error == "" {
		t.Errorf("got %+v", out)
	}
}
