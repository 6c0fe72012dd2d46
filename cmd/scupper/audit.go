package main

// AuditCmd is about the logs that runs leave.
type AuditCmd struct {
	Show   AuditShowCmd   `cmd:"" help:"Print the records of a run, filtered."`
	Report AuditReportCmd `cmd:"" help:"Write a page about runs for a reviewer."`
	Export AuditExportCmd `cmd:"" help:"Write records as events for systems that collect such."`
	Verify AuditVerifyCmd `cmd:"" help:"Check that logs are what they were when they were written."`
	Prove  AuditProveCmd  `cmd:"" help:"Write a proof of one record that needs nothing but the public key."`
	Drop   AuditDropCmd   `cmd:"" help:"Delete old records, and keep what proves the rest."`
	Key    AuditKeyCmd    `cmd:"" help:"Print the public key that logs are verified with."`
}
