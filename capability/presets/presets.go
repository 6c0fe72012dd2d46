// Package presets holds what well-known clients need of their registries, as data in
// the policy language: which paths, with which headers, and which variables make the
// client ask there and stay quiet otherwise.
//
//	text, ok := presets.Text("npm")
//
// Package policyfile expands a preset where a policy says `use "npm"`; afterwards it
// is an ordinary grant. `scupper policy presets show npm` prints the expansion.
//
// Guarantees: a preset names no host, every host is an argument of the policy; it
// reads, and neither publishes, logs in, searches nor uploads; a change of what it
// permits changes its version.
//
// Non-guarantees: a granted read still carries the name that it asks for to the
// registry; a lockfile, a list of modules or of suites narrows which names those can be.
package presets

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.hcl schemas/*.json
var files embed.FS

// Names lists the presets in alphabetical order.
func Names() []string {
	found, err := fs.Glob(files, "*.hcl")
	if err != nil {
		return nil
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = strings.TrimSuffix(f, ".hcl")
	}
	return names
}

// Schema is the JSON Schema of that name, which presets use for bodies.
func Schema(name string) ([]byte, bool) {
	text, err := files.ReadFile("schemas/" + name + ".json")
	return text, err == nil
}

// Text is the preset of that name.
func Text(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + ".hcl")
	return text, err == nil
}
