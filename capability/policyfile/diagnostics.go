package policyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

// Severity tells mistakes, which make a policy deny everything, from remarks.
type Severity string

// The severities of a Diagnostic.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// A Diagnostic is one mistake in a policy or one remark about it.
type Diagnostic struct {
	Severity Severity
	Summary  string
	Detail   string              // how it is written correctly
	Start    capability.Position // the zero Position when it is about no place
	End      capability.Position // one column past the last

	context string // the blocks around it
	source  []byte // the file it is in; nil: no line of it is shown
	offset  int    // of Start in source
}

// String is one line: position, severity, summary, detail.
func (d Diagnostic) String() string {
	s := fmt.Sprintf("%s: %s", d.Severity, d.Summary)
	if d.Start.File != "" {
		s = fmt.Sprintf("%s:%d,%d: %s", escape(d.Start.File), d.Start.Line, d.Start.Column, s)
	}
	if d.Detail != "" {
		s += "; " + d.Detail
	}
	return s
}

// Diagnostics are all mistakes of a policy and all remarks, in the order of the file.
type Diagnostics []Diagnostic

// HasErrors reports whether a mistake is among them.
func (ds Diagnostics) HasErrors() bool { return ds.Count(Error) > 0 }

// Count counts those of one severity.
func (ds Diagnostics) Count(s Severity) int {
	n := 0
	for _, d := range ds {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// Errors are the mistakes alone.
func (ds Diagnostics) Errors() Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d Diagnostic) bool { return d.Severity != Error })
}

// Error is the mistakes, one a line.
func (ds Diagnostics) Error() string {
	var lines []string
	for _, d := range ds.Errors() {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// Err is ds as an error, or nil where there is no mistake.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return ds
}

func (ds Diagnostics) sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		if c := strings.Compare(a.Start.File, b.Start.File); c != 0 {
			return c
		}
		if a.Start.Line != b.Start.Line {
			return a.Start.Line - b.Start.Line
		}
		return a.Start.Column - b.Start.Column
	})
}

// opener reads the file that an expression names, and takes it into the hash.
type opener func(e hcl.Expression) (text []byte, name string, ok bool)

// source is one file of policy text that is being read.
type source struct {
	name  string
	text  []byte
	nav   any
	diags *Diagnostics
	bound map[string]value // in a preset: what the names of its arguments stand for
	files opener           // nil: the text may name none
}

func (s *source) fail(at hcl.Range, summary, detail string) {
	s.add(Error, at, summary, detail)
}

// conceal reports a mistake in a value that may hold a secret: its line is not shown.
func (s *source) conceal(at hcl.Range, summary, detail string) {
	s.fail(at, summary, detail)
	(*s.diags)[len(*s.diags)-1].source = nil
}

func (s *source) warn(at hcl.Range, summary, detail string) {
	s.add(Warning, at, summary, detail)
}

func (s *source) add(severity Severity, at hcl.Range, summary, detail string) {
	d := Diagnostic{Severity: severity, Summary: escape(summary), Detail: escape(detail), source: s.text, offset: at.Start.Byte}
	d.Start = s.position(at.Start)
	d.End = s.position(at.End)
	if n, ok := s.nav.(interface{ ContextString(offset int) string }); ok {
		d.context = escape(n.ContextString(at.Start.Byte))
	}
	*s.diags = append(*s.diags, d)
}

// adopt takes over what the HCL library has to say.
func (s *source) adopt(diags hcl.Diagnostics) {
	for _, d := range diags {
		at := hcl.Range{Filename: s.name, Start: hcl.InitialPos, End: hcl.InitialPos}
		if d.Subject != nil {
			at = *d.Subject
		}
		s.fail(at, lowerFirst(d.Summary), d.Detail)
	}
}

func (s *source) position(p hcl.Pos) capability.Position {
	return capability.Position{File: s.name, Line: p.Line, Column: p.Column}
}

// place is a position as text, for details that point elsewhere.
func (s *source) place(at hcl.Range) string {
	return fmt.Sprintf("%s:%d,%d", s.name, at.Start.Line, at.Start.Column)
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
