package repocheck

import (
	"go/ast"
	"strings"
)

// Calls reports calls that end the program outside main and tests (os.Exit, panic,
// log.Fatal), and skips in tests: a test that cannot run has failed. The one panic
// that net/http asks for, http.ErrAbortHandler, is permitted.
func Calls(t Tree) []Problem {
	files, problems := t.sources()
	for _, s := range files {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && s.forbids(call) {
				problems = append(problems, problem("%s: call of %s", s.set.Position(call.Pos()), calleeOf(call)))
			}
			return true
		})
	}
	return problems
}

func (s source) forbids(call *ast.CallExpr) bool {
	callee := calleeOf(call)
	_, method, _ := strings.Cut(callee, ".")
	switch {
	case s.test():
		return method == "Skip" || method == "Skipf" || method == "SkipNow"
	case s.file.Name.Name == "main":
		return false
	case callee == "panic":
		return len(call.Args) != 1 || nameOf(call.Args[0]) != "http.ErrAbortHandler"
	}
	return callee == "os.Exit" || strings.HasPrefix(callee, "log.Fatal") || strings.HasPrefix(callee, "log.Panic")
}

func calleeOf(call *ast.CallExpr) string { return nameOf(call.Fun) }

// nameOf is "f" or "x.f", and "" for anything else.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}
