package files

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEdit(t *testing.T) {
	for name, row := range map[string]struct{ before, old, new, after string }{
		"plain":                    {"a\nb\nc\n", "b", "B", "a\nB\nc\n"},
		"no final newline":         {"a\nb", "b", "B", "a\nB"},
		"CRLF, one line":           {"a\r\nb\r\nc\r\n", "b", "B", "a\r\nB\r\nc\r\n"},
		"CRLF, asked with LF":      {"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n"},
		"CRLF, asked with CRLF":    {"a\r\nb\r\nc\r\n", "a\r\nb", "x", "x\r\nc\r\n"},
		"CRLF, one line becomes 2": {"a\r\nb\r\nc\r\n", "b", "1\n2", "a\r\n1\r\n2\r\nc\r\n"},
		"CRLF, last line":          {"a\r\nb", "b", "1\n2", "a\r\n1\r\n2"},
		"mixed, at LF":             {"a\r\nb\nc\r\n", "b", "1\n2", "a\r\n1\n2\nc\r\n"},
		"mixed, at CRLF":           {"a\nb\r\nc\n", "b", "1\n2", "a\n1\r\n2\r\nc\n"},
		"mark":                     {"\xef\xbb\xbfa\nb\n", "a", "A", "\xef\xbb\xbfA\nb\n"},
		"Latin-1":                  {"caf\xe9\nb\xff\n", "b", "B", "caf\xe9\nB\xff\n"},
		"Latin-1, asked for":       {"caf\xe9 noir\n", "café", "thé", "th\xe9 noir\n"},
		"damaged UTF-8":            {"café \xe9\nb\n", "café", "thé", "thé \xe9\nb\n"},
		"UTF-16LE":                 {"\xff\xfea\x00\r\x00\n\x00b\x00\r\x00\n\x00", "a\nb", "é", "\xff\xfe\xe9\x00\r\x00\n\x00"},
		"UTF-16BE":                 {"\xfe\xff\x00a\x00b", "b", "\U0001f600", "\xfe\xff\x00a\xd8\x3d\xde\x00"},
		"UTF-16, not across units": {"\xff\xfea\x00\x62\x61\x00\x61a\x00\x62\x00", "ab", "x", "\xff\xfea\x00\x62\x61\x00\x61x\x00"},
		"tabs":                     {"\tif x {\n\t\ty()\n\t}\n", "\t\ty()", "\t\tz()", "\tif x {\n\t\tz()\n\t}\n"},
		"removes":                  {"a\nb\nc\n", "b\n", "", "a\nc\n"},
		"dollar is no pattern":     {"a.b $1\n", "a.b", "$1 \\1 &", "$1 \\1 & $1\n"},
		"NUL inside new":           {"a\n", "a", "b\x00", "b\x00\n"},
	} {
		x := newWorld(t)
		x.file("f", row.before)
		if err := os.Chmod(x.in("f"), 0o755); err != nil {
			t.Fatal(err)
		}
		text, reason := x.call("edit", args{"path": "f", "old_string": row.old, "new_string": row.new})
		if got := x.text("f"); reason != "" || got != row.after {
			t.Errorf("%s: got %q, want %q: %s", name, got, row.after, text)
		}
		if info, err := os.Stat(x.in("f")); err != nil || info.Mode() != 0o755 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
}

func TestEditAll(t *testing.T) {
	x := newWorld(t)
	x.file("f", "a\r\nb\na\nb\r\na")
	text, reason := x.call("edit", args{"path": "f", "old_string": "a", "new_string": "1\n2"})
	if reason != Unmatched || !strings.Contains(text, "3 times, at line 1, 3, 5") {
		t.Errorf("%s: %s", reason, text)
	}
	text, reason = x.call("edit", args{"path": "f", "old_string": "a", "new_string": "1\n2", "replace_all": true})
	if got, want := x.text("f"), "1\r\n2\r\nb\n1\n2\nb\r\n1\r\n2"; reason != "" || got != want {
		t.Errorf("got %q, want %q: %s", got, want, text)
	}
	contains(t, text, "3 replacements, at line 1, 3, 5")
	x.file("two", "a\nb\n...a\r\nb\r\n")
	if text, reason := x.call("edit", args{"path": "two", "old_string": "a\nb", "new_string": "x"}); reason != Unmatched {
		t.Errorf("once with LF and once with CRLF: %s: %s", reason, text)
	}
}

func TestEditRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		before, old string
		want        string
	}{
		"nothing like it":  {"a\n", "zzz", `old_string is not in "f"`},
		"trailing blanks":  {"a  \nb\n", "a\nb", "near miss at line 1: trailing blanks differ"},
		"tabs":             {"x\n\ta b\n", "    a b", "near miss at line 2: tabs and blanks differ"},
		"asked with CRLF":  {"a\nb\n", "a\r\nb\r\n", "near miss at line 1: line endings differ"},
		"case":             {"Hello World\n", "hello world", "near miss at line 1: case differs"},
		"curly quotes":     {"say “hi”\n", `say "hi"`, "near miss at line 1: characters that look alike differ"},
		"final newline":    {"a\nb", "a\nb\n", "near miss at line 1: the file has no newline at its end"},
		"another line":     {"a\nb\nc\nd\n", "a\nb\nX\nd", "its first 2 of 4 lines are at line 1, and line 3 of the file is different"},
		"several":          {"a \nb\na \nb\n", "a\nb", "near miss at line 1, 3: trailing blanks differ"},
		"binary":           {"\x7fELF\x00", "ELF", "is a binary file (application/x-elf)"},
		"Latin-1 has no €": {"caf\xe9\n", "caf", "is written in ISO-8859-1"},
	} {
		x := newWorld(t)
		x.file("f", row.before)
		text, reason := x.call("edit", args{"path": "f", "old_string": row.old, "new_string": "€"})
		if reason == "" || !strings.Contains(text, row.want) || x.text("f") != row.before {
			t.Errorf("%s: %q\ngot  %s\nwant %s", name, x.text("f"), text, row.want)
		}
	}
	x := newWorld(t)
	for _, a := range []args{
		{"path": "inside.txt", "old_string": "inside", "new_string": "inside"},
		{"path": "inside.txt", "old_string": "inside", "new_string": "x", "expected_sha256": digest(nil)},
		{"path": "absent", "old_string": "inside", "new_string": "x"},
	} {
		if text, reason := x.call("edit", a); reason == "" || x.text("inside.txt") != "inside\n" {
			t.Errorf("%v: %s", a, text)
		}
	}
}

