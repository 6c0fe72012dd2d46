package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"

	"scupper.dev/scupper/gateway"
)

const (
	searchTime   = 45 * time.Second
	searchBytes  = 32 << 30
	defaultLines = 200
)

func grepDefinition() gateway.Definition {
	return gateway.Definition{
		Name: "grep", Version: "1", Title: "Search in files", Level: gateway.Read, Timeout: time.Minute, MaxOutput: 2 * maxShown,
		Description: "Searches the text files of the workspace for a regular expression (RE2: no look-around, no back references) and shows matching lines under " +
			"the name of their file, with line numbers (\":\" after a match, \"-\" after a line around it); or only the files, or counts. Binary files are skipped " +
			"and counted, .gitignore is respected and hidden files are left out unless you say otherwise; links are not followed. The answer says when it is partial. " +
			"Finding nothing is a success; running out of time is an error.",
		Input: object(`"pattern"`,
			property("pattern", `{"type":"string","minLength":1,"maxLength":4096,"description":"The regular expression. ^ and $ are the ends of a line"}`),
			pathProperty("The file or directory to search. Default: the workspace"),
			property("mode", `{"enum":["content","files","count"],"description":"Show lines, only names of files, or how many lines match in each. Default: content"}`),
			property("glob", `{"type":"string","minLength":1,"maxLength":1024,"description":"Only files that match, as \"*.ts\" or \"src/**/*.ts\""}`),
			property("type", `{"enum":[`+typeNames()+`],"description":"Only files of this type"}`),
			property("ignore_case", `{"type":"boolean"}`),
			property("multiline", `{"type":"boolean","description":"Matches may go over lines, and . matches a newline"}`),
			property("before", `{"type":"integer","minimum":0,"maximum":50,"description":"Lines to show before each match"}`),
			property("after", `{"type":"integer","minimum":0,"maximum":50,"description":"Lines to show after each match"}`),
			property("limit", `{"type":"integer","minimum":1,"maximum":5000,"description":"How many matching lines, or files, to show. Default: 200"}`),
			property("gitignore", fmt.Sprintf(ignoreSchema, true)),
			property("hidden", hiddenSchema)),
		Output: object(`"files","matches","searched","binary","partial"`,
			property("files", `{"type":"array","items":{"type":"object","additionalProperties":false,"required":["path","count"],"properties":{"path":{"type":"string"},"count":{"type":"integer"}}}}`),
			property("matches", `{"type":"integer","description":"lines; with mode files, files"}`),
			property("searched", `{"type":"integer"}`),
			property("binary", `{"type":"integer"}`),
			property("partial", `{"type":"boolean"}`)),
	}
}

type grepArguments struct {
	Pattern   string `json:"pattern"`
	Path      string `json:"path"`
	Mode      string `json:"mode"`
	Glob      string `json:"glob"`
	Type      string `json:"type"`
	Fold      bool   `json:"ignore_case"`
	Multiline bool   `json:"multiline"`
	Before    int    `json:"before"`
	After     int    `json:"after"`
	Limit     int    `json:"limit"`
	Ignore    bool   `json:"gitignore"`
	Hidden    bool   `json:"hidden"`
}

func (w *Workspace) grep(ctx context.Context, c *gateway.Call) (gateway.Result, error) {
	a := grepArguments{Path: ".", Mode: "content", Limit: defaultLines, Ignore: true}
	if err := arguments(c, &a); err != nil {
		return gateway.Result{}, err
	}
	e, err := newExpression(a.Pattern, a.Fold, a.Multiline)
	if err != nil {
		return gateway.Result{}, err
	}
	if err := checkGlob(a.Glob); a.Glob != "" && err != nil {
		return gateway.Result{}, err
	}
	f, err := w.find(a.Path)
	if err != nil {
		return gateway.Result{}, w.suggest(a.Path, err)
	}
	limited, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	g := newGrepping(limited, a, e)
	err = w.grepFound(g, f)
	if err = errors.Join(err, f.close()); limited.Err() != nil {
		g.timedOut = true
		r, err := g.answer()
		r.Failed = true
		return r, err
	} else if err != nil {
		return gateway.Result{}, w.refusal(a.Path, err)
	}
	return g.answer()
}

