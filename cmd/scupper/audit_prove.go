package main

import (
	"errors"
	"fmt"

	"scupper.dev/scupper/audit"
)

// AuditProveCmd proves that one record is in a log.
type AuditProveCmd struct {
	ID    string   `arg:"" help:"The id of a decision, as refusals and the summary print it; or of any record: the run, a hyphen, its sequence number."`
	Key   []string `sep:"none" placeholder:"PUB" help:"The public key, or a file with it. The default is this installation's."`
	Audit string   `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
}

// Help shows an example.
func (AuditProveCmd) Help() string {
	return "Example: scupper audit prove 20261130t124500-k3f7x2-17 > proof.txt\n\n" +
		"Whoever has the public key checks the proof, with the record in it, with nothing else: scupper-verify proof.txt --key PUB"
}

// Run prints the proof.
func (c *AuditProveCmd) Run(app *App) error {
	trust, err := app.trust(c.Key)
	if err != nil {
		return err
	}
	dir, err := app.auditDir(c.Audit)
	if err != nil {
		return err
	}
	proof, err := audit.Prove(dir, c.ID, trust)
	var f *audit.Fault
	switch {
	case errors.As(err, &f) && f.Unreadable:
		return &exitError{code: exitUsage, err: err}
	case errors.As(err, &f):
		return &exitError{code: exitDenied, err: fmt.Errorf("nothing is proved by a log that is at fault: %w", err)}
	case err != nil:
		return &exitError{code: exitDenied, err: err, hint: "ids are printed by refusals and by the summary of a run; logs elsewhere: --audit DIR"}
	}
	_, err = app.Stdout.Write(proof)
	return err
}
