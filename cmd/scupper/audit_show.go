package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"scupper.dev/scupper/audit"
)

// followEvery is how often a log under way is looked at.
const followEvery = 200 * time.Millisecond

// AuditShowCmd prints records.
type AuditShowCmd struct {
	Log    string `arg:"" optional:"" placeholder:"RUN|last|DIR" help:"The id of a run, last for the newest, or a directory with logs. The default is last."`
	Follow bool   `short:"f" help:"Go on with what is being written, until the run ends."`
	Audit  string `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
	JSON   bool   `help:"Print each record as one line of JSON. What a terminal must not get is escaped; the exact bytes are in the log."`
	auditFilter
}

// Help shows an example.
func (AuditShowCmd) Help() string {
	return "Example: scupper audit show last --verdict deny --host '*.example.com'\n\nscupper explain RUN-NUMBER explains the record with that number."
}

// Run prints the records that are wanted.
func (c *AuditShowCmd) Run(app *App) error {
	s, err := c.selection(time.Now())
	if err != nil {
		return err
	}
	var names []string
	if c.Log != "" {
		names = []string{c.Log}
	}
	logs, err := app.logs(c.Audit, names)
	if err != nil {
		return err
	}
	if c.Follow && len(logs) > 1 {
		return &exitError{code: exitUsage, err: fmt.Errorf("follow %d runs: one at a time", len(logs)), hint: "scupper audit show -f last"}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	out := bufio.NewWriter(app.Stdout)
	for _, l := range logs {
		if s.begin(l.run) {
			if err := c.show(ctx, out, l, s); err != nil {
				return &exitError{code: exitDenied, err: fmt.Errorf("show run %s: %w", l.run, err), hint: "scupper audit verify says more about a log that is damaged"}
			}
		}
	}
	return out.Flush()
}

func (c *AuditShowCmd) show(ctx context.Context, out *bufio.Writer, l logOf, s *selection) error {
	write := showRow
	if c.JSON {
		write = showJSON
	}
	begun := c.JSON
	for line, err := range c.lines(ctx, l) {
		if err != nil {
			return joinErrors(out.Flush(), err)
		}
		if !s.wants(line.Record) {
			continue
		}
		if !begun {
			begun = true
			showHead(out, l.run, line.Time)
		}
		write(out, line)
		if c.Follow && out.Flush() != nil {
			return nil // whoever read has gone
		}
	}
	return nil
}

func (c *AuditShowCmd) lines(ctx context.Context, l logOf) iter.Seq2[*audit.Line, error] {
	if c.Follow {
		return audit.Follow(ctx, l.dir, l.run, followEvery)
	}
	return audit.Lines(l.dir, l.run)
}

// joinErrors is the first error that is one.
func joinErrors(errs ...error) error { return cmp.Or(errs...) }

func showJSON(w io.Writer, l *audit.Line) { fmt.Fprintf(w, "%s\n", asciiJSON(l.Bytes)) }

const rowFormat = "%6s  %-12s  %-6s  %-22s  %-16s  %s\n"

func showHead(w io.Writer, run string, at time.Time) {
	fmt.Fprintf(w, "run %s, %s UTC\n", run, at.UTC().Format(time.DateOnly))
	fmt.Fprintf(w, rowFormat, "NUMBER", "TIME", "ANSWER", "REASON", "GRANT", "WHAT")
}

func showRow(w io.Writer, l *audit.Line) {
	reason := l.Reason
	if l.Event != audit.Decided {
		reason = string(l.Event)
	}
	row := fmt.Sprintf(rowFormat, fmt.Sprint(l.Seq), l.Time.UTC().Format("15:04:05.000"),
		audit.Printable(cmp.Or(l.Verdict, "-")), audit.Printable(reason), audit.Printable(cmp.Or(l.Grant, "-")), audit.Printable(shortened(whatOf(l.Record))))
	io.WriteString(w, strings.TrimRight(row, " \n")+"\n")
}

// maxWhat is how much of what the sandbox wrote a row shows, in bytes.
const maxWhat = 200

func shortened(s string) string {
	if len(s) <= maxWhat {
		return s
	}
	return strings.ToValidUTF8(s[:maxWhat], "") + "…"
}

// whatOf says in one line what a record is about.
func whatOf(r *audit.Record) string {
	of := "number " + r.Decision[strings.LastIndexByte(r.Decision, '-')+1:]
	switch r.Event {
	case audit.Decided:
		return r.Asked() + limitNoteOf(r)
	case audit.Ended:
		return of + ": " + r.Outcome()
	case audit.Repeated:
		return fmt.Sprintf("%s again, %s", of, plural(r.Count, "time"))
	case audit.Withdrawn:
		return of + " was denied after all: its record was late"
	case audit.Gap:
		return plural(r.Count, "record") + " could not be written before this"
	case audit.RunStarted:
		if r.Run != nil {
			return strings.Join(r.Run.Command, " ") + " under " + cmp.Or(r.Run.Policy, "no policy")
		}
	case audit.LimitReached:
		return r.Limit + ": " + r.Says
	case audit.PolicyChanged:
		if r.Change != nil {
			return changeOf(r.Change)
		}
	case audit.CredentialUsed:
		return r.Bound + " goes out for the first time, fingerprint " + cmp.Or(r.Print, "unknown")
	case audit.AnchorFailed:
		return "no head could be left at " + r.Anchor + ": " + r.Error
	case audit.LogOpened, audit.LogTorn, audit.LogClosed, audit.SegmentsDropped:
		if r.Log != nil {
			return segmentOf(r)
		}
	case audit.RunEnded:
		if s := r.Summary; s != nil {
			return fmt.Sprintf("exit %d, %s, %d refused, %s sent, %s received", s.Exit, plural(s.Requests, "request"), s.Refused, size(s.Sent), size(s.Received))
		}
	}
	return strings.TrimSpace(r.Asked())
}

func segmentOf(r *audit.Record) string {
	switch r.Event {
	case audit.LogOpened:
		return fmt.Sprintf("segment %d, after %s", r.Log.Number, plural(r.Log.Before, "record"))
	case audit.LogTorn:
		return fmt.Sprintf("%s of a line that was not whole were cut off", plural(r.Log.Cut, "byte"))
	case audit.SegmentsDropped:
		return plural(r.Log.Before, "record") + " before this were deleted"
	}
	return "a later start closed the log"
}

func limitNoteOf(r *audit.Record) string {
	if r.Limit == "" {
		return ""
	}
	return " (" + r.Limit + ")"
}

func changeOf(c *audit.Change) string {
	if c.Refused != "" {
		return "a new policy was refused, the old one stays: " + c.Refused
	}
	return strings.TrimSuffix(fmt.Sprintf("policy %.12s in the place of %.12s: %s", c.To, c.From, c.Note), ": ")
}
