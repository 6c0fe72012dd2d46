package aeb

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Report is what came of all cases.
type Report struct {
	Tool    string         `json:"tool"`
	Cases   int            `json:"cases"`
	Passed  int            `json:"passed"`
	Missed  int            `json:"missed"`  // expected to be blocked, and allowed
	Refused int            `json:"refused"` // expected to be allowed, and blocked
	Excused int            `json:"not_applicable"`
	Excuses map[string]int `json:"not_applicable_reasons,omitempty"`
	Results []Result       `json:"results"`
}

func (r *Report) add(result Result) {
	r.Cases++
	r.Results = append(r.Results, result)
	switch {
	case result.Verdict == notApplicable:
		r.Excused++
		if r.Excuses == nil {
			r.Excuses = make(map[string]int)
		}
		r.Excuses[result.Reason]++
	case result.Verdict == result.Expected:
		r.Passed++
	case result.Expected == Block:
		r.Missed++
	default:
		r.Refused++
	}
}

// Good reports whether every case that applies came out as expected, and one did.
func (r *Report) Good() bool { return r.Missed+r.Refused == 0 && r.Passed > 0 }

// Text writes the report for people. Nothing in it acts on a terminal.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	for _, c := range r.Results {
		if c.Verdict == c.Expected || c.Verdict == notApplicable {
			continue
		}
		fmt.Fprintf(&b, "%s: expected %s, got %s: %s", plain(c.ID), c.Expected, c.Verdict, c.Reason)
		if c.Grant != "" {
			fmt.Fprintf(&b, " by grant %q %s", c.Grant, plain(c.Position))
		}
		if c.Stripped > 0 {
			fmt.Fprintf(&b, ", without %d of its headers", c.Stripped)
		}
		fmt.Fprintf(&b, "\n  %s\n", plain(c.File))
	}
	fmt.Fprintf(&b, "%d cases: %d as expected, %d let through, %d wrongly refused, %d not applicable\n", r.Cases, r.Passed, r.Missed, r.Refused, r.Excused)
	for _, why := range slices.Sorted(maps.Keys(r.Excuses)) {
		fmt.Fprintf(&b, "  not applicable, %s: %d, %s\n", plain(why), r.Excuses[why], r.named(why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// named lists the cases with that excuse.
func (r *Report) named(why string) string {
	var ids []string
	for _, c := range r.Results {
		if c.Verdict == notApplicable && c.Reason == why {
			ids = append(ids, plain(c.ID))
		}
	}
	return strings.Join(ids, " ")
}

// plain is text of a case as a terminal may have it.
func plain(s string) string {
	q := strconv.QuoteToASCII(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
