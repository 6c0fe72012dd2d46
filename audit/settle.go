package audit

import (
	"cmp"
	"errors"

	"scupper.dev/scupper/capability"
)

// record writes the record of d and answers d with its ID, or the denial that takes
// its place when there can be no record.
func (g *Guard) record(j judged) (capability.Decision, *Record) {
	d := j.d
	if g.spent() {
		g.overspend()
	}
	if reason := g.Cause(); reason != capability.Undecided {
		return d.Refused(reason), nil
	}
	if !j.call.take() {
		return d.Refused(capability.RecordBudget), nil
	}
	if g.anchors.absent() > 0 || g.sealer.fit() != nil {
		return d.Refused(capability.AuditUnavailable), nil
	}
	rec := describe(j.r, d)
	rec.Call = j.callID()
	rec.Limit = cmp.Or(j.limit, j.r.Limit)
	rec.Placeholder = j.r.Kind == capability.KindHTTP && j.policy.Holds(j.r)
	if g.several.Load() {
		rec.Policy = short(j.policy.hash)
	}
	if !d.Allowed() {
		describeDenial(rec, j.policy.Policy, j.r, d)
		rec.Foreign = g.foreign(j)
	}
	if err := g.log.append(rec); err != nil {
		if errors.Is(err, errClosed) {
			return d.Refused(capability.RunEnded), nil
		}
		return d.Refused(capability.AuditUnavailable), nil
	}
	d.ID = rec.ID
	if d.Allowed() {
		g.totals.allowed(j.r, d)
	}
	return d, rec
}

// overspend ends a run that has used its records, and says so in one last record.
func (g *Guard) overspend() {
	g.overspent.Do(func() {
		_ = g.log.append(&Record{Event: BudgetSpent, Reason: string(capability.RecordBudget)})
		g.end(capability.RecordBudget)
	})
}

// once records the first of equal requests and counts the others, n at a time.
func (g *Guard) once(j judged, n int64) capability.Decision {
	k := likenessOf(j)
	if j.d.Reason == capability.ForeignCredential {
		k.shape += g.places(j)
	}
	e, first := g.repeats.enter(k)
	if !first {
		return g.again(j.r.Kind, e, j.d, n)
	}
	d, rec := g.record(j)
	var f *Cause
	if rec != nil && !d.Allowed() {
		f = g.totals.newCause(rec)
	}
	g.repeats.settle(k, e, d, f)
	if d.ID != "" && n > 1 {
		g.repeats.add(e, n-1)
	}
	if !d.Allowed() {
		g.totals.denied(j.r.Kind, f, n)
	}
	return d
}

// again answers like the first of equal requests was answered.
func (g *Guard) again(kind capability.Kind, e *repeat, d capability.Decision, n int64) capability.Decision {
	<-e.recorded
	if e.decision.ID == "" {
		d = d.Refused(e.decision.Reason)
		g.totals.denied(kind, nil, n)
		return d
	}
	if reason := g.Cause(); d.Allowed() && reason != capability.Undecided {
		return d.Refused(reason)
	}
	if d.Allowed() && max(g.log.unavailable(), g.anchors.absent()) > 0 {
		return d.Refused(capability.AuditUnavailable)
	}
	d.ID = e.decision.ID
	g.repeats.add(e, n)
	if !d.Allowed() {
		g.totals.denied(kind, e.cause, n)
	}
	return d
}
