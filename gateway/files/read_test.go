package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func (x *world) readAnswer(a args) (string, readAnswer) {
	x.t.Helper()
	r, reason := x.result("read", a)
	if reason != "" {
		x.t.Fatalf("read %v: %s: %s", a, reason, r.Content[0].Text)
	}
	var answer readAnswer
	if err := json.Unmarshal(r.Structured, &answer); err != nil {
		x.t.Fatal(err)
	}
	return r.Content[0].Text, answer
}

func TestRead(t *testing.T) {
	x := newWorld(t)
	var long strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	x.file("long", long.String())

	text, a := x.readAnswer(args{"path": "long"})
	contains(t, text, "     1\tline 1\n", "  2000\tline 2000\n", "[lines 1-2000 of 5000; next offset 2001]")
	if a.Next != 2001 || *a.Total != 5000 || a.SHA256 != digest([]byte(long.String())) || strings.Contains(text, "line 2001") {
		t.Errorf("answer %+v", a)
	}
	text, a = x.readAnswer(args{"path": "long", "offset": 4999, "limit": 10})
	if want := "  4999\tline 4999\n  5000\tline 5000\n[lines 4999-5000 of 5000; end of file]\n"; text != want || a.Next != 0 {
		t.Errorf("got %q, want %q", text, want)
	}
	if text, reason := x.call("read", args{"path": "long", "offset": 5001}); reason != Malformed {
		t.Errorf("after the end: %q: %s", reason, text)
	}
	x.file("empty", "")
	if text, _ := x.readAnswer(args{"path": "empty"}); text != "[the file is empty]\n" {
		t.Errorf("empty: %q", text)
	}
}

func TestReadLimits(t *testing.T) {
	x := newWorld(t)
	x.file("min.js", strings.Repeat("é", 3<<20)+"\nsecond\n")
	text, a := x.readAnswer(args{"path": "min.js"})
	contains(t, text, fmt.Sprintf("[%d bytes cut]", 2*(3<<20)-2*maxLine), "     2\tsecond\n")
	if !utf8.ValidString(text) || len(text) > 3*maxLine || *a.Total != 2 {
		t.Errorf("TOOL-14: %d bytes, valid %v, %+v", len(text), utf8.ValidString(text), a)
	}
	x.file("wide", strings.Repeat(strings.Repeat("x", 1000)+"\n", 200))
	text, a = x.readAnswer(args{"path": "wide"})
	if len(text) > maxShown+100 || a.Next != a.Last+1 || a.Last < 49 {
		t.Errorf("%d bytes, %+v", len(text), a)
	}
	x.file("border", strings.Repeat("a", maxLine)+"\n"+strings.Repeat("b", maxLine+1)+"\n")
	text, a = x.readAnswer(args{"path": "border"})
	contains(t, text, strings.Repeat("a", maxLine)+"\n", strings.Repeat("b", maxLine)+" [1 bytes cut]\n")
}

func TestReadEncodings(t *testing.T) {
	x := newWorld(t)
	for name, row := range map[string]struct {
		bytes string
		code  encoding
		ends  string
		want  string
	}{
		"lf":       {"a\nb\n", utf8Text, "lf", "     1\ta\n     2\tb\n[lines 1-2 of 2; end of file]\n"},
		"open":     {"a\nb", utf8Text, "lf", "     1\ta\n     2\tb\n[lines 1-2 of 2; end of file]\n"},
		"crlf":     {"a\r\nb\r\n", utf8Text, "crlf", "     1\ta\n     2\tb\n[lines 1-2 of 2; end of file; line endings: crlf]\n"},
		"mixed":    {"a\r\nb\n", utf8Text, "mixed", "     1\ta\n     2\tb\n[lines 1-2 of 2; end of file; line endings: mixed]\n"},
		"mark":     {"\xef\xbb\xbfa\n", utf8Text, "lf", "     1\ta\n[lines 1-1 of 1; end of file; encoding: utf-8 with a byte order mark]\n"},
		"latin":    {"caf\xe9\n", latin1, "lf", "     1\tcafé\n[lines 1-1 of 1; end of file; encoding: iso-8859-1]\n"},
		"damaged":  {"caf\xe9\ncafé\n", utf8Text, "lf", "     1\tcafé\n     2\tcafé\n[lines 1-2 of 2; end of file; 1 lines are not UTF-8 and are shown as ISO-8859-1]\n"},
		"wide":     {"\xff\xfea\x00\r\x00\n\x00\xe9\x00", utf16LE, "crlf", "     1\ta\n     2\té\n[lines 1-2 of 2; end of file; encoding: utf-16le with a byte order mark; line endings: crlf]\n"},
		"big":      {"\xfe\xff\x00a\x00\n", utf16BE, "lf", "     1\ta\n[lines 1-1 of 1; end of file; encoding: utf-16be with a byte order mark]\n"},
		"unmarked": {"a\x00b\x00c\x00\n\x00", utf16LE, "lf", "     1\tabc\n[lines 1-1 of 1; end of file; encoding: utf-16le]\n"},
		"escape":   {"\x1b]52;c;aGk=\x07 \x1b[2J \u202e\rx\n", utf8Text, "lf", "     1\t\\x1b]52;c;aGk=\\x07 \\x1b[2J \\u202e\\rx\n[lines 1-1 of 1; end of file]\n"},
	} {
		x.file(name, row.bytes)
		text, a := x.readAnswer(args{"path": name})
		if text != row.want || a.Encoding != row.code || a.Ends != row.ends {
			t.Errorf("%s: %+v\ngot  %q\nwant %q", name, a, text, row.want)
		}
	}
}

