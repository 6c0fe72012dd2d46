package files

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func (x *world) globbed(a args) ([]string, string) {
	x.t.Helper()
	r, reason := x.result("glob", a)
	if reason != "" {
		x.t.Fatalf("%v: %s: %s", a, reason, r.Content[0].Text)
	}
	var answer globAnswer
	if err := json.Unmarshal(r.Structured, &answer); err != nil {
		x.t.Fatal(err)
	}
	return answer.Files, r.Content[0].Text
}

func (x *world) tree() {
	for _, name := range []string{"a.go", "b.txt", "sub/c.go", "sub/deep/d.go", "sub/deep/e.o", ".hidden/f.go", ".g.go", ".git/h.go", "build/i.go", "sub/keep.log", "sub/x.log"} {
		x.file(name, "needle "+name+"\n")
	}
	x.file(".gitignore", "# comment\n*.o\n/build/\n*.log\n!keep.log\n")
	x.file("sub/.gitignore", "deep/d.go\n")
	x.link("../sub/c.go", "build/inner.go")
	x.link("../outside/secret.txt", "out.go")
	x.link("../outside", "outdir")
	x.link("sub", "indir")
	x.link("absent.go", "dangling.go")
	fifo(x.t, x.in("fifo.go"))
}

func TestGlob(t *testing.T) {
	openers(t, func(t *testing.T, with func(*Config)) {
		x := newWorld(t, with)
		x.tree()
		for _, row := range []struct {
			args args
			want string
			note string
		}{
			{args{"pattern": "*.go"}, "a.go", "5 hidden names were left out; 2 links were not followed; 1 are mounts or neither"},
			{args{"pattern": "**/*.go"}, "a.go build/i.go build/inner.go src/main.go sub/c.go sub/deep/d.go", ".gitignore was not applied"},
			{args{"pattern": "**/*.go", "gitignore": true}, "a.go src/main.go sub/c.go", ".gitignore was applied and left out"},
			{args{"pattern": "**/*.log", "gitignore": true}, "sub/keep.log", ""},
			{args{"pattern": "**/*.go", "hidden": true, "gitignore": true}, ".g.go .hidden/f.go a.go src/main.go sub/c.go", "hidden files were searched, but not .git"},
			{args{"pattern": ".*.go"}, ".g.go", ""},
			{args{"pattern": "*.go", "path": "sub"}, "sub/c.go", ""},
			{args{"pattern": "**/*.go", "path": "sub/deep", "gitignore": true}, "", `no file matches "**/*.go" in "sub/deep"`},
			{args{"pattern": "*.go", "path": "indir"}, "sub/c.go", ""},
			{args{"pattern": "*", "path": ".git"}, ".git/h.go", ""},
			{args{"pattern": "{a,b}.{go,txt}"}, "a.go b.txt", ""},
			{args{"pattern": "outdir/**"}, "", ""},
			{args{"pattern": "indir/**"}, "", ""},
		} {
			a := args{"sort": "name"}
			for k, v := range row.args {
				a[k] = v
			}
			files, text := x.globbed(a)
			if got := strings.Join(files, " "); got != row.want {
				t.Errorf("TOOL-07 %v:\ngot  %s\nwant %s", row.args, got, row.want)
			}
			contains(t, text, row.note)
			if strings.Contains(text, "secret") {
				t.Errorf("%v shows what is outside: %s", row.args, text)
			}
		}
	})
}

func TestGlobOrder(t *testing.T) {
	x := newWorld(t)
	now := time.Now()
	for i := range 150 {
		name := fmt.Sprintf("f%03d", i)
		x.file(name, "")
		if err := os.Chtimes(x.in(name), now, now.Add(time.Duration(i/2)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	files, text := x.globbed(args{"pattern": "f*"})
	if len(files) != 100 || files[0] != "f148" || files[1] != "f149" || files[99] != "f051" {
		t.Errorf("newest first: %v", files)
	}
	contains(t, text, "150 files match", "50 more are not listed")
	files, _ = x.globbed(args{"pattern": "f*", "limit": 3, "sort": "name"})
	if !slices.Equal(files, []string{"f000", "f001", "f002"}) {
		t.Errorf("by name: %v", files)
	}
}

// TestGlobNames: the name of a file is one line, does nothing to a terminal and cannot
// pass for a note.
func TestGlobNames(t *testing.T) {
	x := newWorld(t)
	for _, name := range []string{"a\nb", "\x1b]0;title\x07", "\u202egpj.exe", "[1 files match]", " blank", "bad\xff", "quote\"d", "zero\u200bwidth", "plain é", "\r"} {
		x.file("names/"+name, "")
	}
	_, text := x.globbed(args{"pattern": "*", "path": "names", "sort": "name"})
	want := `"names/\r"
"names/\x1b]0;title\x07"
names/ blank
names/[1 files match]
"names/a\nb"
"names/bad\xff"
names/plain é
"names/quote\"d"
"names/zero\u200bwidth"
"names/\u202egpj.exe"
[10 files match "*" in "names"; .gitignore was not applied]
`
	if text != want {
		t.Errorf("TOOL-15\ngot  %s\nwant %s", text, want)
	}
	x.file("[2 files match", "")
	if _, text := x.globbed(args{"pattern": "*", "limit": 1}); !strings.HasPrefix(text, `"[2 files match"`) {
		t.Errorf("a name begins like a note: %s", text)
	}
}

func TestGlobRefuses(t *testing.T) {
	x := newWorld(t)
	for pattern, want := range map[string]Reason{
		"[": Malformed, "{a": Malformed, "/etc/*": Outside, "../*": Outside, "a/../../*": Outside, strings.Repeat("{a,b}", 20): Malformed, strings.Repeat("*", 2000): Malformed,
	} {
		if text, reason := x.call("glob", args{"pattern": pattern}); reason != want {
			t.Errorf("%s: %s, want %s: %s", pattern, reason, want, text)
		}
	}
}

func TestRules(t *testing.T) {
	for _, row := range []struct {
		lines, path string
		folder      bool
		want        bool
	}{
		{"*.o", "a/b.o", false, true},
		{"/a", "a", false, true},
		{"/a", "b/a", false, false},
		{"a/", "a", false, false},
		{"a/", "x/a", true, true},
		{"a/b", "a/b", false, true},
		{"a/b", "x/a/b", false, false},
		{"**/b/c", "x/b/c", false, true},
		{"a/**", "a/x/y", false, true},
		{"a/**/z", "a/z", false, true},
		{"*\n!keep", "keep", false, false},
		{"!keep\n*", "keep", false, true},
		{`\#x`, "#x", false, true},
		{`\!x`, "!x", false, true},
		{"x  ", "x", false, true},
		{`x\ `, "x ", false, true},
		{"{a,b}", "a", false, false},
		{"{a,b}", "{a,b}", false, true},
		{"[a-c]x", "bx", false, true},
		{"[!a]x", "bx", false, true},
		{"[", "x", false, false},
		{"\r\n", "x", false, false},
	} {
		r := &rules{dir: "."}
		for line := range strings.Lines(row.lines) {
			if one, ok := newRule(line); ok {
				r.list = append(r.list, one)
			}
		}
		if got := r.ignores(row.path, row.folder); got != row.want {
			t.Errorf("%q, %s: %v, want %v", row.lines, row.path, got, row.want)
		}
	}
}
