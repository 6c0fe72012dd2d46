package files

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"scupper.dev/scupper/gateway"
)

func (x *world) grepped(a args) (grepAnswer, string) {
	x.t.Helper()
	r, reason := x.result("grep", a)
	if reason != "" || r.Failed {
		x.t.Fatalf("%v: %s: %s", a, reason, r.Content[0].Text)
	}
	var answer grepAnswer
	if err := json.Unmarshal(r.Structured, &answer); err != nil {
		x.t.Fatal(err)
	}
	return answer, r.Content[0].Text
}

func TestGrep(t *testing.T) {
	openers(t, func(t *testing.T, with func(*Config)) {
		x := newWorld(t, with)
		x.tree()
		x.file("binary", "needle\x00")
		x.file("wide", "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\r\x00\n\x00")
		x.file("latin", "caf\xe9 needle\n")
		for _, row := range []struct {
			args args
			want string // "path count" of each
			note string
		}{
			{args{}, "a.go 1 b.txt 1 latin 1 sub/c.go 1 sub/keep.log 1 wide 1", "1 binary files skipped"},
			{args{"gitignore": false}, "a.go 1 b.txt 1 build/i.go 1 latin 1 sub/c.go 1 sub/deep/d.go 1 sub/deep/e.o 1 sub/keep.log 1 sub/x.log 1 wide 1", ".gitignore was not applied"},
			{args{"hidden": true, "glob": "*.go"}, ".g.go 1 .hidden/f.go 1 a.go 1 sub/c.go 1", ""},
			{args{"glob": "sub/*"}, "sub/c.go 1 sub/keep.log 1", ""},
			{args{"type": "go"}, "a.go 1 sub/c.go 1", "2 links were not followed"},
			{args{"path": "sub"}, "sub/c.go 1 sub/keep.log 1", ""},
			{args{"path": "indir", "type": "go"}, "sub/c.go 1", ""},
			{args{"path": "sub/deep/d.go"}, "sub/deep/d.go 1", ""},
			{args{"path": ".git"}, ".git/h.go 1", ""},
			{args{"mode": "files", "limit": 2}, "a.go 1 b.txt 1", "partial: more than 2 files match"},
			{args{"mode": "count", "type": "go"}, "a.go 1 sub/c.go 1", ""},
			{args{"pattern": "NEEDLE", "ignore_case": true, "type": "go"}, "a.go 1 sub/c.go 1", ""},
			{args{"pattern": "absent"}, "", `nothing found: no line matches "absent"`},
			{args{"pattern": "outside"}, "", "nothing found"},
			{args{"pattern": "needle$", "path": "wide"}, "wide 1", ""},
			{args{"pattern": "café"}, "", ""},
			{args{"pattern": `package main\n`, "multiline": true}, "src/main.go 1", ""},
		} {
			a := args{"pattern": "needle"}
			for k, v := range row.args {
				a[k] = v
			}
			answer, text := x.grepped(a)
			var got []string
			for _, f := range answer.Files {
				got = append(got, fmt.Sprint(f.Path, " ", f.Count))
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("TOOL-07 %v:\ngot  %s\nwant %s\n%s", row.args, strings.Join(got, " "), row.want, text)
			}
			contains(t, text, row.note)
			if strings.Contains(text, secret) {
				t.Errorf("%v shows what is outside: %s", row.args, text)
			}
		}
	})
}

