package main

import (
	"encoding/json"
	"errors"
	"time"

	"scupper.dev/scupper/replay/aeb"
)

// benchReplay judges cases of others by a policy.
type benchReplay struct {
	paths   []string
	policy  string
	profile string
	json    bool
}

func (b benchReplay) run(app *App) error {
	if b.policy == "" || len(b.paths) == 0 {
		return &exitError{code: exitUsage, err: errors.New("cases and the policy to judge them by are needed"), hint: "scupper replay --format aeb --policy policy.hcl cases"}
	}
	file, err := app.readPolicy(b.policy)
	if err != nil {
		return err
	}
	profile := aeb.Own()
	if b.profile != "" {
		if profile, err = aeb.ReadProfile(b.profile); err != nil {
			return &exitError{code: exitUsage, err: err}
		}
	}
	cases, err := aeb.Read(b.paths)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	report := aeb.Judge(cases, file.Policy, profile, time.Now())
	if err := b.print(app, report); err != nil {
		return err
	}
	if !report.Good() {
		return &exitError{code: exitDenied, err: errors.New("")}
	}
	return nil
}

func (b benchReplay) print(app *App, report *aeb.Report) error {
	if !b.json {
		return report.Text(app.Stdout)
	}
	e := json.NewEncoder(app.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(report)
}
