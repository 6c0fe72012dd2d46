package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/audit/report"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// AuditReportCmd writes a page about runs.
type AuditReportCmd struct {
	Logs   []string `arg:"" optional:"" placeholder:"RUN|last|DIR" help:"Runs, or directories with logs. The default is last, with --since all runs since then."`
	Out    string   `placeholder:"FILE" help:"Where the page goes. The default is standard output."`
	Policy string   `placeholder:"FILE" help:"Compare with the grants of this policy, instead of those kept with the runs."`
	Since  string   `placeholder:"TIME" help:"Only what happened since: 2026-11-30, 2026-11-30T12:00:00Z, or 90m, 24h, 7d for so long ago."`
	Audit  string   `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
}

// Help shows an example.
func (AuditReportCmd) Help() string {
	return "Example: scupper audit report --out report.html last\n\n" +
		"The page is one file without scripts that loads nothing from anywhere; it says whether the log was verified."
}

// Run makes the report and writes it.
func (c *AuditReportCmd) Run(app *App) error {
	config, logs, err := c.prepare(app, time.Now())
	if err != nil {
		return err
	}
	sources := make([]report.Source, len(logs))
	for i, l := range logs {
		sources[i] = report.Source{Dir: l.dir, Run: l.run}
	}
	r, err := report.Make(sources, config)
	if err != nil {
		return &exitError{code: exitDenied, err: fmt.Errorf("report: %w", err)}
	}
	return app.writeOut(c.Out, r.WriteHTML)
}

func (c *AuditReportCmd) prepare(app *App, now time.Time) (report.Config, []logOf, error) {
	config := report.Config{Now: now, Scupper: version(), Grants: grantsOf, Smallest: smallestOf, Verify: app.proofOf}
	since, err := moment(c.Since, now)
	if err != nil {
		return config, nil, usageError("--since", err)
	}
	if c.Policy != "" {
		file, err := app.readPolicy(c.Policy)
		if err != nil {
			return config, nil, err
		}
		config.Policy = file.Policy.Grants()
	}
	names := c.Logs
	if len(names) == 0 && !since.IsZero() {
		dir, err := app.auditDir(c.Audit)
		if err != nil {
			return config, nil, err
		}
		names = []string{dir}
	}
	logs, err := app.logs(c.Audit, names)
	if !since.IsZero() {
		config.Wants = func(r *audit.Record) bool { return !r.Time.Before(since) }
		logs = slices.DeleteFunc(logs, func(l logOf) bool { return !writtenSince(l, since) })
	}
	return config, logs, err
}

// writtenSince reports whether a log has had a record since then.
func writtenSince(l logOf, since time.Time) bool {
	written, err := audit.Written(l.dir, l.run)
	return err != nil || !written.Before(since)
}

// writeOut writes to a file, which appears whole or not at all, or to standard output.
func (a *App) writeOut(path string, write func(io.Writer) error) error {
	if path == "" {
		out := bufio.NewWriter(a.Stdout)
		return cmp.Or(write(out), out.Flush())
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".scupper-*")
	if err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("create %s: %w", path, err)}
	}
	defer os.Remove(f.Name())
	out := bufio.NewWriter(f)
	err = errors.Join(write(out), out.Flush(), f.Chmod(0o600), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("write %s: %w", path, err)}
	}
	return nil
}

// grantsOf reads the grants of a role from the policy text that was kept with a run. The
// files that the policy names are looked up where they stood.
func grantsOf(path, role string, text []byte) ([]*capability.Grant, error) {
	if len(text) == 0 {
		return nil, nil
	}
	file, diags := policyfile.Parse(path, text, policyfile.Options{ReadFile: readNamed})
	if diags.HasErrors() {
		return nil, fmt.Errorf("%s", diags.Errors()[0].Summary)
	}
	policy, err := file.Policy.ForRole(role)
	if err != nil {
		return nil, err
	}
	return policy.Grants(), nil
}

// maxNamed is how much is read of a file that a policy names, in bytes.
const maxNamed = 64 << 20

// readNamed reads a regular file. What a policy names may lie where a sandbox can write,
// and a pipe there would block.
func readNamed(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxNamed {
		return nil, errors.Join(fmt.Errorf("read %s: not a file that could be read whole", path), err)
	}
	return io.ReadAll(io.LimitReader(f, maxNamed))
}

// smallestOf writes the smallest grants that would permit what was refused.
func smallestOf(records []*audit.Record) string {
	var hosts []*hostProposal
	for _, rec := range records {
		r := &refusal{Record: rec, times: max(1, rec.Count)}
		if g, ok := smallestGrant(r); ok {
			hosts = addTo(hosts, g, r)
		}
	}
	if len(hosts) == 0 {
		return asRecorded(records)
	}
	var b strings.Builder
	for i, h := range hosts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(h.block())
	}
	text, diags := policyfile.Format("proposal.hcl", []byte(b.String()))
	if diags.HasErrors() {
		return b.String()
	}
	return string(text)
}

// asRecorded is the smallest grant as the log has it, where the path is not known yet.
func asRecorded(records []*audit.Record) string {
	for _, r := range records {
		if r.Smallest != "" {
			return r.Smallest
		}
	}
	return ""
}
