package capability

import (
	"strings"
	"testing"
)

func TestParseHost(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, c := range []struct{ name, in, want string }{
		{"plain", "api.example.com", "api.example.com"},
		{"HOST-01 trailing dot", "api.example.com.", "api.example.com"},
		{"HOST-02 mixed case", "API.Example.COM", "api.example.com"},
		{"HOST-02 mixed case with dot", "API.Example.COM.", "api.example.com"},
		{"HOST-03 name in brackets", "[api.example.com]", ""},
		{"HOST-03 half a bracket", "[::1", ""},
		{"HOST-04 NUL", "evil.test\x00.example.com", ""},
		{"HOST-04 space", "evil.test .example.com", ""},
		{"HOST-04 line break", "evil.test\r\n.example.com", ""},
		{"HOST-04 underscore", "a_b.example.com", ""},
		{"HOST-04 slash", "evil.test/.example.com", ""},
		{"HOST-07 mapped", "::ffff:127.0.0.1", "127.0.0.1"},
		{"HOST-07 mapped in brackets", "[::ffff:169.254.169.254]", "169.254.169.254"},
		{"HOST-07 mapped in hexadecimal", "[::ffff:7f00:1]", "127.0.0.1"},
		{"HOST-08 octal", "0177.0.0.1", ""},
		{"HOST-08 hexadecimal", "0x7f000001", ""},
		{"HOST-08 hexadecimal part", "127.0.0.0x1", ""},
		{"HOST-08 empty hexadecimal", "a.0x", ""},
		{"HOST-08 one number", "2130706433", ""},
		{"HOST-08 short", "127.1", ""},
		{"HOST-08 leading zero", "127.0.0.01", ""},
		{"HOST-08 number at the end of a name", "a.b.1", ""},
		{"HOST-08 trailing dot after an address", "127.0.0.1.", "127.0.0.1"},
		{"HOST-11 zone", "[fe80::1%eth0]", ""},
		{"HOST-11 encoded zone", "[::1%25eth0]", ""},
		{"HOST-11 bare zone", "fe80::1%lo", ""},
		{"HOST-15 userinfo", "allowed.example@attacker.test", ""},
		{"HOST-15 port", "example.com:443", ""},
		{"v4", "203.0.113.9", "203.0.113.9"},
		{"v6", "[2001:DB8::0:1]", "2001:db8::1"},
		{"v4 in brackets", "[127.0.0.1]", ""},
		{"empty", "", ""},
		{"dot", ".", ""},
		{"two dots", "a..b", ""},
		{"two trailing dots", "a.b..", ""},
		{"leading dot", ".a.b", ""},
		{"long label", long + ".test", long + ".test"},
		{"too long label", long + "a.test", ""},
		{"too long", strings.Repeat("abcdefg.", 32) + "test", ""},
		{"non-ASCII", "ex\u00e4mple.com", ""},
		{"fullwidth", "\uff45xample.com", ""},
		{"A-label", "xn--exmple-cua.com", "xn--exmple-cua.com"},
		{"hyphen first", "-a.test", ""},
		{"percent", "a%2eb.test", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseHost(c.in)
			if string(got) != c.want || (err == nil) != (c.want != "") {
				t.Errorf("ParseHost(%q) = %q, %v; want %q", c.in, got, err, c.want)
			}
		})
	}
}

func TestHostPattern(t *testing.T) {
	for _, c := range []struct {
		name    string
		pattern HostPattern
		host    Host
		want    bool
	}{
		{"same", HostPattern{Name: "noaa.example"}, "noaa.example", true},
		{"HOST-05 no label boundary", HostPattern{Name: "noaa.example"}, "evilnoaa.example", false},
		{"HOST-05 wildcard, no label boundary", HostPattern{Name: "noaa.example", Wildcard: true}, "evilnoaa.example", false},
		{"HOST-06 prefix", HostPattern{Name: "docs.example.com"}, "docs.example.com.attacker.test", false},
		{"subdomain of an exact name", HostPattern{Name: "example.com"}, "a.example.com", false},
		{"one label", HostPattern{Name: "example.com", Wildcard: true}, "a.example.com", true},
		{"two labels", HostPattern{Name: "example.com", Wildcard: true}, "a.b.example.com", false},
		{"the name itself", HostPattern{Name: "example.com", Wildcard: true}, "example.com", false},
		{"address under a wildcard", HostPattern{Name: "0.113.9", Wildcard: true}, "203.0.113.9", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.pattern.Match(c.host); got != c.want {
				t.Errorf("%s matches %s: got %t, want %t", c.pattern, c.host, got, c.want)
			}
		})
	}
}

func FuzzHost(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHost(s)
		if err != nil {
			return
		}
		if again, err := ParseHost(string(h)); again != h || err != nil {
			t.Errorf("%q becomes %q, then %q, %v", s, h, again, err)
		}
		if strings.ContainsAny(string(h), "@/[]%\\ \x00") || strings.ToLower(string(h)) != string(h) {
			t.Errorf("%q is not canonical", h)
		}
	})
}