// grepFound searches a file, or a directory.
func (w *Workspace) grepFound(g *grepping, f *found) error {
	rel, err := w.within(f.fd)
	if err != nil {
		return err
	}
	if f.isDir() {
		g.walk = &walk{w: w, hidden: g.Hidden || namesHidden(g.Glob), ignore: g.Ignore}
		return g.run(func(ctx context.Context) error {
			g.walk.ctx, g.walk.visit = ctx, g.visit
			return w.walkFound(f, g.walk, func(rel string) { g.from = rel })
		})
	}
	return g.run(func(ctx context.Context) error {
		fd, err := unix.Open(procPath(f.fd), unix.O_RDONLY|never, 0)
		if err != nil {
			return err
		}
		return g.hand(ctx, rel, &descriptor{fd})
	})
}

// visit opens a file that the walk has come to, and hands it to a worker.
func (g *grepping) visit(e entry) error {
	if !g.takes(e) {
		return nil
	}
	if e.link {
		g.walk.skipped.links++
		return nil
	}
	fd, err := g.walk.w.open(e.dir, e.name, unix.O_RDONLY, false)
	if err != nil {
		g.walk.missed(err)
		return nil
	}
	return g.hand(g.walk.ctx, e.rel, &descriptor{fd})
}

// takes reports whether a file is one of those to search, by its name.
func (g *grepping) takes(e entry) bool {
	if g.Type != "" && !typeHas(g.Type, e.name) {
		return false
	}
	if g.Glob == "" {
		return true
	}
	subject := e.name
	if strings.Contains(g.Glob, "/") {
		subject = e.rel
		if g.from != "." {
			subject = strings.TrimPrefix(e.rel, g.from+"/")
		}
	}
	return doublestar.MatchUnvalidated(strings.TrimPrefix(g.Glob, "./"), subject)
}

// fileTypes are the endings and whole names of files of a type.
func fileTypes() [][]string {
	return [][]string{
		{"c", ".c", ".h"}, {"cpp", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"}, {"csharp", ".cs"}, {"css", ".css", ".scss", ".sass", ".less"},
		{"docker", "Dockerfile", ".dockerfile", "Containerfile"}, {"go", ".go"}, {"hcl", ".hcl", ".tf", ".tfvars"}, {"html", ".html", ".htm", ".xhtml"},
		{"java", ".java"}, {"js", ".js", ".jsx", ".mjs", ".cjs", ".vue"}, {"json", ".json", ".jsonc", ".json5", ".jsonl"}, {"kotlin", ".kt", ".kts"}, {"lua", ".lua"},
		{"make", "Makefile", "makefile", "GNUmakefile", ".mk", ".mak"}, {"markdown", ".md", ".markdown", ".mdx"}, {"php", ".php"}, {"proto", ".proto"},
		{"py", ".py", ".pyi", ".pyx"}, {"ruby", ".rb", ".gemspec", "Gemfile", "Rakefile"}, {"rust", ".rs"}, {"scala", ".scala", ".sbt"},
		{"sh", ".sh", ".bash", ".zsh", ".ksh", ".fish"}, {"sql", ".sql"}, {"swift", ".swift"}, {"toml", ".toml"}, {"ts", ".ts", ".tsx", ".mts", ".cts"},
		{"txt", ".txt"}, {"xml", ".xml", ".xsd", ".xsl", ".svg"}, {"yaml", ".yaml", ".yml"}, {"zig", ".zig"},
	}
}

func typeNames() string {
	var names []string
	for _, t := range fileTypes() {
		names = append(names, `"`+t[0]+`"`)
	}
	return strings.Join(names, ",")
}

func typeHas(kind, name string) bool {
	for _, t := range fileTypes() {
		if t[0] != kind {
			continue
		}
		for _, end := range t[1:] {
			if name == end || end[0] == '.' && path.Ext(name) == end {
				return true
			}
		}
	}
	return false
}
