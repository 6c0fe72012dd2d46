package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scupper.dev/scupper/audit"
)

// AuditKeyCmd prints the public key of this installation, or makes another.
type AuditKeyCmd struct {
	New bool `help:"Make another key. The old one is kept aside, and its logs go on to verify here."`
}

// Help shows an example.
func (AuditKeyCmd) Help() string {
	return "Example: scupper audit key\n\n" +
		"Give the public key to whoever is to verify logs without trusting this machine. Keys that were in use before follow, one on a line."
}

// Run prints the keys, the newest first.
func (c *AuditKeyCmd) Run(app *App) error {
	state, err := app.stateDir()
	if err != nil {
		return err
	}
	if c.New {
		if _, err := audit.MakeKey(state, true); err != nil {
			return &exitError{code: exitEnvironment, err: err}
		}
	}
	keys, err := audit.PublicKeys(state)
	if err != nil {
		return &exitError{code: exitEnvironment, err: err}
	}
	if len(keys) == 0 {
		return &exitError{code: exitDenied, err: audit.ErrNoKey, hint: "the first run makes one; scupper audit key --new makes one now"}
	}
	_, err = fmt.Fprintln(app.Stdout, strings.Join(keys, "\n"))
	return err
}

// ensureKey makes the key of this installation before its first run, and says so.
func (a *App) ensureKey(state, dir string) error {
	public, err := audit.EnsureKey(state, dir)
	var lost *audit.LostKeyError
	switch {
	case errors.As(err, &lost):
		return &exitError{code: exitEnvironment, err: err, hint: lost.Hint()}
	case err != nil:
		return &exitError{code: exitRun, err: fmt.Errorf("open the audit log: %w", err), hint: "nothing runs without a log: set XDG_STATE_HOME to a folder that can be written, and --audit DIR likewise"}
	case public != "":
		fmt.Fprintf(a.Stderr, "scupper: made the key that signs the logs of this installation; its public part is %s\n", public)
	}
	return nil
}

// recoverLogs closes the logs of runs whose scupper was killed, and says so. The new run
// has a log of its own: what is wrong with another's does not hold it up.
func (a *App) recoverLogs(state, dir string) {
	all, err := audit.Recover(state, dir, time.Now())
	if err != nil {
		fmt.Fprintf(a.Stderr, "scupper: look for logs that were not closed: %s\n", printable(err.Error()))
	}
	for _, r := range all {
		switch {
		case r.Err != nil:
			fmt.Fprintf(a.Stderr, "scupper: the log of run %s was not closed, and is left as it is: %s\n  scupper audit verify %s\n", r.Run, printable(r.Err.Error()), r.Run)
		case r.Cut > 0:
			fmt.Fprintf(a.Stderr, "scupper: run %s was killed while it wrote record %d; its log is closed now, and says so\n", r.Run, r.Records+1)
		default:
			fmt.Fprintf(a.Stderr, "scupper: run %s was killed after record %d; its log is closed now, and says so\n", r.Run, r.Records)
		}
	}
}

// trust is what logs are verified with: the keys given, or those of this installation,
// and its memory of heads unless the keys are others'.
func (a *App) trust(keys []string) (audit.Trust, error) {
	state, err := a.stateDir()
	if err != nil && len(keys) == 0 {
		return audit.Trust{}, err
	}
	own, err := audit.PublicKeys(state)
	if err != nil {
		return audit.Trust{}, &exitError{code: exitUsage, err: err}
	}
	if len(keys) == 0 {
		if len(own) == 0 {
			return audit.Trust{}, &exitError{code: exitUsage, err: audit.ErrNoKey, hint: "name the public key of the installation that wrote the log: --key FILE"}
		}
		return audit.Trust{Keys: own, State: state}, nil
	}
	t := audit.Trust{}
	for _, k := range keys {
		if _, err := os.Stat(k); err == nil {
			more, err := audit.ReadPublicKeys(k)
			if err != nil {
				return audit.Trust{}, &exitError{code: exitUsage, err: err}
			}
			t.Keys = append(t.Keys, more...)
			continue
		}
		t.Keys = append(t.Keys, k)
	}
	for _, k := range t.Keys {
		for _, o := range own {
			if k == o {
				t.State = state
			}
		}
	}
	return t, nil
}

// verifiable finds what is meant by a folder of logs, the folder of a run, or the ID of one.
// An empty run stands for all.
func (a *App) verifiable(what, flag string) (dir, run string, err error) {
	if what == "" {
		dir, err = a.auditDir(flag)
		return dir, "", err
	}
	info, err := os.Stat(what)
	switch {
	case err == nil && !info.IsDir():
		return "", "", &exitError{code: exitUsage, err: fmt.Errorf("%s is neither a folder nor a run", printable(what)), hint: "scupper audit verify takes a folder of logs, the folder of a run, or the ID of a run"}
	case err != nil && audit.IsRun(what):
		dir, err = a.auditDir(flag)
		return dir, what, err
	} // a folder that is not there may be one that is gone
	if dir, err = filepath.Abs(what); err != nil {
		return "", "", err
	}
	if audit.IsRun(filepath.Base(dir)) {
		return filepath.Dir(dir), filepath.Base(dir), nil
	}
	return dir, "", nil
}
