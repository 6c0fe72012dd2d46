package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"scupper.dev/scupper/capability/policyfile"
)

// PolicyCheckCmd reports all mistakes of a policy and all remarks.
type PolicyCheckCmd struct {
	File string `arg:"" optional:"" default:"policy.hcl" help:"The policy."`
	JSON bool   `help:"Print the findings as JSON on standard output."`
}

// Help shows an example.
func (PolicyCheckCmd) Help() string {
	return "Example: scupper policy check policy.hcl\n\nExit code 0: it loads, with or without warnings. 2: it has mistakes, and grants nothing."
}

// Run checks one policy.
func (c *PolicyCheckCmd) Run(app *App) error {
	file, diags := policyfile.Load(c.File)
	sum := newSummary(file)
	if c.JSON {
		if err := c.printJSON(app, sum, diags); err != nil {
			return err
		}
	} else if err := app.show(diags); err != nil {
		return err
	}
	if diags.HasErrors() {
		return wrongPolicy(c.File, diags)
	}
	reviewSecrets(file, app)
	if c.JSON {
		return nil
	}
	_, err := fmt.Fprintln(app.Stdout, sum.line(diags))
	return err
}

// policySummary is a policy in numbers.
type policySummary struct {
	File   string   `json:"file"`
	Hash   string   `json:"hash"`
	Grants int      `json:"grants"`
	Allows int      `json:"allow_blocks"`
	Hosts  []string `json:"hosts"`
	Roles  []string `json:"roles"`
}

func newSummary(file *policyfile.File) policySummary {
	s := policySummary{File: file.Name, Hash: file.Hash, Hosts: []string{}, Roles: []string{}}
	for _, g := range file.Policy.Grants() {
		s.Grants++
		s.Allows += len(g.Allows)
		if h := g.Host.String(); !slices.Contains(s.Hosts, h) {
			s.Hosts = append(s.Hosts, h)
		}
	}
	for _, r := range file.Roles {
		s.Roles = append(s.Roles, r.Name)
	}
	return s
}

func (s policySummary) line(diags policyfile.Diagnostics) string {
	line := fmt.Sprintf("%s, %s, %s", count(s.Grants, "grant"), count(s.Allows, "allow block"), count(len(s.Hosts), "host"))
	if n := diags.Count(policyfile.Warning); n > 0 {
		line += "; " + count(n, "warning")
	}
	return line
}

// finding is a diagnostic as JSON has it. Positions count from 1; they are absent
// where the finding is about no place.
type finding struct {
	Severity  policyfile.Severity `json:"severity"`
	Summary   string              `json:"summary"`
	Detail    string              `json:"detail,omitempty"`
	File      string              `json:"file,omitempty"`
	Line      int                 `json:"line,omitempty"`
	Column    int                 `json:"column,omitempty"`
	EndLine   int                 `json:"end_line,omitempty"`
	EndColumn int                 `json:"end_column,omitempty"`
}

func (c *PolicyCheckCmd) printJSON(app *App, s policySummary, diags policyfile.Diagnostics) error {
	findings := make([]finding, len(diags))
	for i, d := range diags {
		findings[i] = finding{d.Severity, d.Summary, d.Detail, d.Start.File, d.Start.Line, d.Start.Column, d.End.Line, d.End.Column}
	}
	e := json.NewEncoder(app.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		OK bool `json:"ok"`
		policySummary
		Findings []finding `json:"findings"`
	}{!diags.HasErrors(), s, findings})
}
