package audit

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/capability"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestGolden holds the format: order of fields, words, masking.
func TestGolden(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 45, 0, 123456789, time.UTC)
	disk := &disk{room: -1}
	c := Config{
		Policy: grants(t, capability.Limits{Requests: 1}), PolicyPath: "policy.hcl", Role: "build", Command: []string{"npm", "ci"}, Version: "v0", User: "1000",
		Controls: []map[string]any{{"name": "network", "in_force": true}}, Overrides: []string{"api.example.com:443:127.0.0.1:8443"},
		FlushEvery: time.Hour, Key: []byte("key"), Now: func() time.Time { now = now.Add(time.Millisecond); return now },
	}
	c.setDefaults()
	g, err := start(c, "20261130t124500-k3f7x2", strings.Repeat("0", 64), disk, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Authorize(lookUp("api.example.com"))
	d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app?state=open&q=topsecret"))
	g.Finish(d, capability.Outcome{Status: 200, Sent: 120, Received: 4096, Stripped: 2, Upstream: netip.MustParseAddrPort("203.0.113.1:443"), Duration: time.Second})
	g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
	put := ask(t, "PUT", "api.example.com", "/repos/app?q=topsecret")
	put.Header = map[string][]string{"X-Secret": {"topsecret"}}
	put.Body = capability.Body{Present: true, Type: "application/json", Length: 12}
	for range 3 {
		g.Authorize(put)
	}
	g.Authorize(lookUp("c2vjcmv0.attacker.test"))
	g.Refuse(&capability.Request{Kind: capability.KindHTTP, Front: capability.Explicit, Excerpt: "GET /\r\n\x1b\xff"}, capability.MalformedRequest)
	g.Refuse(&capability.Request{Kind: capability.KindConnect, Address: netip.MustParseAddr("2001:db8::1"), Port: 443}, capability.AddressNotGranted)
	g.Packet("udp", netip.MustParseAddrPort("203.0.113.9:123"), 1)
	if err := g.Close(1); err != nil {
		t.Fatal(err)
	}
	got := normalise(disk.data)
	const file = "testdata/records.jsonl"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(got), "\n"), strings.Split(string(want), "\n")); diff != "" {
		t.Errorf("got-, want+:\n%s", diff)
	}
	if bytes.Contains(got, []byte("topsecret")) {
		t.Error("a secret is on record")
	}
}

// normalise takes out what differs from run to run.
func normalise(log []byte) []byte {
	var out []byte
	for line := range bytes.Lines(log) {
		for _, field := range []string{`"pid":`, `"took":`} {
			if i := bytes.Index(line, []byte(field)); i >= 0 && !bytes.Contains(line, []byte(`"event":"outcome"`)) {
				i += len(field)
				end := i + bytes.IndexAny(line[i:], ",}")
				line = append(append(bytes.Clone(line[:i]), '0'), line[end:]...)
			}
		}
		out = append(out, line...)
	}
	return out
}

// AUD-01, AUD-04, AUD-09: whatever a request holds, its record is one short line that
// reads back, and the next one is readable.
func TestHostile(t *testing.T) {
	long := strings.Repeat("\u20ac", 1<<20/3)
	for name, r := range map[string]*capability.Request{
		"newlines":      {Excerpt: "GET / HTTP/1.1\r\n{\"v\":1,\"seq\":1}\r\n", Method: "GET\n{}"},
		"control":       {Excerpt: "\x00\x1b[2J\x7f", Method: "\x00", Protocol: "\x1b"},
		"invalid UTF-8": {Excerpt: "\xff\xfe\xc0\xaf", Body: capability.Body{Present: true, Type: "\xff\n", Encoding: "\xc3"}},
		"separators":    {Excerpt: "\u2028\u2029\u202e", Protocol: "\u2028"},
		"one megabyte":  {Excerpt: long, Method: long, Protocol: long, Body: capability.Body{Present: true, Type: long, Encoding: long}},
		"address zone":  {Address: netip.MustParseAddr("fe80::1%" + strings.Repeat("z\n", 1000))},
		"query":         {Query: hostileQuery(long)},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, nil)
			r.Kind = capability.KindHTTP
			if d := g.Refuse(r, capability.MalformedRequest); d.ID == "" || d.Allowed() {
				t.Fatalf("got %s %q", d.Verdict(), d.ID)
			}
			g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
			raw, err := os.ReadFile(segmentFile(g.config.Dir, g.run, 1))
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(raw, []byte("\n"))
			if len(lines) != 4 || len(lines[1]) > 64<<10 || !utf8.Valid(raw) {
				t.Fatalf("%d lines, the second has %d bytes", len(lines), len(lines[1]))
			}
			all := records(t, g)
			if on := all[1]; on.Reason != string(capability.MalformedRequest) || on.Verdict != "deny" || !roundTrips(t, on) {
				t.Errorf("got %+v", on)
			}
		})
	}
}

func hostileQuery(long string) capability.Query {
	q := capability.Query{{Name: "a\r\n", Value: "\x1b"}, {Name: long, Value: long}}
	for range 1000 {
		q = append(q, capability.Parameter{Name: "\xff", Value: "x"})
	}
	return q
}

func roundTrips(t *testing.T, r *Record) bool {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(r, again)
}

func TestCapped(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"a€", 4, "a€"}, {"a€b", 3, "a…"}, {"a€b", 4, "a€…"}, {"\xff", 9, "\ufffd"},
		{"€€", 1, "\ufffd…"}, {"a\x80\x80\x80\x80", 3, "a\ufffd…"}, {"", 0, ""},
	} {
		if got := capped(c.in, c.n); got != c.want {
			t.Errorf("%q cut at %d: got %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func BenchmarkAuthorize(b *testing.B) {
	dir, err := os.MkdirTemp("/dev/shm", "scupper-bench")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	g := newGuard(b, func(c *Config) { c.Dir, c.Budget = dir, 1<<40 })
	r := ask(b, "GET", "api.example.com", "/repos/app?state=open")
	b.ReportAllocs()
	for b.Loop() {
		if d := g.Authorize(r); !d.Allowed() {
			b.Fatal(d.Reason)
		}
	}
}

func BenchmarkAuthorizeParallel(b *testing.B) {
	g := newGuard(b, func(c *Config) { c.Budget = 1 << 40 })
	r := ask(b, "GET", "api.example.com", "/repos/app?state=open")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if d := g.Authorize(r); !d.Allowed() {
				b.Fatal(d.Reason)
			}
		}
	})
}
