package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/replay/scenario"
	"scupper.dev/scupper/replay/service"
	"scupper.dev/scupper/replay/trial"
)

// ReplayCmd replays scenarios: attacks and jobs, each in a sandbox of its own.
type ReplayCmd struct {
	Policy  string   `placeholder:"FILE" help:"The policy of scenarios that name none; the default is policy.hcl beside them. With a log: the policy to judge it by."`
	Without string   `placeholder:"LAYER" enum:",all,method,path,query,body,credential,limit" default:"" help:"Leave scupper out (all): every attack has to arrive then. Or take one layer out of every grant (method, path, query, body, credential, limit), to see what it alone stops."`
	Why     bool     `help:"Print for each scenario the step that decided it."`
	Matrix  bool     `help:"Print which layer stopped which attack, and which attacks arrive where that one layer is taken away."`
	JSON    bool     `help:"Print the results as JSON."`
	GitHub  bool     `name:"github" help:"Print annotations for GitHub Actions."`
	JUnit   string   `name:"junit" placeholder:"FILE" help:"Write the results as JUnit XML."`
	SARIF   string   `name:"sarif" placeholder:"FILE" help:"Write the faults as SARIF, at the policy line that let them through."`
	Record  string   `placeholder:"RUN" help:"Print a scenario made from the log of this run, or of the last."`
	Audit   string   `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
	Format  string   `placeholder:"aeb" enum:",aeb" default:"" help:"The paths are cases of the form agent-egress-bench (aeb), to be judged by --policy."`
	Profile string   `placeholder:"FILE" help:"With --format aeb: what applies, in the form of its profiles. The default is scupper's own."`
	Key     []string `sep:"none" placeholder:"PUB" help:"With a log: the public key, or a file with it. The default is this installation's."`
	Accept  bool     `name:"accept-undecidable" help:"With a log: count requests that cannot be judged from it as unchanged."`
	Jobs    int      `placeholder:"N" help:"How many scenarios run at once. The default is one more than processors."`
	Paths   []string `arg:"" optional:"" name:"path" help:"Files of scenarios, and folders of them; or a log: last, a run, its folder, or a folder of runs."`
}

// Help shows an example.
func (ReplayCmd) Help() string {
	return "Example: scupper replay e2e/scenarios\n\n" +
		"Each scenario runs in a fresh sandbox beside a pretend Internet, offline, and is judged by what that received. " +
		"Exit code 0: all came out as expected. 1: a leak, a job that was refused, or another verdict. " +
		"2: a file has a mistake; nothing was run. 3: this machine cannot replay them.\n\n" +
		"Example: scupper replay last --policy new.hcl\n\n" +
		"Verifies a signed log and judges each recorded request again. " +
		"Exit code 0: every request comes out as it did. 1: some are newly allowed, newly denied, or undecidable from the log. " +
		"2: the policy has a mistake. 3: the log cannot be read, or is not what was signed."
}

// Run replays what is named.
func (c *ReplayCmd) Run(app *App) error {
	if c.Format != "" {
		return benchReplay{paths: c.Paths, policy: c.Policy, profile: c.Profile, json: c.JSON}.run(app)
	}
	if c.Record != "" {
		return c.record(app)
	}
	if len(c.Paths) == 0 {
		return &exitError{code: exitUsage, err: errors.New("no scenarios"), hint: "scupper replay e2e/scenarios"}
	}
	if len(c.Paths) == 1 && isLog(c.Paths[0]) {
		return logReplay{what: c.Paths[0], policy: c.Policy, audit: c.Audit, keys: c.Key, json: c.JSON, accept: c.Accept}.run(app)
	}
	pack, err := scenario.Load(c.Paths, scenario.Options{Policy: c.Policy, Known: service.Known})
	if err != nil {
		return app.wrongScenarios(err)
	}
	exercise, err := app.prepareExercise(pack, c.Without)
	if err != nil {
		return err
	}
	report, err := exercise.run(app, c.jobs())
	if err != nil {
		return err
	}
	if c.Matrix && c.Without == "" {
		if err := exercise.deepen(app, report, c.jobs()); err != nil {
			return err
		}
	}
	if err := c.write(app, report); err != nil {
		return err
	}
	return verdictOf(report)
}

// jobs is how many scenarios run at once. Without sandboxes they wait more than they work.
func (c *ReplayCmd) jobs() int {
	if c.Jobs == 0 && c.Without == withoutAll {
		return 4 * runtime.NumCPU()
	}
	return max(1, cmp.Or(c.Jobs, runtime.NumCPU()+1))
}

// wrongScenarios prints what is wrong with files.
func (a *App) wrongScenarios(err error) error {
	var found scenario.Mistakes
	if !errors.As(err, &found) {
		return &exitError{code: exitUsage, err: err}
	}
	for _, m := range found {
		fmt.Fprintln(a.Stderr, audit.Printable(m.String()))
	}
	return &exitError{code: exitUsage, err: fmt.Errorf("%s in the scenarios; nothing was run", count(len(found), "mistake"))}
}

// write writes the report in every form that is asked for.
func (c *ReplayCmd) write(app *App, report *trial.Report) error {
	if err := toFile(c.JUnit, report.WriteJUnit); err != nil {
		return err
	}
	if err := toFile(c.SARIF, func(w io.Writer) error { return report.WriteSARIF(w, version()) }); err != nil {
		return err
	}
	if c.GitHub {
		if err := report.WriteGitHub(app.Stdout); err != nil {
			return err
		}
	}
	if c.JSON {
		return report.WriteJSON(app.Stdout)
	}
	if c.Matrix {
		if err := report.WriteMatrix(app.Stdout); err != nil {
			return err
		}
	}
	return report.WriteText(app.Stdout, c.Why)
}

// toFile writes a file, if one is named.
func toFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("write results: %w", err)}
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("write results %q: %w", path, err)}
	}
	return nil
}

// verdictOf is the exit code of a report. What could not be replayed proves nothing.
func verdictOf(report *trial.Report) error {
	t := report.Totals()
	switch {
	case t.Leaks+t.Refused+t.Verdicts+t.Dead > 0:
		return &exitError{code: exitDenied, err: errSilent}
	case t.Troubles > 0:
		return &exitError{code: exitEnvironment, err: errSilent}
	}
	return nil
}
