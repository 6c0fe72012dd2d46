package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/replay/retrial"
)

// logReplay judges the requests of a log again, under another policy.
type logReplay struct {
	what   string // last, a run, its folder, or a folder of runs
	policy string
	audit  string
	keys   []string
	json   bool
	accept bool // undecidable requests count as unchanged
}

// isLog reports whether what names a log rather than scenarios.
func isLog(what string) bool {
	if what == "last" || audit.IsRun(filepath.Base(what)) {
		return true
	}
	if info, err := os.Stat(what); err != nil || !info.IsDir() {
		return false
	}
	runs, err := audit.Runs(what)
	return err == nil && len(runs) > 0
}

func (r logReplay) run(app *App) error {
	if r.policy == "" {
		return &exitError{code: exitUsage, err: errors.New("no policy to judge the log by"), hint: "scupper replay last --policy policy.hcl"}
	}
	file, err := app.readPolicy(r.policy)
	if err != nil {
		return err
	}
	logs, err := app.logs(r.audit, []string{r.what})
	if err != nil {
		return &exitError{code: exitEnvironment, err: err, hint: "logs elsewhere: --audit DIR"}
	}
	trust, err := app.trust(r.keys)
	if err != nil {
		return &exitError{code: exitEnvironment, err: err, hint: "name the public key of the installation that wrote the log: --key FILE"}
	}
	if err := r.verify(logs, trust); err != nil {
		return err
	}
	trial := retrial.New(retrial.Config{Dir: logs[0].dir, Policy: file, Version: version()})
	for _, l := range logs {
		if err := trial.Run(l.run); err != nil {
			return &exitError{code: exitEnvironment, err: err}
		}
	}
	return r.print(app, trial.Report())
}

// verify wants every log to be what its heads say: a log that was changed proves nothing.
func (r logReplay) verify(logs []logOf, trust audit.Trust) error {
	bad := func(err error) error {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("nothing was judged: %w", err), hint: "scupper audit verify " + cmp.Or(r.what, logs[0].run)}
	}
	if len(logs) == 1 {
		if _, err := audit.Verify(logs[0].dir, logs[0].run, trust); err != nil {
			return bad(err)
		}
		return nil
	}
	var first error
	err := audit.VerifyAll(logs[0].dir, trust, func(_ *audit.Verified, err error) { first = cmp.Or(first, err) })
	if first = cmp.Or(first, err); first != nil {
		return bad(first)
	}
	return nil
}

func (r logReplay) print(app *App, report *retrial.Report) error {
	if r.json {
		e := json.NewEncoder(app.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(report); err != nil {
			return err
		}
	} else if err := report.Text(app.Stdout); err != nil {
		return err
	}
	if !report.Same(r.accept) {
		return &exitError{code: exitDenied, err: errors.New("")}
	}
	return nil
}
