package main

import (
	"bytes"
	"errors"
	"testing"

	"scupper.dev/scupper/credential"
	"scupper.dev/scupper/credential/redact"
)

// TestReportHidesSecrets: CRED-07, an error that quotes a secret is printed without.
func TestReportHidesSecrets(t *testing.T) {
	const secret = "sk-test-0123456789abcdef"
	var b bytes.Buffer
	app := &App{Stderr: &b, secrets: redact.New(func() []credential.Secret { return []credential.Secret{credential.NewSecret("x", secret)} })}
	code := app.report(&exitError{code: exitUsage, err: errors.New("parse \"Bearer " + secret + "\": bad"), hint: "run it with " + secret})
	if want := "scupper: parse \"Bearer [secret]\": bad\n  run it with [secret]\n"; code != exitUsage || b.String() != want {
		t.Errorf("got %d, %q, want %q", code, b.String(), want)
	}
}
