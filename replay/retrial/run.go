package retrial

import (
	"cmp"
	"fmt"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// hearing is one run.
type hearing struct {
	*Trial
	*history
	sure, most *audit.Meter      // what was surely taken of the limits, and what at most
	open       map[string]*entry // allowed then, by ID, until the outcome
	closed     map[string]*entry // refusals and names, that may be repeated
	grants     map[string]bool   // with a request whose bytes are not on record
}

// entry is a judged request.
type entry struct {
	*request
	finding
}

// Run judges all requests of a run, in their order.
func (t *Trial) Run(run string) error {
	h := &hearing{
		Trial: t, history: newHistory(t.config.Dir, run, t.config.Policy.Name), sure: audit.NewMeter(), most: audit.NewMeter(),
		open: make(map[string]*entry), closed: make(map[string]*entry), grants: make(map[string]bool),
	}
	for r, err := range audit.Records(t.config.Dir, run) {
		if err != nil {
			return fmt.Errorf("judge run %s: %w", run, err)
		}
		t.report.Records++
		h.record(r)
	}
	for _, e := range h.open {
		t.count(e, 1)
	}
	t.report.Runs = append(t.report.Runs, run)
	return nil
}

func (h *hearing) record(r *audit.Record) {
	switch r.Event {
	case audit.RunStarted:
		if h.start = r.Run; h.start != nil {
			h.enacted(h.start.PolicyHash)
		}
	case audit.PolicyChanged:
		if r.Change != nil && r.Change.Refused == "" {
			h.enacted(r.Change.To)
		}
	case audit.Decided:
		h.decision(r)
	case audit.Repeated:
		h.repeated(r)
	case audit.Withdrawn:
		h.withdrawn(r)
	case audit.Ended:
		h.outcome(r)
	case audit.Gap:
		h.lost(r.Count)
	case audit.SegmentsDropped:
		if r.Log != nil {
			h.lost(r.Log.Before)
		}
	}
}

func (h *hearing) enacted(hash string) {
	h.enact(hash)
	if h.policies[hash] == nil {
		h.note("run %s: the policy that judged cannot be read from beside the log, or names files that are not what they were: less is known of what it allowed", h.run)
	}
}

func (h *hearing) lost(n int64) {
	h.count(&entry{&request{Record: &audit.Record{}}, depends(nil, Lost)}, n)
}

func (h *hearing) decision(r *audit.Record) {
	q := h.request(r, h.config.Version)
	role, known := h.role(r)
	var f finding
	switch {
	case !known && r.Kind != string(capability.KindTool):
		f = depends(nil, Lost)
	default:
		f = h.judge(q, role)
	}
	if r.Kind == string(capability.KindTool) && r.Tool != nil {
		h.calls[r.ID] = r.Tool.Role
	}
	e := &entry{q, f}
	h.limit(e, 1)
	if q.permitted && r.Kind == string(capability.KindHTTP) {
		h.open[r.ID] = e
		return
	}
	h.closed[r.ID] = e
	h.count(e, 1)
}

// limit applies the limits of the grant. What is undecided counts against what was taken
// at most.
func (h *hearing) limit(e *entry, n int64) {
	if e.answer == no || e.grant == nil || e.Kind != string(capability.KindHTTP) && e.Kind != string(capability.KindName) {
		return
	}
	ask := e.plain()
	low := ""
	if e.answer == yes {
		low = h.sure.Take(ask, e.grant, e.Time)
	}
	high := h.most.Take(ask, e.grant, e.Time)
	switch {
	case low != "":
		e.answer, e.reason, e.limit = no, capability.LimitExceeded, low
	case high != "" && e.answer == yes:
		e.finding = depends(e.grant, Earlier)
		e.limit = high
	case !e.permitted && e.Kind == string(capability.KindHTTP) && bytesLimited(e.grant) && !h.grants[e.grant.Name]:
		h.grants[e.grant.Name] = true
		h.note("run %s: what refused requests under grant %q would have moved is not on record and does not count against its upload, download and misses", h.run, e.grant.Name)
	}
}

func bytesLimited(g *capability.Grant) bool {
	return g.Limits.Upload > 0 || g.Limits.Download > 0 || g.Limits.Misses > 0
}

// repeated: more requests like one that is on record, without times of their own.
func (h *hearing) repeated(r *audit.Record) {
	e := h.closed[r.Decision]
	if e == nil || e.Kind != string(capability.KindHTTP) || e.answer == no && e.reason != capability.LimitExceeded {
		if e == nil {
			e = &entry{&request{Record: r}, depends(nil, Lost)}
		}
		h.count(e, r.Count)
		return
	}
	if e.grant != nil && e.grant.Limits.Rate.Requests > 0 {
		h.count(&entry{e.request, depends(e.grant, Times)}, r.Count)
		return
	}
	again := *e
	for range min(r.Count, 1_000_000) {
		if again.answer == yes {
			h.limit(&again, 1)
		}
		h.count(&again, 1)
	}
}

// withdrawn: the request was denied after all, because its record came too late.
func (h *hearing) withdrawn(r *audit.Record) {
	if e := h.open[r.Decision]; e != nil {
		delete(h.open, r.Decision)
		e.permitted = false
		e.finding = finding{reason: capability.AuditUnavailable, grant: e.grant}
		h.count(e, 1)
	}
}

// outcome is what an allowed request came to: where it led, and how much it moved.
func (h *hearing) outcome(r *audit.Record) {
	e := h.open[r.Decision]
	if e == nil {
		return
	}
	delete(h.open, r.Decision)
	if e.answer != no && e.grant != nil {
		h.measure(e, r)
	}
	h.count(e, 1)
}

func (h *hearing) measure(e *entry, r *audit.Record) {
	g := e.grant
	if reason := reached(r.Upstream, g); reason != capability.Granted {
		e.answer, e.reason = no, reason
		return
	}
	high := h.most.Spend(g, r.Sent, r.Received)
	low := e.answer == yes && h.sure.Spend(g, r.Sent, r.Received)
	switch {
	case e.answer == yes && !low:
		e.answer, e.reason, e.limit = no, capability.LimitExceeded, overrun(g, r)
	case e.answer == yes && !high:
		e.finding = depends(g, Earlier)
	}
	if r.Status == 404 || r.Status == 410 {
		h.most.Miss(g)
		if e.answer == yes {
			h.sure.Miss(g)
		}
	}
}

// overrun names the limit that a transfer went over.
func overrun(g *capability.Grant, r *audit.Record) string {
	if g.Limits.Upload > 0 && (g.Limits.Download == 0 || r.Sent > r.Received) {
		return "upload"
	}
	return "download"
}

// count puts n requests like e into the report.
func (t *Trial) count(e *entry, n int64) {
	t.report.Requests += n
	switch {
	case e.answer == maybe:
		t.group(&t.report.Undecidable, e, n)
	case e.answer == yes && !e.permitted:
		t.group(&t.report.NewlyAllowed, e, n)
	case e.answer == no && e.permitted:
		t.group(&t.report.NewlyDenied, e, n)
	case e.permitted:
		t.report.Unchanged.Allowed += n
	default:
		t.report.Unchanged.Denied += n
	}
}

// group counts by grant: the one of the new policy, or the old one's that no longer takes
// the request.
func (t *Trial) group(c *Change, e *entry, n int64) {
	c.Count += n
	name, position := "", ""
	switch {
	case e.answer == no:
		name, position = e.Grant, e.Position
	case e.finding.grant != nil:
		name, position = e.finding.grant.Name, e.finding.grant.Position.String()
		if e.finding.allow != nil {
			position = e.finding.allow.Position.String()
		}
	}
	why := fmt.Sprint(e.missing)
	if e.answer == no {
		why = string(e.reason) + " " + e.finding.limit
	}
	key := fmt.Sprint(e.answer, "\n", e.permitted, "\n", name, "\n", cmp.Or(position, "-"), "\n", why)
	g := t.groups[key]
	if g == nil {
		g = &Group{Grant: name, Position: position, Missing: e.missing, Example: exampleOf(e)}
		t.groups[key] = g
		c.Groups = append(c.Groups, g)
	}
	g.Count += n
}
