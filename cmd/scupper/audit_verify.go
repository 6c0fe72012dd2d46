package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"scupper.dev/scupper/audit"
)

// AuditVerifyCmd checks logs.
type AuditVerifyCmd struct {
	What       string   `arg:"" optional:"" placeholder:"DIR|RUN" help:"A folder of logs, or the ID of a run. The default is all runs that have a log."`
	ExpectHead []string `sep:"none" placeholder:"HEAD" help:"A head that was kept elsewhere: the word that the summary of the run printed, or a file with a signed one."`
	Key        []string `sep:"none" placeholder:"PUB" help:"The public key, or a file with it. The default is this installation's."`
	Audit      string   `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
	JSON       bool     `help:"Print facts for programs, one run on a line."`
}

// Help shows an example.
func (AuditVerifyCmd) Help() string {
	return "Example: scupper audit verify\n\n" +
		"Exit code 0: every log is what its heads say. 1: one is not, and the first bad record is named. 2: one cannot be read, or was written by a newer scupper.\n\n" +
		"A head beside a log shows nothing about someone who can sign heads. Keep heads where the one who runs scupper cannot change them, and give them to --expect-head."
}

// Run verifies, and says of every run what holds.
func (c *AuditVerifyCmd) Run(app *App) error {
	trust, err := app.trust(c.Key)
	if err != nil {
		return err
	}
	dir, run, err := app.verifiable(c.What, c.Audit)
	if err != nil {
		return err
	}
	for _, text := range c.ExpectHead {
		heads, err := audit.ReadHeads(text, trust.Keys)
		if err == nil && run != "" && !slices.ContainsFunc(heads, func(h audit.Head) bool { return h.Run() == run }) {
			err = fmt.Errorf("%s: it is no head of run %s, and would not be looked at", printable(text), printable(run))
		}
		if err != nil {
			return &exitError{code: exitUsage, err: fmt.Errorf("--expect-head: %w", err)}
		}
		trust.Expect = append(trust.Expect, heads...)
	}
	v := verification{app: app, json: c.JSON}
	if run != "" {
		v.took(audit.Verify(dir, run, trust))
		return v.end()
	}
	if err := audit.VerifyAll(dir, trust, v.took); err != nil {
		return &exitError{code: exitUsage, err: err, hint: "logs elsewhere: scupper audit verify DIR"}
	}
	return v.end()
}

// verification is what was found so far.
type verification struct {
	app           *App
	json          bool
	runs, records int64
	worst         int // exit code
	faults        int
	first         error
}

func (v *verification) took(r *audit.Verified, err error) {
	v.runs++
	if err != nil {
		v.fault(err)
		return
	}
	v.records += r.Records
	if v.json {
		v.print(r)
		return
	}
	fmt.Fprintf(v.app.Stdout, "%s: %s, head %s%s\n", r.Run, plural(r.Records, "record"), r.Head, remarks(r))
}

// remarks say what is not as in a log that has its end.
func remarks(r *audit.Verified) (text string) {
	if r.Dropped > 0 {
		text += fmt.Sprintf("; the first %d were dropped, which is on record", r.Dropped)
	}
	if r.Closed {
		return text
	}
	text += "; not closed: the run goes on, or its scupper was killed"
	if n := r.Records - r.Sealed; n > 0 {
		text += fmt.Sprintf("; no head covers the last %d yet", n)
	}
	if r.Torn > 0 {
		text += fmt.Sprintf("; torn: line %d of %s has %d bytes and no end", r.Line, printable(r.File), r.Torn)
	}
	return text
}

func (v *verification) fault(err error) {
	code := exitDenied
	var f *audit.Fault
	if !errors.As(err, &f) || f.Unreadable {
		code = exitUsage
	}
	v.faults++
	if v.first == nil || code < v.worst {
		v.first, v.worst = err, code // a log that was changed is worse than one that cannot be read
	}
	switch {
	case v.json && f != nil:
		v.print(struct {
			Fault *audit.Fault `json:"fault"`
		}{f})
	case v.json:
		v.print(map[string]string{"error": err.Error()})
	default:
		fmt.Fprintf(v.app.Stdout, "FAULT %s\n", printable(err.Error()))
	}
}

func (v *verification) print(fact any) {
	_ = json.NewEncoder(v.app.Stdout).Encode(fact) // a reader that went away does not change the verdict
}

func (v *verification) end() error {
	if v.first != nil {
		return &exitError{code: v.worst, err: fmt.Errorf("%s of %s at fault; the first: %w", plural(int64(v.faults), "log"), plural(v.runs, "run"), v.first)}
	}
	if !v.json {
		fmt.Fprintf(v.app.Stdout, "verified: %s, %s\n", plural(v.runs, "run"), plural(v.records, "record"))
	}
	return nil
}