func TestGrepShows(t *testing.T) {
	x := newWorld(t)
	x.file("f", "1\n2 hit\n3\n4\n5\n6\n7 hit\n8 hit\r\n9\n")
	for _, row := range []struct {
		args args
		want string
	}{
		{args{}, "f\n  2: 2 hit\n  7: 7 hit\n  8: 8 hit\n"},
		{args{"before": 1, "after": 1}, "f\n  1- 1\n  2: 2 hit\n  3- 3\n  --\n  6- 6\n  7: 7 hit\n  8: 8 hit\n  9- 9\n"},
		{args{"before": 3, "after": 3}, "f\n  1- 1\n  2: 2 hit\n  3- 3\n  4- 4\n  5- 5\n  6- 6\n  7: 7 hit\n  8: 8 hit\n  9- 9\n"},
		{args{"mode": "count"}, "f: 3\n"},
		{args{"mode": "files"}, "f\n"},
		{args{"limit": 1}, "f\n  2: 2 hit\n[partial: more than 1 lines match"},
		{args{"pattern": "hit$"}, "f\n  2: 2 hit\n  7: 7 hit\n  8: 8 hit\n"},
		{args{"pattern": `^\d$`}, "f\n  1: 1\n  3: 3\n  4: 4\n  5: 5\n  6: 6\n  9: 9\n"},
		{args{"pattern": `7(?s:.)+8`}, "[nothing found"},
		{args{"pattern": `7.*8`, "multiline": true, "after": 1}, "f\n  7: 7 hit\n  8: 8 hit\n  9- 9\n"},
		{args{"pattern": `\A2|9\z`}, "f\n  2: 2 hit\n  9: 9\n"},
	} {
		a := args{"pattern": "hit", "path": "f"}
		for k, v := range row.args {
			a[k] = v
		}
		if _, text := x.grepped(a); !strings.HasPrefix(text, row.want) {
			t.Errorf("%v:\ngot  %s\nwant %s", row.args, text, row.want)
		}
	}
	for _, pattern := range []string{"(", `(?=x)`, `\1`, "a\nb", `a\nb`, strings.Repeat("(a{1000})", 30)} {
		if text, reason := x.call("grep", args{"pattern": pattern}); reason != Malformed {
			t.Errorf("%s: %q: %s", pattern, reason, text)
		}
	}
}

// TestGrepLongLine: of a line of megabytes, what is around the match is shown.
func TestGrepLongLine(t *testing.T) {
	x := newWorld(t)
	x.file("min.js", strings.Repeat("é", 5<<20)+"needle"+strings.Repeat("ü", 5<<20)+"\nsecond needle\n")
	for _, pattern := range []string{"needle", "n[e]{2}dle", "NEEDLE|needle"} {
		answer, text := x.grepped(args{"pattern": pattern, "path": "min.js"})
		if answer.Matches != 2 || len(text) > 2000 || !utf8.ValidString(text) {
			t.Errorf("TOOL-14 %s: %d matches, %d bytes, valid %v", pattern, answer.Matches, len(text), utf8.ValidString(text))
		}
		contains(t, text, "éneedleü", "bytes cut] é", "ü [", "  2: second needle\n")
	}
}

// TestGrepNames: neither a name nor a line can pass for another result.
func TestGrepNames(t *testing.T) {
	x := newWorld(t)
	x.file("a\n  1: forged", "needle \x1b[2J\x07\u202e\n")
	_, text := x.grepped(args{"pattern": "needle"})
	if want := "\"a\\n  1: forged\"\n  1: needle \\x1b[2J\\x07\\u202e\n[1 matching"; !strings.HasPrefix(text, want) {
		t.Errorf("TOOL-15 got %q, want %q", text, want)
	}
}

func TestGrepOverChunks(t *testing.T) {
	x := newWorld(t)
	var text strings.Builder
	for i := 1; text.Len() < 3*chunk; i++ {
		fmt.Fprintf(&text, "line %d %s\n", i, strings.Repeat("x", i%97))
	}
	last := strings.Count(text.String(), "\n")
	x.file("large", text.String())
	for _, n := range []int{1, last / 3, last / 2, last - 1, last} {
		answer, got := x.grepped(args{"pattern": fmt.Sprintf("line %d .*$", n), "path": "large", "before": 2, "after": 2})
		if answer.Matches != 1 {
			t.Errorf("line %d: %d matches", n, answer.Matches)
		}
		for i := max(1, n-2); i <= min(last, n+2); i++ {
			contains(t, got, fmt.Sprintf("\n  %d", i), fmt.Sprintf(" line %d ", i))
		}
	}
	if answer, _ := x.grepped(args{"pattern": "line", "mode": "count"}); answer.Matches != last {
		t.Errorf("%d matches, want %d", answer.Matches, last)
	}
}

