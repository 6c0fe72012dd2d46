package main

import (
	"cmp"
	"fmt"

	"scupper.dev/scupper/audit"
)

// ExplainCmd says why a request was refused.
type ExplainCmd struct {
	ID       string `arg:"" optional:"" help:"The id of a decision, as refusals and the summary print it, or last."`
	OfRun    string `name:"run" placeholder:"ID" help:"The last refusal of this run, or last for the newest run that has one."`
	AsPolicy bool   `help:"Propose a policy of all that a run was refused, for a reviewer to cut down."`
	Audit    string `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
	JSON     bool   `help:"Print facts for programs."`
}

// Help shows an example.
func (ExplainCmd) Help() string {
	return "Example: scupper explain last\n\n" +
		"scupper explain --run last --as-policy > proposal.hcl writes the grants that the run lacked. It permits what was refused and hardly more; " +
		"that something was asked for is no reason to grant it."
}

// Run finds the record and explains it.
func (c *ExplainCmd) Run(app *App) error {
	dir, err := app.auditDir(c.Audit)
	if err != nil {
		return err
	}
	write := audit.WriteExplanation
	switch {
	case c.AsPolicy:
		write = writeProposal
	case c.JSON:
		write = audit.WriteExplanationJSON
	}
	if err := write(app.Stdout, dir, c.ID); err != nil {
		return &exitError{code: exitDenied, err: fmt.Errorf("explain %s: %w", c.ID, err), hint: "ids are printed by refusals and by the summary of a run; logs elsewhere: --audit DIR"}
	}
	return nil
}

// AfterApply finds out what is to be explained.
func (c *ExplainCmd) AfterApply() error {
	if c.ID != "" && c.OfRun != "" {
		return fmt.Errorf("give an id or --run, not both")
	}
	c.ID = cmp.Or(c.ID, c.OfRun, "last")
	return nil
}
