package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/audit/ocsf"
)

// AuditExportCmd writes records as events.
type AuditExportCmd struct {
	Logs   []string `arg:"" optional:"" placeholder:"RUN|last|DIR" help:"Runs, or directories with logs. The default is last."`
	Format string   `enum:"ocsf" default:"ocsf" help:"ocsf: JSON lines of the Open Cybersecurity Schema Framework, 1.9."`
	Out    string   `placeholder:"FILE" help:"Where they go. The default is standard output."`
	Audit  string   `placeholder:"DIR" help:"Where the logs are. The default is under the state directory."`
	auditFilter
}

// Help shows an example.
func (AuditExportCmd) Help() string {
	return "Example: scupper audit export --verdict deny last > events.jsonl\n\n" +
		"raw_data of an event is the record byte for byte, and unmapped.proof shows that it is in the log; records of a log that was changed say so."
}

// Run writes one event for each record that is wanted.
func (c *AuditExportCmd) Run(app *App) error {
	s, err := c.selection(time.Now())
	if err != nil {
		return err
	}
	logs, err := app.logs(c.Audit, c.Logs)
	if err != nil {
		return err
	}
	return app.writeOut(c.Out, func(w io.Writer) error {
		e := exporter{out: w, selection: s, mapper: ocsf.NewMapper(version())}
		for _, l := range logs {
			if err := e.export(app, l); err != nil {
				return &exitError{code: exitDenied, err: fmt.Errorf("export run %s: %w", l.run, err), hint: "scupper audit verify says more about a log that is damaged"}
			}
		}
		return nil
	})
}

// exporter writes events.
type exporter struct {
	*selection
	out    io.Writer
	mapper *ocsf.Mapper
}

func (e *exporter) export(app *App, l logOf) error {
	if !e.begin(l.run) {
		return nil
	}
	e.mapper.Begin(l.run)
	proofs := app.proofs(l)
	for line, err := range audit.Lines(l.dir, l.run) {
		if err != nil {
			return err
		}
		wanted := e.wants(line.Record)
		var proof *ocsf.Proof
		if wanted {
			proof = proofs.of(line)
		}
		event, err := e.mapper.Event(line, proof)
		if err != nil {
			return err
		}
		if wanted {
			if err := e.write(event); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes one event on a line. What a terminal must not get is escaped; raw_data is
// the same for it once it is read.
func (e *exporter) write(event *ocsf.Event) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(event); err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	text := asciiJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	_, err := e.out.Write(append(text, '\n'))
	return err
}