func TestReadBinary(t *testing.T) {
	x := newWorld(t)
	for name, row := range map[string]struct{ bytes, kind string }{
		"elf": {"\x7fELF\x02\x01\x01\x00\x00", "application/x-elf"}, "gz": {"\x1f\x8b\x08\x00", "application/x-gzip"},
		"zip": {"PK\x03\x04\x00", "application/zip"}, "nul": {"text\x00text", "application/octet-stream"}, "utf32": {"\xff\xfe\x00\x00a\x00\x00\x00", "text/plain; charset=utf-16le"},
	} {
		x.file(name, row.bytes)
		text, a := x.readAnswer(args{"path": name})
		if a.Type != row.kind || a.Bytes != int64(len(row.bytes)) {
			t.Errorf("%s: %+v: %s", name, a, text)
		}
		contains(t, text, fmt.Sprintf("is a binary file: %s, %d bytes", row.kind, len(row.bytes)))
	}
}

func TestReadImages(t *testing.T) {
	x := newWorld(t)
	for kind, head := range map[string]string{"image/png": "\x89PNG\x0d\x0a\x1a\x0a", "image/jpeg": "\xff\xd8\xff", "image/gif": "GIF89a", "image/webp": "RIFF\x00\x00\x00\x00WEBPVP"} {
		x.file("image", head+strings.Repeat("\x00", 100))
		r, reason := x.result("read", args{"path": "image"})
		if reason != "" || len(r.Content) != 2 || r.Content[1].MediaType != kind || len(r.Content[1].Image) != len(head)+100 {
			t.Errorf("%s: %s, %+v", kind, reason, r.Content)
		}
		x.file("image", head+strings.Repeat("\x00", maxImage))
		if r, _ := x.result("read", args{"path": "image"}); len(r.Content) != 1 || !strings.Contains(r.Content[0].Text, "not shown") {
			t.Errorf("large %s: %d pieces", kind, len(r.Content))
		}
	}
}

func TestReadSuggests(t *testing.T) {
	x := newWorld(t)
	x.link("../outside/secret.txt", "src/mainn.go")
	x.file("src/.main.go", "")
	text, reason := x.call("read", args{"path": "src/mian.go"})
	if reason != Missing || !strings.HasSuffix(text, `"src/mian.go" does not exist. Did you mean "src/main.go"?`) {
		t.Errorf("%s: %s", reason, text)
	}
	for _, path := range []string{"../outside/secret.tx", "folder/secret.tx", "/etc/passwx"} {
		if text, _ := x.call("read", args{"path": path}); strings.Contains(text, "mean") {
			t.Errorf("%s: %s", path, text)
		}
	}
}

// kept is a gateway.Rest with one result, of one role.
type kept string

type closer struct{ *bytes.Reader }

func (closer) Close() error { return nil }

func (k kept) Open(role, handle string) (io.ReadSeekCloser, bool) {
	return closer{bytes.NewReader([]byte(k))}, role == "default" && handle == "h1"
}

func TestReadRest(t *testing.T) {
	x := newWorld(t, func(c *Config) { c.Rest = kept("one\ntwo\nthree\n") })
	text, a := x.readAnswer(args{"path": "result:h1", "offset": 2})
	contains(t, text, "     2\ttwo\n     3\tthree\n[lines 2-3 of 3; end of file]")
	if a.Bytes != 14 {
		t.Errorf("%+v", a)
	}
	if text, reason := x.call("read", args{"path": "result:h2"}); reason != Missing {
		t.Errorf("%s: %s", reason, text)
	}
	for _, tool := range []string{"write", "edit"} {
		if text, reason := x.each(tool, "result:h1"); reason != Missing {
			t.Errorf("%s: %s: %s", tool, reason, text)
		}
	}
}
