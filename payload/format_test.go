package payload

import (
	"slices"
	"strings"
	"testing"
)

// samples are strings of which each format takes some.
func samples() []string {
	return strings.Split(`2026-11-30|2026-02-29|2024-02-29|26-1-1|2026-11-30T10:00:00Z|2026-11-30t10:00:00z|2026-11-30 10:00:00Z|`+
		`2026-11-30T10:00:00.123+01:00|1998-12-31T23:59:60Z|1998-12-31T15:59:60-08:00|1998-12-31T22:59:60Z|2026-11-30T24:00:00Z|2026-11-30T10:00:00|`+
		`10:00:00Z|10:00:00|10:00:00.Z|10:00:00,5Z|10:00:00.1234567890Z|10:00:00+24:00|10:00:00+0100|00:29:60+00:30|`+
		`P1D|P1Y2D|P1Y2M3DT4H5M6S|PT1M|PT|P|P1W|P1W1D|P1WT1H|PT1D|P1|1D|P`+strings.Repeat("1", 40)+`D|`+
		`a@example.com|a.b+c@example.com|a@b@example.com|a..b@example.com|.a@example.com|"a b"@example.com|a@[127.0.0.1]|a@|@example.com|a@-x|`+
		`example.com|example.com.|-a.b|a-.b|a_b|a..b|`+strings.Repeat("a", 64)+`.b|`+strings.Repeat("a.", 127)+`|é.test|`+
		`127.0.0.1|127.0.0.01|256.1.1.1|1.1.1|::1|::1%eth0|::ffff:192.0.2.1|1::2::3|2001:db8::|12345::|`+
		`https://example.com/a?b#c|//example.com/a|/a|#x|http://exa mple.com|http://example.com/<|http://[::1]/|http://[::1|http://a/[x]|`+
		`http://a/%zz|http://a/é|http://a:b/|http://a/#b#c|mailto:a@example.com|`+
		`123e4567-e89b-12d3-a456-426614174000|123E4567-E89B-12D3-A456-426614174000|123e4567e89b12d3a456426614174000|123e4567-e89b-12d3-a456-4266141740-0|`+
		`/a/b|/~0~1|/~2|/~|#/a`, "|")
}

// TestFormats: each format takes these of the samples, the empty string as it is said,
// and no other.
func TestFormats(t *testing.T) {
	references := func(s string) bool {
		return strings.ContainsAny(s, " \"<é") || strings.Contains(s, "%") || strings.Contains(s, "#b#") || strings.Contains(s, "[x]") ||
			slices.Contains([]string{"http://[::1", "http://a:b/"}, s) || strings.Contains(s, "a@[")
	}
	for name, want := range map[string][]string{
		"date": {"2026-11-30", "2024-02-29"},
		"date-time": {"2026-11-30T10:00:00Z", "2026-11-30t10:00:00z", "2026-11-30T10:00:00.123+01:00", "1998-12-31T23:59:60Z",
			"1998-12-31T15:59:60-08:00"},
		"time":         {"10:00:00Z", "00:29:60+00:30"},
		"duration":     {"P1D", "P1Y2M3DT4H5M6S", "PT1M", "P1W"},
		"email":        {"a@example.com", "a.b+c@example.com"},
		"ipv4":         {"127.0.0.1"},
		"ipv6":         {"::1", "::ffff:192.0.2.1", "2001:db8::"},
		"uri":          {"https://example.com/a?b#c", "http://[::1]/", "mailto:a@example.com"},
		"uuid":         {"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"},
		"json-pointer": {"", "/a", "/a/b", "/~0~1", "//example.com/a"},
	} {
		for _, s := range append(samples(), "") {
			if got := formats()[name](s); got != slices.Contains(want, s) {
				t.Errorf("%s: got %v for %q", name, got, s)
			}
		}
	}
	for _, s := range samples() {
		if references(s) && formats()["uri-reference"](s) {
			t.Errorf("%q is a reference to a URI", s)
		}
		if strings.ContainsAny(s, "_:@/#\"é+ ,%[") && formats()["hostname"](s) {
			t.Errorf("%q is a host name", s)
		}
	}
}

// TestHostname: labels of letters, digits and hyphens.
func TestHostname(t *testing.T) {
	for s, want := range map[string]bool{
		"example.com": true, "a": true, "xn--bcher-kva.test": true, strings.Repeat("a", 63) + ".b": true, strings.Repeat("a.", 126) + "a": true,
		"": false, "example.com.": false, "-a.b": false, "a-.b": false, "a_b": false, "a..b": false, ".a": false,
		strings.Repeat("a", 64) + ".b": false, strings.Repeat("a.", 127) + "a": false,
	} {
		if got := isHostname(s); got != want {
			t.Errorf("got %v for %q", got, s)
		}
	}
}

// TestReference: relative ones are taken too.
func TestReference(t *testing.T) {
	for _, s := range []string{"", "/a", "#x", "a?b", "//example.com/a", "https://example.com/"} {
		if !isReference(s, false) {
			t.Errorf("%q is none", s)
		}
	}
}

// TestFormatsArePart: a format asserts inside of other keywords as well.
func TestFormatsArePart(t *testing.T) {
	inspect(t, JSON{Schema: schema(t, `{"not":{"format":"ipv4"}}`)}, []row{
		{"not an address", `"a"`, `"a"`, ""},
		{"an address", `"192.0.2.1"`, "", "the whole: not"},
		{"no string", `1`, "", "the whole: not"},
	})
}
