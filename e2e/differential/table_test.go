package differential

import (
	"testing"
)

// TestPaths sends spellings of paths by every way to every origin. What is not plainly
// inside the grant reaches nobody; the rest arrives in one form.
func TestPaths(t *testing.T) {
	const a = "/public/a"
	rows := []struct{ name, path, arrives string }{
		{"plain", a, a},
		{"another path", "/secret", ""},
		{"a longer segment", "/publicx/a", ""},
		{"upper case", "/PUBLIC/a", ""},
		{"PATH-01 dot segments", "/public/../secret", ""},
		{"PATH-01 dot segment", "/public/./a", ""},
		{"PATH-02 encoded dots", "/public/%2e%2e/secret", ""},
		{"PATH-02 encoded dots, mixed", "/public/%2E%2e/secret", ""},
		{"PATH-02 dots and encoded slash", "/public/..%2fsecret", ""},
		{"PATH-03 encoded slash", "/public%2fa", ""},
		{"PATH-03 encoded slash inside", "/public/a%2fb", ""},
		{"PATH-04 backslash", `/public\..\secret`, ""},
		{"PATH-04 backslash inside", `/public/a\b`, ""},
		{"PATH-04 encoded backslash", "/public/..%5csecret", ""},
		{"PATH-05 slashes first", "//public/a", ""},
		{"PATH-05 slashes inside", "/public//a", ""},
		{"PATH-06 parameter and dots", "/public/..;/secret", ""},
		{"PATH-06 parameter", "/public/a;x=1", ""},
		{"PATH-07 encoded twice", "/public/%252e%252e/secret", ""},
		{"encoded letter", "/%70ublic/a", a},
		{"encoded letter further on", "/public/%61", a},
		{"NUL", "/public/a%00b", ""},
		{"line", "/public/a%0d%0aX-A:%20b", ""},
		{"overlong slash", "/public/..%c0%afsecret", ""},
		{"fullwidth slash", "/public/..%ef%bc%8fsecret", ""},
		{"query", "/public/a?x=1", ""},
		{"empty query", "/public/a?", a},
		{"fragment", "/public/a#/../../secret", ""},
		{"half an escape", "/public/%2", ""},
		{"no escape", "/public/%zz", ""},
		{"slash at the end", "/public/a/", ""},
		{"a percent sign that is one", "/files/a%25b", "/files/a%25b"},
		{"a semicolon that is one", "/files/a;b", "/files/a%3Bb"},
		{"a plus sign", "/files/a+b", "/files/a%2Bb"},
		{"a letter beyond ASCII", "/files/%c3%a9", "/files/%C3%A9"},
		{"parameters in another order", "/search?page=3&q=a+b", "/search?q=a+b&page=3"},
		{"parameter twice", "/search?page=1&page=2", ""},
		{"semicolon between parameters", "/search?page=1;q=a", ""},
	}
	k := makeKeys(t, t.TempDir())
	lab := newLaboratory(t, k)
	for _, o := range origins(t, k) {
		w, err := lab.new(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			for by := plain; by <= connectFrames; by++ {
				for _, f := range w.try(request(by, row.path)) {
					t.Errorf("%s, %s, %v: %s", row.name, o.name, by, f)
				}
				got := ""
				if len(w.granted) > 0 {
					got = w.granted[0].target
				}
				if got != row.arrives || len(w.granted) > 1 {
					t.Errorf("%s, %s, %v: arrived %q, want %q", row.name, o.name, by, got, row.arrives)
				}
			}
		}
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}
}

// request is one that nothing is wrong about but its path.
func request(by way, path string) sample {
	m := &message{g: newGenerator(1, 1), way: by, method: "GET", authority: granted, path: path, version: "HTTP/1.1"}
	if by.http2() {
		return sample{by, m.stream()}
	}
	return sample{by, m.bytes()}
}

// TestFound holds what once disagreed, at its smallest. None of it is granted.
func TestFound(t *testing.T) {
	rows := []struct {
		name   string
		sample sample
	}{
		{"HP-19 a length that is none, and a body that went missing", sample{frames, []string{
			"S", "H:method\x00GET", "H:scheme\x00https", "H:authority\x00api.example.com", "H:path\x00/files/b", "Hcontent-length\x00 ", "D4",
		}}},
		{"HP-19 a length with blanks, twice", sample{connectFrames, []string{
			"S", "H:method\x00GET", "H:scheme\x00https", "H:authority\x00api.example.com", "H:path\x00/files/b", "Hcontent-length\x00 8 ", "Hcontent-length\x00 8 ", "D{\"n\":", "D42}",
		}}},
	}
	k := makeKeys(t, t.TempDir())
	lab := newLaboratory(t, k)
	for _, o := range origins(t, k) {
		w, err := lab.new(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			for _, f := range append(w.try(row.sample), w.late()...) {
				t.Errorf("%s, %s: %s", row.name, o.name, f)
			}
			if len(w.granted) > 0 {
				t.Errorf("%s, %s: %v", row.name, o.name, w.granted)
			}
		}
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}
}