// TestGrepTime: a search that does not finish is an error that shows what it has.
func TestGrepTime(t *testing.T) {
	x := newWorld(t)
	x.file("a", "needle\n")
	e, err := newExpression("needle", false, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := contextThatEnds(t)
	cancel()
	g := newGrepping(ctx, grepArguments{Pattern: "needle", Path: ".", Mode: "content", Limit: 5}, e)
	f, err := x.find(".")
	if err != nil {
		t.Fatal(err)
	}
	if err := x.grepFound(g, f); err == nil {
		t.Error("a search without time succeeded")
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	g.timedOut = true
	r, err := g.answer()
	if err != nil {
		t.Fatal(err)
	}
	contains(t, r.Content[0].Text, "grep: the time was over", "partial: not all files were searched")
	if strings.Contains(r.Content[0].Text, "nothing found") {
		t.Errorf("a timeout says that there is nothing: %s", r.Content[0].Text)
	}
	encoded, _ := json.Marshal(args{"pattern": "needle"})
	c := &gateway.Call{Tool: "grep", Arguments: encoded}
	if r := tool(x.grep).Call(ctx, c); !r.Failed {
		t.Errorf("a timeout is a success: %s", r.Content[0].Text)
	}
}

// linesThat is what the standard library makes of an expression and lines.
func linesThat(t testing.TB, pattern string, fold bool, text string) (want []int, ok bool) {
	t.Helper()
	if fold {
		pattern = "(?i:" + pattern + ")"
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, false
	}
	number := 0
	for l := range strings.Lines(text) {
		number++
		if re.MatchString(strings.TrimSuffix(l, "\n")) {
			want = append(want, number)
		}
	}
	return want, true
}

// checkSearch compares a search with the standard library, line by line.
func checkSearch(t testing.TB, pattern string, fold bool, text string) {
	t.Helper()
	if strings.ContainsAny(pattern, "\r\n") || strings.ContainsAny(text, "\r\x00") {
		return // multiline; an answer of its own
	}
	e, err := newExpression(pattern, fold, false)
	want, ok := linesThat(t, pattern, fold, text)
	if err != nil || !ok {
		return
	}
	s := newSearcher(e, wanted{lines: true, most: 1 << 30})
	found, err := s.search(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, h := range found.hits {
		got = append(got, h.number)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%q (any case: %v) in %q: lines %v, want %v", pattern, fold, text, got, want)
	}
}

func TestSearchIsRegexp(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	atoms := []string{"a", "b", "k", "S", "foo", "needle", ".", `\w`, `\d+`, `[^a]`, `\s`, `\S*`, `(a|bc)`, `(?:foo|bar|é)`, "^", "$", `\b`, `\B`, "é", "ſ", "\u212a", "x{2,3}", "[é-ü]", `\pL+`, "(?i:q)", ".*", "a?", `\A`, `\z`, "(?-i:Z)"}
	parts := []string{"a", "b", "k", "K", "s", "S", "foo", "Foo", "needle", "NEEDLE", " ", "1", "_", "é", "É", "ſ", "\u212a", "xx", "q", "Z", "\n", "\n", "\xff", "€"}
	for range 4000 {
		var pattern, text strings.Builder
		for range 1 + random.IntN(4) {
			pattern.WriteString(atoms[random.IntN(len(atoms))])
		}
		for range random.IntN(20) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		checkSearch(t, pattern.String(), random.IntN(2) == 0, text.String())
	}
}

func FuzzSearch(f *testing.F) {
	f.Add(`\bneedle\b`, true, "a Needle\nneedles\n")
	f.Add(`^(a|b)*$`, false, "abab\n\nabc")
	f.Fuzz(func(t *testing.T, pattern string, fold bool, text string) {
		if len(pattern) > 100 || !utf8.ValidString(pattern) {
			return
		}
		checkSearch(t, pattern, fold, text)
	})
}
