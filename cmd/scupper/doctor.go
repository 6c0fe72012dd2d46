package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/probe"
	"scupper.dev/scupper/sandbox"
)

// DoctorCmd says what this machine can enforce, and proves that a sandbox holds.
type DoctorCmd struct {
	JSON bool `help:"Print everything as JSON on standard output."`
}

// Help shows an example.
func (DoctorCmd) Help() string {
	return "Example: scupper doctor\n\n" +
		"It lays bait outside (listeners, sockets, files, a secret), starts a sandbox as run does and tries to reach it from inside, and every other " +
		"way out. Nothing is sent to real hosts. Exit code 0: nothing gets out; 1: something does; 3: this machine lacks something."
}

// checkup is what the doctor found.
type checkup struct {
	OK       bool              `json:"ok"`
	Facts    []fact            `json:"facts"`
	Controls []sandbox.Control `json:"controls"` // of the sandbox that was tried
	Probes   []probe.Result    `json:"probes"`
	Reached  []string          `json:"reached"` // bait that was reached, as seen from outside
}

// Run examines the machine, tries a sandbox and prints what came of it.
func (c *DoctorCmd) Run(app *App) error {
	found := checkup{Controls: []sandbox.Control{}, Probes: []probe.Result{}, Reached: []string{}, Facts: app.facts()}
	trial := app.try(&found)
	found.Facts = append(found.Facts, trialFacts(trial)...)
	found.OK = found.missing() == "" && len(found.out()) == 0
	write := found.write
	if c.JSON {
		write = found.writeJSON
	}
	if err := write(app.Stdout); err != nil {
		return err
	}
	return found.verdict()
}

// verdict is the error that the exit code comes from: a way out counts before anything
// that is missing.
func (c *checkup) verdict() error {
	if out := c.out(); len(out) > 0 {
		return &exitError{code: exitDenied, err: fmt.Errorf("something gets out of the sandbox: %s", strings.Join(out, "; ")), hint: "do not rely on scupper on this machine, and report it"}
	}
	if missing := c.missing(); missing != "" {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("this machine lacks %s", missing)}
	}
	return nil
}

// out lists what got out, by control and name.
func (c *checkup) out() []string {
	var all []string
	for _, p := range c.Probes {
		if p.Out {
			all = append(all, fmt.Sprintf("%s (%s)", p.Name, p.Control))
		}
	}
	for _, name := range c.Reached {
		all = append(all, name+" was reached")
	}
	return all
}

// missing lists what is needed and not there.
func (c *checkup) missing() string {
	var names []string
	for _, f := range c.Facts {
		if f.Needed && !f.OK {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, ", ")
}

func (c *checkup) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(c)
}

// write prints three tables for a person.
func (c *checkup) write(w io.Writer) error {
	var facts, controls, probes [][]string
	for _, f := range c.Facts {
		facts = append(facts, []string{f.mark(), f.Name, audit.Printable(f.Detail)})
		if f.Remedy != "" {
			facts = append(facts, []string{"", "", "-> " + f.Remedy})
		}
	}
	for _, k := range c.Controls {
		controls = append(controls, []string{mark(k.InForce, "off"), k.Name, audit.Printable(k.Detail)})
	}
	for _, p := range c.Probes {
		probes = append(probes, []string{mark(!p.Out, "OUT"), string(p.Control), p.Name + ": " + audit.Printable(p.Came)})
	}
	for _, name := range c.Reached {
		probes = append(probes, []string{"OUT", "seen from outside", name + " was reached"})
	}
	return errors.Join(table(w, "this machine", facts), table(w, "the sandbox that was tried", controls), table(w, "what was tried to get out of it", probes))
}

func table(w io.Writer, title string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(w, title+":")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, "  "+strings.Join(row, "\t"))
	}
	return t.Flush()
}

func mark(ok bool, otherwise string) string {
	if ok {
		return "ok"
	}
	return otherwise
}

func (f fact) mark() string {
	if f.Needed {
		return mark(f.OK, "MISSING")
	}
	return mark(f.OK, "-")
}
