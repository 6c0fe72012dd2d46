package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// PolicyTrustCmd records that the operator accepts a policy as it is now.
type PolicyTrustCmd struct {
	File   string `arg:"" optional:"" default:"policy.hcl" help:"The policy."`
	Revoke bool   `help:"Forget that it was accepted."`
}

// Help shows an example.
func (PolicyTrustCmd) Help() string {
	return "Example: scupper policy trust\n\n" +
		"A policy that lies in a folder came with the folder: run uses it only after you have accepted it. " +
		"When it or a file that it names changes, it has to be accepted again; a lockfile may change, because it can only narrow."
}

// Run accepts a policy and prints what it grants.
func (c *PolicyTrustCmd) Run(app *App) error {
	state, err := app.stateDir()
	if err != nil {
		return err
	}
	path, err := filepath.Abs(c.File)
	if err != nil {
		return fmt.Errorf("find policy: %w", err)
	}
	if c.Revoke {
		return c.revoke(app, state, path)
	}
	// The path as it was given is what diagnostics show; the hash does not depend on it.
	file, err := app.readPolicy(c.File)
	if err != nil {
		return err
	}
	if err := policyfile.Trust(state, path, file.Hash); err != nil {
		return &exitError{code: exitEnvironment, err: err}
	}
	printGrants(app.Stdout, file.Policy.Grants())
	_, err = fmt.Fprintf(app.Stdout, "accepted %q, sha256 %s\n", path, file.Hash)
	return err
}

func (c *PolicyTrustCmd) revoke(app *App, state, path string) error {
	n, err := policyfile.Distrust(state, path)
	if err != nil {
		return &exitError{code: exitEnvironment, err: err}
	}
	if n == 0 {
		return &exitError{code: exitDenied, err: fmt.Errorf("%q was not accepted", path)}
	}
	_, err = fmt.Fprintf(app.Stdout, "%q is no longer accepted\n", path)
	return err
}

// printGrants prints a line for each grant: where it leads, and whose word it is.
func printGrants(w io.Writer, grants []*capability.Grant) {
	if len(grants) == 0 {
		fmt.Fprintln(w, "it grants nothing")
	}
	for _, g := range grants {
		var methods []string
		seen := make(map[string]bool)
		for _, a := range g.Allows {
			for _, m := range a.Methods {
				if !seen[m] {
					methods = append(methods, m)
				}
				seen[m] = true
			}
		}
		fmt.Fprintf(w, "%s://%s:%d  %s  %s, %s", g.Scheme, bracketed(g.Host), g.Port, strings.Join(methods, " "), g.Name, count(len(g.Allows), "allow block"))
		if len(g.Networks) > 0 {
			fmt.Fprintf(w, ", at %v too", g.Networks)
		}
		fmt.Fprintln(w)
	}
}

func bracketed(h capability.HostPattern) string {
	if strings.Contains(h.String(), ":") {
		return "[" + h.String() + "]"
	}
	return h.String()
}
