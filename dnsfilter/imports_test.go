package dnsfilter

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// Nothing goes upstream: no file of the package names what opens a connection.
func TestCannotDial(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if found := dials(t, e.Name(), string(text)); found != "" {
			t.Errorf("%s uses %s", e.Name(), found)
		}
	}
	if dials(t, "planted.go", "package p\nimport \"net\"\nfunc f() { net.Dial(\"udp\", \"\") }") == "" {
		t.Error("a planted dial is not found")
	}
}

// dials is the first thing in a file that could open a connection.
func dials(t *testing.T, name, text string) (found string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		switch i.Path.Value {
		case `"syscall"`, `"golang.org/x/sys/unix"`, `"net/http"`, `"os/exec"`:
			return i.Path.Value
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && opens(s.Sel.Name) {
			found = s.Sel.Name
		}
		return true
	})
	return found
}

func opens(name string) bool {
	switch name {
	case "Client", "Transfer", "Resolver", "DefaultResolver":
		return true
	}
	return strings.HasPrefix(name, "Dial") || strings.HasPrefix(name, "Lookup") || strings.HasPrefix(name, "Exchange")
}
