// Package report makes of the logs of runs one page for a reviewer: what was done under
// which grant, what was refused and why, what was not in force, and whether the logs
// prove it.
//
//	r, err := report.Make(sources, report.Config{Now: time.Now(), Grants: grants, Verify: verify})
//	if err != nil {
//		return err
//	}
//	return r.WriteHTML(file)
//
// Guarantees: records are read once and one at a time, and what is kept of them is
// bounded, whatever they hold: a log of any length takes the memory of its causes and
// grants. The page refers to nothing outside itself, has no script, and its Content
// Security Policy forbids both. Every text of a log is made printable, cut and escaped.
//
// Non-guarantees: the page is as true as the log. It says whether the log was verified,
// and against what; it is not itself signed. Causes beyond a bound are counted, not
// listed.
package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// Source is the log of one run.
type Source struct{ Dir, Run string }

// State says what is known of a log.
type State string

// The states of a log, the best first.
const (
	Verified   State = "verified"
	Unverified State = "not verified" // nothing contradicts it, and nothing proves it
	Failed     State = "failed"       // it was changed, or a part is missing
)

// Proof is the state of the log of one run.
type Proof struct {
	State State
	Head  string // what it was verified against
	Why   string // when it is not verified
}

// Config says what a report needs besides the logs. Functions may be nil.
type Config struct {
	Now     time.Time
	Scupper string // version

	// Policy replaces the policies of the runs in what is said of grants; nil: theirs.
	Policy []*capability.Grant
	// Grants reads the grants of a role from a policy text; path is where it stood.
	Grants func(path, role string, text []byte) ([]*capability.Grant, error)
	// Smallest writes the smallest grants that would permit what was refused; empty: none
	// would, or it is not known.
	Smallest func(refused []*audit.Record) string
	// Verify says whether the log of a run is whole.
	Verify func(dir, run string) Proof
	// Wants leaves out records; nil: all count.
	Wants func(*audit.Record) bool
}

// Report is what the page says. All its texts are safe to show.
type Report struct {
	Made    time.Time
	Scupper string
	From    time.Time // of the first record
	To      time.Time // of the last

	Verdict   Verdict
	Proof     Proof // the worst of the runs', or what they have in common
	Attention []Attention
	Totals    Totals

	Runs        []*Run
	OtherRuns   int64
	Controls    []Control
	Grants      []*Grant
	NoPolicy    string // why the grants are only those of the records
	Causes      []*Reason
	Plot        Plot
	Credentials []*Credential
	Foreign     []*Foreign
	Derived     []Derived
	Changes     []Change
	Overrides   []Override
	Tools       []*Tool
}

// Totals are over all runs.
type Totals struct {
	Runs, Requests, Refused, Sent, Received int64
	Allowed                                 int64 // HTTP requests
	Calls                                   int64 // of tools, refused or not
	Causes                                  int
	Granted, Used                           int // grants
}

// Run is one line about a run.
type Run struct {
	ID, Command, Policy, Hash, Scupper, User, Role string

	Start, End        time.Time
	Requests, Refused int64
	Sent, Received    int64
	Records           int64
	Ended             string // how
	Proof             Proof
}

// Head is what the log was verified against, without the run's own name.
func (r *Run) Head() string { return strings.TrimPrefix(r.Proof.Head, r.ID+":") }

// Took is how long the run lasted.
func (r *Run) Took() time.Duration { return r.End.Sub(r.Start) }

// Control is something that holds a sandbox, in a number of runs.
type Control struct {
	Name, Detail string
	InForce      bool
	Asked        bool // that it is not in force is nobody's wish
	Runs         int
}

// Derived is a grant that the policy does not spell out.
type Derived struct{ Grant, From, Position string }

// Change is a new policy in the course of a run.
type Change struct {
	Run, From, To, Refused, Note string
	Time                         time.Time
}

// Override is something the operator set for one run.
type Override struct{ Run, Text string }

// Make reads the logs and makes the report. An error is about a log that cannot be read
// at all; one that is damaged is reported on as far as it can be read.
func Make(sources []Source, c Config) (*Report, error) {
	col := newCollector(c)
	for _, s := range sources {
		if err := col.run(s); err != nil {
			return nil, err
		}
	}
	return col.report(), nil
}

// report finishes what was collected.
func (c *collector) report() *Report {
	r := &Report{
		Made: c.Now.UTC(), Scupper: clean(c.Scupper, maxWord), From: c.from, To: c.to,
		OtherRuns: c.otherRuns, Runs: c.runs, Controls: c.sortedControls(), NoPolicy: c.noPolicy,
		Changes: c.changes, Overrides: c.overrides, Derived: c.derived,
	}
	r.Grants = c.grants.rows(c.Now)
	r.Causes = c.causes.reasons(c.Smallest)
	r.Plot = c.grants.plot()
	r.Credentials = c.credentials.sorted()
	r.Foreign = slices.DeleteFunc(c.foreign.sorted(), func(f *Foreign) bool { return f.Requests == 0 })
	r.Tools = slices.DeleteFunc(c.tools.sorted(), func(t *Tool) bool { return t.Calls == 0 })
	r.Totals = c.totals
	for _, reason := range r.Causes {
		r.Totals.Causes += len(reason.Causes)
		if reason.Others > 0 {
			r.Totals.Causes++
		}
	}
	for _, g := range r.Grants {
		if g.Listed {
			r.Totals.Granted++
		}
		if g.Requests > 0 {
			r.Totals.Used++
		}
	}
	for _, t := range r.Tools {
		r.Totals.Calls += t.Calls
	}
	r.Proof = overall(c.runs, c.worst)
	r.Attention = r.attention(c)
	r.Verdict = r.verdict()
	return r
}

// overall is the worst proof; when all are verified, the newest head.
func overall(runs []*Run, worst Proof) Proof {
	if worst.State == Verified && len(runs) > 0 {
		return runs[len(runs)-1].Proof
	}
	return worst
}

func (c *collector) sortedControls() []Control {
	out := make([]Control, 0, len(c.controls))
	for k, n := range c.controls {
		k.Runs = n
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b Control) int {
		if a.InForce != b.InForce {
			return compareBool(a.InForce, b.InForce)
		}
		return cmp.Or(compareBool(b.Asked, a.Asked), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Detail, b.Detail))
	})
	return out
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
