package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/credential/redact"
)

// Exit codes of scupper itself. `run` passes the code of its command through.
const (
	exitDenied      = 1   // denied, or a check failed
	exitUsage       = 2   // usage or policy error
	exitEnvironment = 3   // privileges, kernel, a missing tool
	exitRun         = 125 // run failed before its command could
)

// App is what a command may touch of the world it was started in.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(string) string
	Color          bool // Stderr is a terminal

	secrets *redact.Redactor             // of the run; nil: none
	amend   func(*policyfile.File) error // changes a policy as it is read; nil: not
}

// exitError ends scupper with a code, a message and, where there is one, the next
// command to type.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// hinted is an error of another package that knows the next command.
type hinted interface{ Hint() string }

// report prints err as a person wants it and returns the exit code.
func (a *App) report(err error) int {
	code, hint := exitDenied, ""
	var known *exitError
	if errors.As(err, &known) {
		code, hint = known.code, known.hint
	}
	var other hinted
	if hint == "" && errors.As(err, &other) {
		hint = other.Hint()
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(a.Stderr, "scupper: %s\n", printable(a.hidden(text)))
	}
	if hint != "" {
		fmt.Fprintf(a.Stderr, "  %s\n", printable(a.hidden(hint)))
	}
	return code
}

// hidden is text without secrets. No error has one by design; this is for the error of
// another package that quotes what it was given.
func (a *App) hidden(text string) string {
	if a.secrets == nil {
		return text
	}
	return a.secrets.Text(text)
}

// printable is text as a terminal may have it, line by line: names in it may be the
// sandbox's.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = audit.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
