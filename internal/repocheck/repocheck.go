// Package repocheck checks the repository itself: who imports whom, what no file
// may name, and how a file is shaped.
//
//	tree := repocheck.Tree{FS: os.DirFS(root), Paths: tracked}
//	for _, problem := range repocheck.Imports(tree) {
//		t.Error(problem)
//	}
//
// Guarantees: every check reads all files of the tree that it applies to, and has a
// test with a tree that makes it fail.
//
// Non-guarantees: the checks read source text, not types. An import hidden behind
// another module's package is not seen.
package repocheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// Tree is a repository: its files and which of them count.
type Tree struct {
	FS    fs.FS
	Paths []string // slash-separated, relative to the root of FS
}

// Problem is one finding, in words for a person.
type Problem string

func problem(format string, args ...any) Problem { return Problem(fmt.Sprintf(format, args...)) }

// source is one parsed Go file.
type source struct {
	path string
	file *ast.File
	set  *token.FileSet
	text []byte
}

func (s source) test() bool     { return strings.HasSuffix(s.path, "_test.go") }
func (s source) folder() string { return path.Dir(s.path) }

// sources parses the Go files of the tree outside testdata. A file that cannot be
// read or parsed is a problem.
func (t Tree) sources() ([]source, []Problem) {
	var out []source
	var problems []Problem
	for _, p := range t.Paths {
		if path.Ext(p) != ".go" || strings.Contains("/"+p, "/testdata/") {
			continue
		}
		text, err := fs.ReadFile(t.FS, p)
		if err != nil {
			problems = append(problems, problem("read %s: %v", p, err))
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, p, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			problems = append(problems, problem("parse %v", err))
			continue
		}
		out = append(out, source{p, file, set, text})
	}
	return out, problems
}
