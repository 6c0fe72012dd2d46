package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"scupper.dev/scupper/capability/policyfile"
)

// PolicyFmtCmd lays a policy out.
type PolicyFmtCmd struct {
	File  string `arg:"" optional:"" default:"policy.hcl" help:"The policy; - is standard input."`
	Write bool   `short:"w" xor:"how" help:"Write the result back to the file."`
	Check bool   `xor:"how" help:"Write nothing; exit 1 if the file would change."`
}

// Help shows an example.
func (PolicyFmtCmd) Help() string {
	return "Example: scupper policy fmt -w policy.hcl\n\nOnly blanks change. Without -w the result goes to standard output."
}

// Run formats one policy.
func (c *PolicyFmtCmd) Run(app *App) error {
	text, err := c.read(app)
	if err != nil {
		return err
	}
	formatted, diags := policyfile.Format(c.File, text)
	if diags.HasErrors() {
		if err := app.show(diags); err != nil {
			return err
		}
		return &exitError{code: exitUsage, err: fmt.Errorf("%q does not parse", c.File)}
	}
	same := bytes.Equal(text, formatted)
	switch {
	case c.Check && !same:
		return &exitError{code: exitDenied, err: fmt.Errorf("%q is not formatted", c.File), hint: "scupper policy fmt -w " + c.File}
	case c.Check || c.Write && same:
		return nil
	case c.Write:
		return replaceFile(c.File, formatted)
	}
	_, err = app.Stdout.Write(formatted)
	return err
}

func (c *PolicyFmtCmd) read(app *App) ([]byte, error) {
	if c.File != "-" {
		text, err := os.ReadFile(c.File)
		if err != nil {
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("format policy: %w", err)}
		}
		return text, nil
	}
	if c.Write {
		return nil, &exitError{code: exitUsage, err: errors.New("standard input cannot be written back"), hint: "leave -w out: the result goes to standard output"}
	}
	return io.ReadAll(app.Stdin)
}

// replaceFile swaps the file for one with the new text, so that nobody reads half of it.
func replaceFile(name string, text []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".policy-*")
	if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close()); err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	return os.Rename(f.Name(), name)
}
