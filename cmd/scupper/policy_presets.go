package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// PolicyPresetsCmd is about the presets that this binary carries.
type PolicyPresetsCmd struct {
	List PolicyPresetsListCmd `cmd:"" default:"1" help:"List the presets and their arguments."`
	Show PolicyPresetsShowCmd `cmd:"" help:"Print the grants that a preset expands to."`
}

// PolicyPresetsListCmd lists presets.
type PolicyPresetsListCmd struct {
	JSON bool `help:"Print the list as JSON."`
}

// Help shows an example.
func (PolicyPresetsListCmd) Help() string { return "Example: scupper policy presets" }

// Run lists the presets.
func (c *PolicyPresetsListCmd) Run(app *App) error {
	list, err := policyfile.Presets()
	if err != nil {
		return err
	}
	if c.JSON {
		e := json.NewEncoder(app.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(list)
	}
	for _, p := range list {
		fmt.Fprintf(app.Stdout, "%s v%d: %s\n", p.Name, p.Version, p.Summary)
		for _, a := range p.Arguments {
			need := "optional"
			if a.Required {
				need = "required"
			}
			fmt.Fprintf(app.Stdout, "  %s (%s): %s, as in %s\n", a.Name, need, a.About, capability.Quote(a.Example))
		}
	}
	return nil
}

// PolicyPresetsShowCmd expands a preset.
type PolicyPresetsShowCmd struct {
	Name string   `arg:"" help:"The preset."`
	Args []string `arg:"" optional:"" placeholder:"ARGUMENT=VALUE" help:"Its arguments; for a required one that is missing its example is taken."`
}

// Help shows an example.
func (PolicyPresetsShowCmd) Help() string {
	return "Example: scupper policy presets show npm registry=https://npm.example.com"
}

// Run prints the grants that a use block with these arguments would make, as a policy.
func (c *PolicyPresetsShowCmd) Run(app *App) error {
	args := make(map[string]string)
	for _, a := range c.Args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return &exitError{code: exitUsage, err: fmt.Errorf("argument %q has no value", a), hint: fmt.Sprintf("scupper policy presets show %s registry=https://npm.example.com", c.Name)}
		}
		args[name] = value
	}
	text, diags := policyfile.Expand(c.Name, args)
	if diags.HasErrors() {
		if err := app.show(diags.Errors()); err != nil {
			return err
		}
		return &exitError{code: exitUsage, err: fmt.Errorf("preset %q cannot be expanded", c.Name), hint: "scupper policy presets lists presets and their arguments"}
	}
	_, err := app.Stdout.Write(text)
	return err
}
