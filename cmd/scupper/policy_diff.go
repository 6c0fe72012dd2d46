package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"scupper.dev/scupper/capability/difference"
)

// PolicyDiffCmd says what a change of a policy newly permits.
type PolicyDiffCmd struct {
	Old      string `arg:"" help:"The policy as it was."`
	New      string `arg:"" help:"The policy as it is to be."`
	JSON     bool   `help:"Print the whole comparison as JSON." xor:"form"`
	Markdown bool   `help:"Print it as Markdown, for a pull request." xor:"form"`
}

// Help shows an example.
func (PolicyDiffCmd) Help() string {
	return "Example: git show main:policy.hcl > old.hcl && scupper policy diff old.hcl policy.hcl\n\n" +
		"Compares what two policies permit, presets expanded; order, names and spelling do not matter. Each newly permitted set comes with a request that the new policy allows and the old one denies.\n\n" +
		"Exit code 0: the new policy permits the same, or less. 1: it permits more, or may. 2: one of them does not load."
}

// Run compares two policies.
func (c *PolicyDiffCmd) Run(app *App) error {
	old, err := app.readPolicy(c.Old)
	changed, errNew := app.readPolicy(c.New)
	if err == nil {
		err = errNew
	}
	if err != nil {
		return err
	}
	report, err := difference.Between(old, changed)
	if err != nil {
		return err
	}
	if err := c.print(app, report); err != nil {
		return err
	}
	if report.Widened {
		return &exitError{code: exitDenied, err: errors.New("")}
	}
	return nil
}

func (c *PolicyDiffCmd) print(app *App, report *difference.Report) error {
	switch {
	case c.JSON:
		e := json.NewEncoder(app.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(report)
	case c.Markdown:
		return report.Markdown(app.Stdout)
	}
	return report.Text(app.Stdout, isTerminal(app.Stdout))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