// TestEditKeepsBytes: every byte outside of an edit is the same, whatever the file is.
func TestEditKeepsBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for i := range 20000 {
		before, old := anyText(random)
		checkKept(t, before, old, "n\u00e9w\ntext", i%2 == 0)
	}
}

// anyText makes a file, and a text that is in it more often than not.
func anyText(r *rand.Rand) (text []byte, old string) {
	words := []string{"a", "b", "foo", "é", "€", "\t", " ", "{}", "x y"}
	ends := [][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}, {"\n", "\r\n", "\r"}}[r.IntN(4)]
	var parts []string
	for range 1 + r.IntN(12) {
		parts = append(parts, words[r.IntN(len(words))], words[r.IntN(len(words))], ends[r.IntN(len(ends))])
	}
	if r.IntN(2) == 0 {
		parts = parts[:len(parts)-1]
	}
	from := r.IntN(len(parts))
	to := from + 1 + r.IntN(min(6, len(parts)-from))
	code := []encoding{utf8Text, utf8Text, utf16LE, utf16BE, latin1}[r.IntN(5)]
	whole, old := strings.Join(parts, ""), strings.Join(parts[from:to], "")
	if code == latin1 {
		whole = strings.ReplaceAll(whole, "€", "ÿ")
		old = strings.ReplaceAll(old, "€", "ÿ")
	}
	if r.IntN(2) == 0 {
		old = strings.ReplaceAll(old, "\r\n", "\n")
	}
	text, _ = code.encode(whole)
	if mark := map[encoding]string{utf8Text: "\xef\xbb\xbf", utf16LE: "\xff\xfe", utf16BE: "\xfe\xff"}[code]; code.wide() || r.IntN(3) == 0 {
		text = append([]byte(mark), text...)
	}
	if code == utf8Text && r.IntN(3) == 0 {
		text = slices.Insert(text, r.IntN(len(text)+1), 0xfe)
	}
	return text, old
}

// checkKept applies an edit and compares all that lies outside its matches.
func checkKept(t *testing.T, before []byte, old, new string, all bool) {
	t.Helper()
	s := newSubstitution(bytes.Clone(before), editArguments{Path: "f", Old: old, New: new, All: all})
	after, err := s.apply()
	if err != nil {
		return
	}
	lf, ok := s.code.encode(new)
	crlf, okToo := s.code.encode(toCRLF(new))
	if !ok || !okToo {
		t.Fatalf("%q was written in %s", new, s.code)
	}
	from, rest := 0, after
	for _, m := range s.at {
		same, found := bytes.CutPrefix(rest, before[from:m.from])
		if !found {
			t.Fatalf("%q: %q for %q made %q: other bytes before %d", before, new, old, after, m.from)
		}
		if rest, found = bytes.CutPrefix(same, crlf); !found || !s.crlfAt(m) && !m.translated {
			if rest, found = bytes.CutPrefix(same, lf); !found {
				t.Fatalf("%q: %q for %q made %q: not the new text at %d", before, new, old, after, m.from)
			}
		}
		if got := s.code.decode(before[m.from:m.to]); utf8.ValidString(old) && got != old && got != toCRLF(old) {
			t.Fatalf("%q: %q for %q took %q away", before, new, old, got)
		}
		from = m.to
	}
	if !bytes.Equal(rest, before[from:]) {
		t.Fatalf("%q: %q for %q made %q: another end", before, new, old, after)
	}
	if mark := before[:s.mark]; !bytes.HasPrefix(after, mark) {
		t.Fatalf("%q: the mark is gone from %q", before, after)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte("a\r\nb\r\n"), "a\nb", "x\ny", false)
	f.Add([]byte("\xff\xfea\x00b\x00"), "b", "é", true)
	f.Fuzz(func(t *testing.T, before []byte, old, new string, all bool) {
		if old == "" || !utf8.ValidString(old) || !utf8.ValidString(new) {
			return // the schema and JSON see to that
		}
		checkKept(t, before, old, new, all)
	})
}
