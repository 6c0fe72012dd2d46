package main

import (
	"errors"
	"fmt"
	"time"

	"scupper.dev/scupper/audit"
)

// AuditDropCmd deletes old records.
type AuditDropCmd struct {
	What   string `arg:"" optional:"" placeholder:"DIR|RUN" help:"A folder of logs, or the ID of a run. The default is all runs that have a log."`
	Before string `required:"" placeholder:"DATE" help:"Records from before this day go, such as 2026-09-01 (UTC), or from before this long ago, such as 2160h."`
	Audit  string `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
}

// Help shows an example.
func (AuditDropCmd) Help() string {
	return "Example: scupper audit drop --before 2026-09-01\n\n" +
		"Whole segments are deleted, of logs that are closed and verify. Each log keeps a record of it, and the hashes that the rest is proved with: it goes on to verify."
}

// Run drops, and says what.
func (c *AuditDropCmd) Run(app *App) error {
	now := time.Now()
	before, err := cutoff(c.Before, now)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	state, err := app.stateDir()
	if err != nil {
		return err
	}
	dir, run, err := app.verifiable(c.What, c.Audit)
	if err != nil {
		return err
	}
	runs := []string{run}
	if run == "" {
		if runs, err = audit.Runs(dir); err != nil {
			return &exitError{code: exitUsage, err: err}
		}
	}
	var segments, records int64
	var left error
	for _, run := range runs {
		d, err := audit.Drop(state, dir, run, before, now)
		if err != nil {
			left = errors.Join(left, err)
			continue
		}
		if d.Segments > 0 {
			segments, records = segments+int64(d.Segments), records+d.Records
			fmt.Fprintf(app.Stdout, "%s: dropped %s, %s\n", d.Run, plural(int64(d.Segments), "segment"), plural(d.Records, "record"))
		}
	}
	fmt.Fprintf(app.Stdout, "dropped: %s, %s\n", plural(segments, "segment"), plural(records, "record"))
	if left != nil {
		return &exitError{code: exitDenied, err: left, hint: "scupper audit verify says more; a run that goes on is left as it is"}
	}
	return nil
}

// cutoff reads a day, or how long ago.
func cutoff(text string, now time.Time) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("--before %s: write a day, 2026-09-01, or how long ago, 2160h", text)
}
