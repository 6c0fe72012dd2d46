package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scupper.dev/scupper/audit"
)

// logOf is the log of one run.
type logOf struct{ dir, run string }

// logs finds the logs that names stand for: the ID of a run under the audit directory,
// last for the newest there, the directory of a run, or a directory of runs. No name
// stands for last.
func (a *App) logs(flag string, names []string) ([]logOf, error) {
	dir, err := a.auditDir(flag)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = []string{"last"}
	}
	var out []logOf
	for _, name := range names {
		found, err := logsNamed(dir, name)
		if err != nil {
			return nil, &exitError{code: exitUsage, err: err, hint: "the summary of a run prints its id; logs elsewhere: --audit DIR"}
		}
		out = append(out, found...)
	}
	slices.SortStableFunc(out, func(a, b logOf) int { return strings.Compare(a.run, b.run) })
	return slices.Compact(out), nil
}

func logsNamed(dir, name string) ([]logOf, error) {
	if name == "last" {
		run, err := audit.Latest(dir)
		return []logOf{{dir, run}}, err
	}
	runs, err := audit.Runs(dir)
	if err != nil {
		return nil, err
	}
	if slices.Contains(runs, name) {
		return []logOf{{dir, name}}, nil
	}
	return logsIn(name)
}

// logsIn takes name as a directory.
func logsIn(name string) ([]logOf, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", name, err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is neither a run here nor a directory: %w", name, audit.ErrNotFound)
	}
	siblings, err := audit.Runs(filepath.Dir(path))
	if err == nil && slices.Contains(siblings, filepath.Base(path)) {
		return []logOf{{filepath.Dir(path), filepath.Base(path)}}, nil
	}
	runs, err := audit.Runs(path)
	if len(runs) == 0 {
		return nil, errors.Join(fmt.Errorf("no run has a log in %s: %w", name, audit.ErrNotFound), err)
	}
	out := make([]logOf, len(runs))
	for i, run := range runs {
		out[i] = logOf{path, run}
	}
	return out, nil
}
