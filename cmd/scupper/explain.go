package main

import (
	"fmt"

	"scupper.dev/scupper/audit"
)

// ExplainCmd says why a request was refused.
type ExplainCmd struct {
	ID    string `arg:"" help:"The id of a decision, as refusals and the summary print it, or last."`
	Audit string `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
	JSON  bool   `help:"Print facts for programs."`
}

// Help shows an example.
func (ExplainCmd) Help() string {
	return "Example: scupper explain last"
}

// Run finds the record and explains it.
func (c *ExplainCmd) Run(app *App) error {
	dir, err := app.auditDir(c.Audit)
	if err != nil {
		return err
	}
	write := audit.WriteExplanation
	if c.JSON {
		write = audit.WriteExplanationJSON
	}
	if err := write(app.Stdout, dir, c.ID); err != nil {
		return &exitError{code: exitDenied, err: fmt.Errorf("explain %s: %w", c.ID, err), hint: "ids are printed by refusals and by the summary of a run; logs elsewhere: --audit DIR"}
	}
	return nil
}
