package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// PolicyShowCmd shows what a policy permits, presets expanded, as reviewers want it.
type PolicyShowCmd struct {
	File        string `arg:"" optional:"" default:"policy.hcl" help:"The policy."`
	Credentials bool   `help:"Only what goes out with a credential, by credential."`
	JSON        bool   `help:"Print the rows as JSON."`
}

// Help shows an example.
func (PolicyShowCmd) Help() string {
	return "Example: scupper policy show --credentials policy.hcl\n\nEach row is a function of a host: which credential goes with it, and who answers for it. No secret is read."
}

// function is one row: an allow block, and what goes out with it.
type function struct {
	Credential string   `json:"credential"`
	Source     string   `json:"source,omitempty"`
	Place      string   `json:"place,omitempty"`
	Host       string   `json:"host"`
	Methods    []string `json:"methods"`
	Path       string   `json:"path"`
	Owner      string   `json:"owner"`
	Grant      string   `json:"grant"`
	Position   string   `json:"position"`
}

// Run prints the table.
func (c *PolicyShowCmd) Run(app *App) error {
	file, err := app.readPolicy(c.File)
	if err != nil {
		return err
	}
	rows := functions(file)
	if c.Credentials {
		rows = slices.DeleteFunc(rows, func(f function) bool { return f.Credential == string(capability.Anonymous) })
		slices.SortStableFunc(rows, func(a, b function) int { return cmp.Compare(a.Credential, b.Credential) })
	}
	if c.JSON {
		e := json.NewEncoder(app.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	return printFunctions(app.Stdout, rows)
}

func functions(file *policyfile.File) []function {
	rows := []function{}
	for _, g := range file.Policy.Grants() {
		for _, a := range g.Allows {
			f := function{
				Credential: g.Credential.String(), Host: hostAndPort(g), Methods: a.Methods, Path: a.Path.String(),
				Owner: g.Owner, Grant: g.Name, Position: g.Position.String(),
			}
			if i := slices.IndexFunc(file.Credentials, func(c policyfile.Credential) bool { return c.Name == g.Credential.Name }); i >= 0 {
				f.Source, f.Place = file.Credentials[i].Source(), g.Credential.Place.String()
			}
			rows = append(rows, f)
		}
	}
	return rows
}

// hostAndPort leaves out what the scheme implies.
func hostAndPort(g *capability.Grant) string {
	host := g.Host.String()
	if g.Scheme != capability.HTTPS {
		host = string(g.Scheme) + "://" + host
	}
	if g.Port != g.Scheme.DefaultPort() {
		host += fmt.Sprintf(":%d", g.Port)
	}
	return host
}

func printFunctions(w io.Writer, rows []function) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "nothing")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CREDENTIAL\tHOST\tMETHODS\tPATH\tOWNER\tSOURCE\tPLACE")
	for _, f := range rows {
		cells := []string{f.Credential, f.Host, strings.Join(f.Methods, " "), f.Path, f.Owner, f.Source, f.Place}
		for i := range cells {
			cells[i] = audit.Printable(cells[i])
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return t.Flush()
}
