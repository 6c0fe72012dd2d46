package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"scupper.dev/scupper/audit"
)

// ExplainCmd says why a request was refused.
type ExplainCmd struct {
	ID       string `arg:"" optional:"" help:"The id of a decision, as refusals and the summary print it, or last."`
	OfRun    string `name:"run" placeholder:"ID" help:"The last refusal of this run, or last for the newest run that has one."`
	AsPolicy bool   `help:"Propose a policy of all that a run was refused, for a reviewer to cut down."`
	Audit    string `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
	Text     bool   `help:"Print the whole policy as it was then."`
	JSON     bool   `help:"Print facts for programs."`
}

// Help shows an example.
func (ExplainCmd) Help() string {
	return "Example: scupper explain last\n\n" +
		"The lines of the policy are those of that time, which is kept with the log. The proof says whether the record is under a signed head.\n\n" +
		"scupper explain --run last --as-policy > proposal.hcl writes the grants that the run lacked. It permits what was refused and hardly more; " +
		"that something was asked for is no reason to grant it."
}

// Run finds the record and explains it.
func (c *ExplainCmd) Run(app *App) error {
	dir, err := app.auditDir(c.Audit)
	if err != nil {
		return err
	}
	write := func(w io.Writer, dir, id string) error { return c.explain(app, w, dir, id) }
	switch {
	case c.AsPolicy:
		write = writeProposal
	case c.Text:
		write = writePolicyThen
	}
	if err := write(app.Stdout, dir, c.ID); err != nil {
		return &exitError{code: exitDenied, err: fmt.Errorf("explain %s: %w", c.ID, err), hint: "ids are printed by refusals and by the summary of a run; logs elsewhere: --audit DIR"}
	}
	return nil
}

func (c *ExplainCmd) explain(app *App, w io.Writer, dir, id string) error {
	e, err := audit.Explain(dir, id)
	if err != nil {
		return err
	}
	e.Proof, e.Since = app.evidence(logOf{dir, runOf(e)}, e), since(e)
	if !c.JSON {
		return e.Write(w)
	}
	var b bytes.Buffer
	if err := e.WriteJSON(&b); err != nil {
		return err
	}
	_, err = w.Write(append(asciiJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), '\n'))
	return err
}

func runOf(e *audit.Explanation) string { return e.ID[:strings.LastIndexByte(e.ID, '-')] }

// writePolicyThen writes the text of the policy that a decision was made by.
func writePolicyThen(w io.Writer, dir, id string) error {
	e, err := audit.Explain(dir, id)
	if err != nil {
		return err
	}
	text, err := audit.PolicyText(dir, runOf(e), e.Hash)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Fprintln(w, audit.Printable(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "  "))); err != nil {
			return err
		}
	}
	return nil
}

// since says what became of the policy since the decision.
func since(e *audit.Explanation) string {
	if e.Policy == "" || e.Hash == "" {
		return ""
	}
	text, err := readNamed(e.Policy)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "that policy is gone since"
	case err != nil:
		return "that policy cannot be read now"
	}
	sum := sha256.Sum256(text)
	if hex.EncodeToString(sum[:]) != e.Hash {
		return "the policy has changed since; as it was then:"
	}
	return ""
}

// AfterApply finds out what is to be explained.
func (c *ExplainCmd) AfterApply() error {
	if c.ID != "" && c.OfRun != "" {
		return fmt.Errorf("give an id or --run, not both")
	}
	c.ID = cmp.Or(c.ID, c.OfRun, "last")
	return nil
}
