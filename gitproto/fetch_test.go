package gitproto

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	oid    = "0123456789abcdef0123456789abcdef01234567"
	oid256 = oid + "0123456789abcdef01234567"
)

// wire writes lines as a client does: "flush" and "delim" are the special packets, a
// line that ends in "|" has no line feed.
func wire(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		switch text, bare := strings.CutSuffix(l, "|"); {
		case l == "flush":
			b.WriteString("0000")
		case l == "delim":
			b.WriteString("0001")
		case bare:
			fmt.Fprintf(&b, "%04x%s", len(text)+4, text)
		default:
			fmt.Fprintf(&b, "%04x%s\n", len(text)+5, text)
		}
	}
	return b.String()
}

// allowed are bodies of real clients, and what becomes of them where that differs.
var allowed = []struct {
	name     string
	in, want []string
}{
	{"probe", []string{"flush"}, nil},
	{"ls-remote", []string{"command=ls-refs", "agent=git/2.39.5|", "object-format=sha1|", "delim", "peel", "symrefs", "unborn", "flush"},
		[]string{"command=ls-refs", "object-format=sha1", "delim", "peel", "symrefs", "unborn", "flush"}},
	{"ls-refs for a clone", []string{"command=ls-refs", "delim", "peel", "symrefs", "ref-prefix refs/heads/", "ref-prefix refs/tags/", "ref-prefix HEAD", "flush"}, nil},
	{"clone", []string{"command=fetch|", "agent=git/2.50.1-Linux", "session-id=7f.1", "object-format=sha256", "delim", "thin-pack|", "ofs-delta|", "want " + oid256, "done", "flush"},
		[]string{"command=fetch", "object-format=sha256", "delim", "thin-pack", "ofs-delta", "want " + oid256, "done", "flush"}},
	{"shallow, partial", []string{"command=fetch", "delim", "deepen 1", "filter blob:none", "want " + oid, "done", "flush"}, nil},
	{"negotiation", []string{"command=fetch", "delim", "thin-pack", "no-progress", "include-tag", "ofs-delta", "shallow " + oid, "deepen-since 1700000000",
		"deepen-not refs/heads/old", "deepen-relative", "want-ref refs/heads/main", "want " + oid, "want " + oid, "have " + oid, "have " + oid, "flush"}, nil},
	{"every filter", []string{"command=fetch", "delim", "filter combine:blob:limit=10k+tree:2+object:type=commit", "want " + oid, "flush"}, nil},
	{"version 2 without arguments", []string{"command=ls-refs", "flush"}, nil},
	{"version 0 clone", []string{"want " + oid + " multi_ack_detailed no-done side-band-64k thin-pack ofs-delta deepen-since deepen-not agent=git/2.39.5 object-format=sha1", "want " + oid, "flush", "done"},
		[]string{"want " + oid + " multi_ack_detailed no-done side-band-64k thin-pack ofs-delta deepen-since deepen-not object-format=sha1", "want " + oid, "flush", "done"}},
	{"version 0 bare want", []string{"want " + oid, "flush", "done"}, nil},
	{"version 0 shallow", []string{"want " + oid + " shallow filter", "shallow " + oid, "deepen 2147483647|", "filter tree:0", "flush"},
		[]string{"want " + oid + " shallow filter", "shallow " + oid, "deepen 2147483647", "filter tree:0", "flush"}},
	{"version 0 rounds", []string{"want " + oid + " multi_ack", "flush", "have " + oid, "flush", "have " + oid, "flush"}, nil},
}

func TestFetch(t *testing.T) {
	for _, c := range allowed {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want == nil {
				want = c.in
			}
			got, err := Fetch{}.Inspect([]byte(wire(c.in...)))
			if err != nil || string(got) != wire(want...) {
				t.Errorf("got %q, %v\nwant %q", got, err, wire(want...))
			}
		})
	}
}

