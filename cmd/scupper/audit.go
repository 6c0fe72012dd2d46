package main

// AuditCmd groups what can be done with logs.
type AuditCmd struct {
	Show   AuditShowCmd   `cmd:"" help:"Print the records of a run, filtered."`
	Report AuditReportCmd `cmd:"" help:"Write a page about runs for a reviewer."`
}
