package policyfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"scupper.dev/scupper/capability"
)

// Expand writes a policy of the grants and variables that a use block of the preset
// with these arguments makes. For a required argument that is missing it takes the
// preset's example.
func Expand(name string, args map[string]string) ([]byte, Diagnostics) {
	given := maps.Clone(args)
	if given == nil {
		given = make(map[string]string)
	}
	list, err := Presets()
	if err != nil {
		return nil, Diagnostics{{Severity: Error, Summary: escape(err.Error())}}
	}
	for _, p := range list {
		for _, a := range p.Arguments {
			if _, ok := given[a.Name]; p.Name == name && a.Required && !ok {
				given[a.Name] = a.Example
			}
		}
	}
	return expandUse(useBlock(name, given))
}

func useBlock(name string, args map[string]string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "version = %d\nuse %s {\n", Version, capability.Quote(name))
	for _, a := range slices.Sorted(maps.Keys(args)) {
		fmt.Fprintf(&b, "  %s = %s\n", a, capability.Quote(args[a]))
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func expandUse(text []byte) ([]byte, Diagnostics) {
	read := func(path string) ([]byte, error) { return readFile(path, maxNamed) }
	file, diags := Parse("use", text, Options{ReadFile: read})
	if diags.HasErrors() {
		return nil, diags
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "version = %d\n", Version)
	if len(file.Environment) > 0 {
		b.WriteString("\nenvironment = {\n")
		for _, v := range file.Environment {
			fmt.Fprintf(&b, "%s = %s\n", v.Name, capability.Quote(v.Value))
		}
		b.WriteString("}\n")
	}
	b.WriteByte('\n')
	b.Write(Print(file.Policy.Grants()))
	formatted, diags := Format("use", b.Bytes())
	return formatted, diags
}