// TestNotAFetch: what else a body of that media type could hold.
func TestNotAFetch(t *testing.T) {
	v2 := func(lines ...string) string {
		return wire(append(append([]string{"command=fetch", "delim"}, lines...), "flush")...)
	}
	for name, body := range map[string]string{
		"nothing":                        "",
		"text":                           "secret",
		"push":                           wire(oid+" "+oid+" refs/heads/main\x00report-status", "flush"),
		"object-info":                    wire("command=object-info", "delim", "size", "oid "+oid, "flush"),
		"bundle-uri":                     wire("command=bundle-uri", "flush"),
		"unknown command":                wire("command=secret", "flush"),
		"two commands":                   wire("command=ls-refs", "flush", "command=ls-refs", "flush"),
		"something after the flush":      wire("command=ls-refs", "flush") + "secret",
		"something after the probe":      "0000secret",
		"two probes":                     "00000000",
		"no flush":                       wire("command=ls-refs", "delim", "peel"),
		"no flush, no delim":             wire("command=ls-refs", "peel"),
		"two delims":                     wire("command=ls-refs", "delim", "delim", "flush"),
		"flush between":                  wire("command=ls-refs", "flush", "peel", "flush"),
		"response-end":                   wire("command=ls-refs", "delim") + "0002" + "0000",
		"empty line":                     wire("command=ls-refs", "delim") + "0004" + "0000",
		"only a line feed":               wire("command=ls-refs", "delim") + "0005\n0000",
		"length of three":                "00030000",
		"length with a sign":             "+00a",
		"length with an underscore":      "0_0a",
		"length in hex prefix":           "0x0a",
		"length over the end":            "00ffcommand=ls-refs",
		"length over the maximum":        "ffffcommand=ls-refs",
		"half a length":                  "000",
		"server option":                  wire("command=fetch", "server-option=secret", "delim", "flush"),
		"unknown capability":             wire("command=fetch", "secret", "delim", "flush"),
		"agent with a blank":             wire("command=fetch", "agent=a b", "delim", "flush"),
		"endless agent":                  wire("command=fetch", "agent="+strings.Repeat("a", 257), "delim", "flush"),
		"two agents":                     wire("command=fetch", "agent=a", "agent=b", "delim", "flush"),
		"unknown object format":          wire("command=fetch", "object-format=md5", "delim", "flush"),
		"unknown argument":               v2("secret"),
		"argument with a value":          v2("done secret"),
		"packfile-uris":                  v2("packfile-uris https"),
		"short id":                       v2("want " + oid[1:]),
		"capital id":                     v2("want " + strings.ToUpper(oid)),
		"id and more":                    v2("want " + oid + " secret"),
		"id after two blanks":            v2("want  " + oid),
		"NUL":                            v2("want " + oid + "\x00secret"),
		"two line feeds":                 v2("done\n"),
		"carriage return":                v2("done\r"),
		"binary":                         v2("\xff\xfe"),
		"done twice":                     v2("done", "done"),
		"two filters":                    v2("filter blob:none", "filter tree:1"),
		"sparse filter":                  v2("filter sparse:oid=HEAD:secret"),
		"filter of filters":              v2("filter combine:combine:blob:none+tree:0"),
		"filter with more":               v2("filter blob:none secret"),
		"filter with a value":            v2("filter blob:none=secret"),
		"unbounded limit":                v2("filter blob:limit=10kkkk"),
		"depth with zeros":               v2("deepen 0001"),
		"depth of words":                 v2("deepen secret"),
		"endless depth":                  v2("deepen " + strings.Repeat("9", 11)),
		"ref with dots":                  v2("want-ref refs/../secret"),
		"ref with a star":                v2("want-ref refs/*"),
		"endless ref":                    v2("want-ref refs/" + strings.Repeat("a", 256)),
		"endless prefix":                 wire("command=ls-refs", "delim", "ref-prefix "+strings.Repeat("a", 256), "flush"),
		"prefix with a blank":            wire("command=ls-refs", "delim", "ref-prefix a secret", "flush"),
		"version 0 unknown capability":   wire("want "+oid+" secret", "flush", "done"),
		"version 0 push capability":      wire("want "+oid+" report-status", "flush", "done"),
		"version 0 server option":        wire("want "+oid+" server-option=x", "flush", "done"),
		"version 0 without a flush":      wire("want " + oid),
		"version 0 more after done":      wire("want "+oid, "flush", "done", "have "+oid, "flush"),
		"version 0 a flush after done":   wire("want "+oid, "flush", "done", "flush"),
		"version 0 have before a flush":  wire("want "+oid, "have "+oid, "flush"),
		"version 0 want after a flush":   wire("want "+oid, "flush", "want "+oid, "flush"),
		"version 0 capabilities again":   wire("want "+oid, "want "+oid+" secret", "flush", "done"),
		"version 0 haves without an end": wire("want "+oid, "flush", "have "+oid),
		"version 0 delim":                wire("want "+oid, "delim", "done"),
		"version 0 deepen first":         wire("deepen 1", "want "+oid, "flush"),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Fetch{}.Inspect([]byte(body))
			if err == nil {
				t.Fatalf("%q passed as %q", body, got)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error holds what was sent: %v", err)
			}
		})
	}
}

// TestSeeds keeps the fuzz target honest: without its seeds it would pass on nothing.
func TestSeeds(t *testing.T) {
	seeds, err := filepath.Glob("testdata/fuzz/FuzzFetch/*")
	if err != nil || len(seeds) < 4 {
		t.Fatalf("seeds of FuzzFetch: %v, %v", seeds, err)
	}
	for _, s := range seeds {
		if text, err := os.ReadFile(s); err != nil || !bytes.HasPrefix(text, []byte("go test fuzz v1\n")) {
			t.Errorf("%s is not a seed: %v", s, err)
		}
	}
}

// FuzzFetch: whatever the body, reading it ends; what comes out, inspected again, is
// the same; and it is not much longer than what came in.
func FuzzFetch(f *testing.F) {
	for _, c := range allowed {
		f.Add([]byte(wire(c.in...)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		once, err := Fetch{}.Inspect(body)
		if err != nil {
			return
		}
		twice, err := Fetch{}.Inspect(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q becomes %q, and that %q, %v", body, once, twice, err)
		}
		if len(once) > len(body)*5/4+1 {
			t.Fatalf("%d bytes become %d", len(body), len(once))
		}
		if bytes.Contains(once, []byte("agent=")) || bytes.Contains(once, []byte("session-id=")) {
			t.Fatalf("the client's name is in %q", once)
		}
	})
}
