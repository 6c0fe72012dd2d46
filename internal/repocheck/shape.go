package repocheck

import (
	"bytes"
	"go/ast"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const maxLines = 450

// Lengths reports Go files of more than 450 lines, tests excepted.
func Lengths(t Tree) []Problem {
	files, problems := t.sources()
	for _, s := range files {
		if n := bytes.Count(s.text, []byte("\n")); n > maxLines && !s.test() {
			problems = append(problems, problem("%s has %d lines, more than %d", s.path, n, maxLines))
		}
	}
	return problems
}

// Inits reports functions named init: nothing may happen before main.
func Inits(t Tree) []Problem {
	files, problems := t.sources()
	for _, s := range files {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				problems = append(problems, problem("%s: func init", s.set.Position(f.Pos())))
			}
		}
	}
	return problems
}

// Comments reports packages without exactly one package comment. A folder that
// holds only tests needs one too.
func Comments(t Tree) []Problem {
	files, problems := t.sources()
	count := map[string]int{}
	for _, s := range files {
		count[s.folder()] += 0
		if s.file.Doc != nil {
			count[s.folder()]++
		}
	}
	for folder, n := range count {
		if n != 1 {
			problems = append(problems, problem("package %s has %d package comments, want 1", folder, n))
		}
	}
	slices.Sort(problems)
	return problems
}

// Licence reports a missing or shortened LICENSE.
func Licence(t Tree) []Problem {
	text, err := fs.ReadFile(t.FS, "LICENSE")
	if err != nil {
		return []Problem{problem("no LICENSE: %v", err)}
	}
	for _, want := range []string{"Apache License", "Version 2.0, January 2004", "END OF TERMS AND CONDITIONS"} {
		if !bytes.Contains(text, []byte(want)) {
			return []Problem{problem("LICENSE does not contain %q", want)}
		}
	}
	return nil
}

// Seeds reports fuzz functions whose seed folder, testdata/fuzz/NAME, holds no
// file: such a function passes without having tried anything.
func Seeds(t Tree) []Problem {
	files, problems := t.sources()
	for _, s := range files {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !s.test() || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			folder := path.Join(s.folder(), "testdata/fuzz", f.Name.Name) + "/"
			if !slices.ContainsFunc(t.Paths, func(p string) bool { return strings.HasPrefix(p, folder) }) {
				problems = append(problems, problem("%s: %s has no seeds in %s", s.path, f.Name.Name, folder))
			}
		}
	}
	return problems
}

// Mentions reports files that contain one of the texts, in any case; what names
// each text in the problem, which does not repeat it.
func Mentions(t Tree, texts map[string]string) []Problem {
	var problems []Problem
	for _, p := range t.Paths {
		content, err := fs.ReadFile(t.FS, p)
		if err != nil {
			problems = append(problems, problem("read %s: %v", p, err))
			continue
		}
		lower := bytes.ToLower(content)
		for text, what := range texts {
			if bytes.Contains(lower, []byte(strings.ToLower(text))) {
				problems = append(problems, problem("%s names %s", p, what))
			}
		}
	}
	slices.Sort(problems)
	return problems
}
