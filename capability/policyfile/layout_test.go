package policyfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// TestLayOutAsHCLWrite compares with the package that everybody else formats HCL with.
func TestLayOutAsHCLWrite(t *testing.T) {
	files, err := filepath.Glob("testdata/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no policies in testdata: %v", err)
	}
	presets, err := filepath.Glob("../presets/*.hcl")
	if err != nil || len(presets) == 0 {
		t.Fatalf("no presets: %v", err)
	}
	for _, name := range append(append(files, presets...), "../../policy.hcl") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sameLayout(t, name, text)
		sameLayout(t, name+" without its blanks", []byte(strings.ReplaceAll(string(text), "  ", "")))
	}
	for _, text := range layouts() {
		sameLayout(t, text, []byte(text))
	}
}

// layouts are what policies are seldom made of.
func layouts() []string {
	return []string{
		"", "\n\n", "a=1", "a=1 # x\nbcd=2#y\n", "a = {\nb=1\nc = {}\n}\n", "x=[1,2,\n3]\n", "x=-1\ny=a - -1\nz=f(-1)\n",
		"x=\"a${ b }c\"\n", "x=\"${{a=1}}\"\n", "x=<<EOT\n  text ${ a }\nEOT\ny=1\n", "x=<<-EOT\n  text\n  EOT\n", "b \"l\"   \"m\"{a=1}\n",
		"x=[for a in[1]:a]\n", "x=a [0].b . c\n", "x=!a&&b||c\n", "x=a?b:c\n", "a=[{\nb=1\n},{\nc=2\n}]\n", "/* a */ x = 1\n// c\ny=2 // d\n",
		"é=1 # ä\nabc=\"日本\" # y\n", "x=f(a...)\nn::f(1)\n", "a{\n}\n}\n}\nb{\n", "x = <<EOT\n{\nEOT\ny {\nz=1\n}\n", "a=1\n\nbb=2\n",
		"x={ a=1, b=2 }   # c\ny=[ ]\n", "\ufeffa=1\n", "a = \"unclosed\n", "%{ if\n", "a=1 b=2\n", "x=\"%{ if a }b%{ endif }${c}\"\n",
	}
}

func sameLayout(t *testing.T, name string, text []byte) {
	t.Helper()
	end := func(s []byte) string { return strings.TrimRight(string(s), " ") } // hclwrite keeps blanks at the end
	if diff := cmp.Diff(end(layOut(text)), end(hclwrite.Format(text))); diff != "" {
		t.Errorf("%q (-layOut +hclwrite):\n%s", name, diff)
	}
}

func FuzzLayOut(f *testing.F) {
	for _, text := range layouts() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, diags := hclsyntax.ParseConfig(text, "", hcl.InitialPos); !diags.HasErrors() {
			sameLayout(t, string(text), text)
		}
	})
}
