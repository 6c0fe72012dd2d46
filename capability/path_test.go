package capability

import (
	"strings"
	"testing"
	"time"
)

func TestParsePath(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"root", "/", "/"},
		{"plain", "/public/a", "/public/a"},
		{"trailing slash", "/public/a/", "/public/a/"},
		{"unreserved, encoded", "/%70ublic/%7Ea", "/public/~a"},
		{"delimiters", "/a@b:c,d(e)!$&'*=", "/a@b:c,d(e)!$&'*="},
		{"plus sign", "/g++%2b", "/g%2B%2B%2B"},
		{"space and quotes", "/a%20b%22", "/a%20b%22"},
		{"UTF-8", "/%c3%a4", "/%C3%A4"},
		{"encoded slash stays in its segment", "/@s%2fn", "/@s%2Fn"},
		{"PATH-01 dot segments", "/public/../secret", ""},
		{"PATH-01 dot segment at the end", "/public/..", ""},
		{"PATH-02 encoded dots", "/public/%2e%2e/secret", ""},
		{"PATH-02 half encoded dots", "/public/.%2E/secret", ""},
		{"PATH-03 encoded slash with dots", "/public/..%2fsecret", ""},
		{"PATH-03 encoded slash, dots behind it", "/public/a%2f..%2fsecret", ""},
		{"PATH-03 encoded slash at the start", "/public/%2fsecret", ""},
		{"PATH-03 encoded slash at the end", "/public/a%2f", ""},
		{"PATH-04 backslash", `/public\..\secret`, ""},
		{"PATH-04 encoded backslash", "/public/%5c..%5csecret", ""},
		{"PATH-05 two slashes first", "//secret", ""},
		{"PATH-05 two slashes inside", "/public//a", ""},
		{"PATH-05 two slashes at the end", "/public//", ""},
		{"PATH-05 only slashes", "//", ""},
		{"PATH-06 parameters after dots", "/public/..;y/secret", ""},
		{"PATH-06 empty parameters after dots", "/public/..;/secret", ""},
		{"PATH-06 encoded", "/public/%2e%2e%3b/secret", ""},
		{"PATH-07 double encoding is data", "/public/%252e%252e%252f", "/public/%252e%252e%252f"},
		{"PATH-08 single dot", "/./upload", ""},
		{"NUL", "/public/a%00b", ""},
		{"CR LF", "/public/a%0d%0ab", ""},
		{"DEL", "/a%7f", ""},
		{"overlong dot and slash", "/public/a%c0%af..%c0%afb", ""},
		{"lone surrogate", "/a%ed%a0%80", ""},
		{"broken escape", "/a%2", ""},
		{"broken escape, not hexadecimal", "/a%zz", ""},
		{"fragment", "/a#b", ""},
		{"question mark", "/a?b", ""},
		{"raw space", "/a b", ""},
		{"raw UTF-8", "/\u00e4", ""},
		{"relative", "public/a", ""},
		{"asterisk", "*", ""},
		{"empty", "", ""},
		{"too long", "/" + strings.Repeat("a", MaxPath), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParsePath(c.in)
			if got.String() != c.want || (err == nil) != (c.want != "") {
				t.Errorf("ParsePath(%q) = %q, %v; want %q", c.in, got, err, c.want)
			}
		})
	}
}

func TestParseQuery(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		ok             bool
	}{
		{"none", "", "", true},
		{"one", "a=1", "a=1", true},
		{"no value", "a", "a=", true},
		{"plus is a space", "a=b+c", "a=b+c", true},
		{"encoded", "%61=%62%26", "a=b%26", true},
		{"HP-15 semicolon", "a=1;b=2", "", false},
		{"HP-15 broken escape", "a=%zz", "", false},
		{"HP-15 empty pair", "a=1&&b=2", "", false},
		{"HP-15 nameless", "=1", "", false},
		{"HP-15 too many", strings.Repeat("a&", MaxParameters) + "a", "", false},
		{"line break", "a=%0a", "", false},
		{"invalid UTF-8", "a=%ff", "", false},
		{"fragment", "a=1#b", "", false},
		{"raw UTF-8", "a=\u00e4", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, err := ParseQuery(c.in)
			if (err == nil) != c.ok {
				t.Fatalf("ParseQuery(%q): %v", c.in, err)
			}
			if got := (&QueryRule{Any: true}).render(q, nil); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzPath(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			if p.Valid() {
				t.Fatalf("%q: an error and a path", s)
			}
			return
		}
		again, err := ParsePath(p.String())
		if err != nil || again.String() != p.String() || again.Len() != p.Len() {
			t.Errorf("%q becomes %q, then %q, %v", s, p, again, err)
		}
	})
}

func FuzzQuery(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		q, err := ParseQuery(s)
		if err != nil {
			return
		}
		sent := (&QueryRule{Any: true}).render(q, nil)
		again, err := ParseQuery(sent)
		if err != nil {
			t.Fatalf("%q is sent as %q, which does not parse: %v", s, sent, err)
		}
		for i := range again {
			if again[i] != q[i] {
				t.Errorf("%q: judged %q, sent %q", s, q[i], again[i])
			}
		}
	})
}

// TestPathTime: one request cannot keep the supervisor busy, however it is segmented.
func TestPathTime(t *testing.T) {
	for text, unit := range map[string]string{"/{group...}/-/{rest...}": "/a/-", "/{a...}/{b...}": "/x", "/{a...}/x/{b...}": "/x/x"} {
		template, err := ParseTemplate(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := &Grant{Name: "g", Host: HostPattern{Name: "h.example"}, Port: 443, Scheme: HTTPS, Credential: Credential{Mode: Anonymous}, Allows: []*Allow{{Methods: []string{"GET"}, Path: template}}}
		policy, err := Compile([]*Grant{g}, nil)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for n := 8; n < MaxPath/len(unit); n *= 2 {
			path, err := ParsePath(strings.Repeat(unit, n))
			if many := n*len(unit)/2 > MaxSegments; (err != nil) != many {
				t.Fatalf("%d times %q: got %v", n, unit, err)
			}
			r := &Request{Kind: KindHTTP, Host: "h.example", Port: 443, Scheme: HTTPS, Method: "POST", Path: path, Time: begun}
			if d := policy.Decide(r); d.Allowed() {
				t.Error("allowed")
			}
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("%s: took %v", text, took)
		}
	}
	if _, err := ParseTemplate("/{a...}/x/{b...}/x/{c...}", nil); err == nil {
		t.Error("three variables over several segments are accepted")
	}
}
