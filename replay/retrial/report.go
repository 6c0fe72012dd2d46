package retrial

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"scupper.dev/scupper/audit"
)

// Report says what another policy changes.
type Report struct {
	Runs         []string `json:"runs"`
	Records      int64    `json:"records"`
	Requests     int64    `json:"requests"` // repeated ones included
	Unchanged    Verdicts `json:"unchanged"`
	NewlyAllowed Change   `json:"newly_allowed"`
	NewlyDenied  Change   `json:"newly_denied"`
	Undecidable  Change   `json:"undecidable"`
	Notes        []string `json:"notes,omitempty"`
}

// Verdicts are numbers of requests.
type Verdicts struct {
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
}

// Change is what came out differently, or may.
type Change struct {
	Count  int64    `json:"count"`
	Groups []*Group `json:"groups,omitempty"` // in the order of the log
}

// Group is the requests of one grant with one reason.
type Group struct {
	Grant    string    `json:"grant,omitempty"`    // of the new policy; of newly denied requests, of the old one
	Position string    `json:"position,omitempty"` // in that policy
	Count    int64     `json:"count"`
	Missing  []Missing `json:"missing,omitempty"` // from the log
	Example  Example   `json:"example"`           // the first of them
}

// Example is one request. Asked may hold what the sandbox sent.
type Example struct {
	ID    string `json:"id,omitempty"`
	Asked string `json:"asked,omitempty"`
	Was   string `json:"was,omitempty"` // the reason then
	Is    string `json:"is,omitempty"`  // the reason now
	Limit string `json:"limit,omitempty"`
}

func exampleOf(e *entry) Example {
	x := Example{ID: e.ID, Was: e.Reason, Limit: e.finding.limit}
	if e.ID != "" {
		x.Asked = e.Asked()
	}
	if e.answer != maybe {
		x.Is = string(e.reason)
	}
	return x
}

// Report is what was found so far.
func (t *Trial) Report() *Report { return &t.report }

// Same reports whether every request comes out as it did. Undecidable ones count as the
// same when they are accepted.
func (r *Report) Same(accept bool) bool {
	return r.NewlyAllowed.Count == 0 && r.NewlyDenied.Count == 0 && (accept || r.Undecidable.Count == 0)
}

// Text writes the report for people. Nothing in it acts on a terminal.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests of %d runs judged again\n\n", r.Requests, len(r.Runs))
	fmt.Fprintf(&b, "%10d unchanged (%d allowed, %d denied)\n", r.Unchanged.Allowed+r.Unchanged.Denied, r.Unchanged.Allowed, r.Unchanged.Denied)
	r.NewlyAllowed.text(&b, "newly allowed")
	r.NewlyDenied.text(&b, "newly denied")
	r.Undecidable.text(&b, "undecidable from the log")
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\nnote: %s\n", audit.Printable(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Change) text(b *strings.Builder, heading string) {
	fmt.Fprintf(b, "%10d %s\n", c.Count, heading)
	for _, g := range c.Groups {
		fmt.Fprintf(b, "%14d %s%s\n", g.Count, g.title(), g.why())
		if g.Example.ID != "" {
			fmt.Fprintf(b, "               e.g. %s (%s)\n", audit.Printable(g.Example.Asked), audit.Printable(g.Example.ID))
		}
	}
}

func (g *Group) title() string {
	if g.Grant == "" {
		return "no grant"
	}
	return strings.TrimSpace(fmt.Sprintf("grant %q %s", audit.Printable(g.Grant), audit.Printable(g.Position)))
}

func (g *Group) why() string {
	x := g.Example
	switch {
	case len(g.Missing) > 0:
		missing := make([]string, len(g.Missing))
		for i, m := range g.Missing {
			missing[i] = string(m)
		}
		return ": not on record: " + strings.Join(missing, ", ")
	case x.Limit != "":
		return fmt.Sprintf(": %s (%s), was %s", audit.Printable(x.Is), x.Limit, audit.Printable(cmp.Or(x.Was, "allowed")))
	}
	return fmt.Sprintf(": %s, was %s", audit.Printable(x.Is), audit.Printable(x.Was))
}
