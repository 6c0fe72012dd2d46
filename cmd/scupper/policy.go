package main

import (
	"errors"
	"fmt"
	"os"

	"scupper.dev/scupper/capability/policyfile"
)

// PolicyCmd is about policies as files; none of its commands runs anything.
type PolicyCmd struct {
	Check   PolicyCheckCmd   `cmd:"" help:"Say what is wrong with a policy, all of it at once."`
	Show    PolicyShowCmd    `cmd:"" help:"Show what a policy permits, and with which credentials."`
	Diff    PolicyDiffCmd    `cmd:"" help:"Say what a changed policy newly permits, with proof."`
	Fmt     PolicyFmtCmd     `cmd:"" help:"Lay a policy out in the usual way."`
	Trust   PolicyTrustCmd   `cmd:"" help:"Accept a policy that lies in a folder, so that run uses it without being told."`
	Presets PolicyPresetsCmd `cmd:"" help:"List presets and show what they expand to."`
}

// terminalWidth is where text for people is broken on a terminal; elsewhere it is not.
const terminalWidth = 96

// readPolicy loads a policy that has to be right. Mistakes go to standard error;
// remarks are the business of `policy check`.
func (a *App) readPolicy(path string) (*policyfile.File, error) {
	file, diags := policyfile.Load(path)
	if !diags.HasErrors() {
		if a.amend != nil {
			return file, a.amend(file)
		}
		return file, nil
	}
	if err := a.show(diags.Errors()); err != nil {
		return nil, err
	}
	return nil, wrongPolicy(path, diags)
}

// wrongPolicy is the error of a command that needs a policy without mistakes.
func wrongPolicy(path string, diags policyfile.Diagnostics) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return &exitError{code: exitUsage, err: fmt.Errorf("there is no policy %q", path), hint: "scupper init writes one from what is configured here; scupper policy presets show npm prints the grants of a preset"}
	}
	return &exitError{code: exitUsage, err: fmt.Errorf("%q has %s and grants nothing", path, count(diags.Count(policyfile.Error), "mistake"))}
}

func (a *App) show(diags policyfile.Diagnostics) error {
	width := 0
	if a.Color {
		width = terminalWidth
	}
	if err := diags.Write(a.Stderr, a.Color, width); err != nil {
		return fmt.Errorf("print diagnostics: %w", err)
	}
	return nil
}

// count is "1 grant", "2 grants".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
