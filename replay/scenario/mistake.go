package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A Mistake is what is wrong with a file, and where.
type Mistake struct {
	File         string `json:"file"`
	Line, Column int
	Summary      string `json:"summary"`
	Detail       string `json:"detail,omitempty"` // how it is written correctly
}

// String is one line.
func (m Mistake) String() string {
	s := fmt.Sprintf("%s:%d,%d: %s", m.File, m.Line, m.Column, m.Summary)
	if m.Detail != "" {
		s += "; " + m.Detail
	}
	return s
}

// Mistakes are all of them, in the order of the files. They are an error.
type Mistakes []Mistake

// Error is the mistakes, one a line.
func (ms Mistakes) Error() string {
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

// mistakes are hcl's errors in our words.
func mistakes(diags hcl.Diagnostics) (out Mistakes) {
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		m := Mistake{Summary: lowered(strings.TrimSuffix(d.Summary, ".")), Detail: lowered(strings.TrimSuffix(d.Detail, "."))}
		if d.Subject != nil {
			m.File, m.Line, m.Column = d.Subject.Filename, d.Subject.Start.Line, d.Subject.Start.Column
		}
		// A block with for_each has its mistake once for each key.
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

func lowered(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
