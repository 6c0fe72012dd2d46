package policyfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"scupper.dev/scupper/capability"
)

// Expand writes a policy of the grants and variables that a use block of the preset
// with these arguments makes; lists have commas between their items. For a required
// argument that is missing it takes the preset's example.
func Expand(name string, args map[string]string) ([]byte, Diagnostics) {
	list, err := Presets()
	if err != nil {
		return nil, Diagnostics{{Severity: Error, Summary: escape(err.Error())}}
	}
	i := slices.IndexFunc(list, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return expandUse(useBlock(name, nil, args))
	}
	given := maps.Clone(args)
	if given == nil {
		given = make(map[string]string)
	}
	for _, a := range list[i].Arguments {
		if _, ok := given[a.Name]; a.Required && !ok {
			given[a.Name] = a.Example
		}
	}
	return expandUse(useBlock(name, list[i].Arguments, given))
}

func useBlock(name string, arguments []Argument, args map[string]string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "version = %d\nuse %s {\n", Version, capability.Quote(name))
	for _, given := range slices.Sorted(maps.Keys(args)) {
		var known Argument
		if i := slices.IndexFunc(arguments, func(a Argument) bool { return a.Name == given }); i >= 0 {
			known = arguments[i]
		}
		fmt.Fprintf(&b, "  %s = %s\n", given, known.written(args[given]))
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
