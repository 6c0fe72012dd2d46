package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"scupper.dev/scupper/audit"
)

// auditFilter says which records are wanted. Empty fields want all.
type auditFilter struct {
	OfRun   []string `name:"run" placeholder:"ID" help:"Only of this run."`
	Grant   []string `placeholder:"NAME" help:"Only under this grant, or refused nearest to it."`
	Host    []string `placeholder:"HOST" help:"Only this host or address; *.example.com is everything below it."`
	Reason  []string `placeholder:"REASON" help:"Only with this reason, as refusals name it."`
	Verdict string   `enum:",allow,deny" default:"" placeholder:"allow|deny" help:"Only what was allowed, or only what was denied."`
	Since   string   `placeholder:"TIME" help:"Not before: 2026-11-30, 2026-11-30T12:00:00Z, or 90m, 24h, 7d for so long ago."`
	Until   string   `placeholder:"TIME" help:"Before: likewise."`
}

// selection is a filter at work on the records of one run after another. What belongs
// to a decision is wanted when the decision is.
type selection struct {
	*auditFilter
	since, until time.Time
	wanted       map[string]bool // decisions of the run
}

func (f *auditFilter) selection(now time.Time) (*selection, error) {
	since, err := moment(f.Since, now)
	if err != nil {
		return nil, usageError("--since", err)
	}
	until, err := moment(f.Until, now)
	if err != nil {
		return nil, usageError("--until", err)
	}
	return &selection{auditFilter: f, since: since, until: until}, nil
}

func usageError(flag string, err error) error {
	return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", flag, err), hint: "a date, a time with zone, or how long ago: --since 2026-11-30, --since 2026-11-30T12:00:00Z, --since 90m, --since 7d"}
}

// moment reads a time; the empty text is the zero time.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is no time", text)
}

// begin is called before the records of a run; it is false when the run is not wanted.
func (s *selection) begin(run string) bool {
	s.wanted = make(map[string]bool)
	return len(s.OfRun) == 0 || slices.Contains(s.OfRun, run)
}

// narrows reports whether only decisions, and what belongs to them, can be wanted.
func (s *selection) narrows() bool {
	return len(s.Grant) > 0 || len(s.Host) > 0 || s.Verdict != ""
}

// wants reports whether r is wanted.
func (s *selection) wants(r *audit.Record) bool {
	switch {
	case r.Event == audit.Decided:
		if !s.matches(r) {
			return false
		}
		if s.narrows() || len(s.Reason) > 0 {
			s.wanted[r.ID] = true
		}
	case r.Decision != "" && (s.narrows() || len(s.Reason) > 0):
		if !s.wanted[r.Decision] {
			return false
		}
	case s.narrows() || len(s.Reason) > 0 && !slices.Contains(s.Reason, r.Reason):
		return false
	}
	return !r.Time.Before(s.since) && (s.until.IsZero() || r.Time.Before(s.until))
}

func (s *selection) matches(r *audit.Record) bool {
	return (len(s.Grant) == 0 || slices.Contains(s.Grant, r.Grant)) &&
		(len(s.Host) == 0 || slices.ContainsFunc(s.Host, func(pattern string) bool { return hostMatches(pattern, r) })) &&
		(len(s.Reason) == 0 || slices.Contains(s.Reason, r.Reason)) &&
		(s.Verdict == "" || s.Verdict == r.Verdict)
}

func hostMatches(pattern string, r *audit.Record) bool {
	if zone, ok := strings.CutPrefix(pattern, "*"); ok && strings.HasPrefix(zone, ".") {
		return strings.HasSuffix(r.Host, strings.ToLower(zone))
	}
	return strings.EqualFold(pattern, r.Host) || pattern == r.Address
}
