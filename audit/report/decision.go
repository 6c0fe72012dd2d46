package report

import (
	"slices"
	"strconv"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

func seqOf(id string) int64 {
	n, _ := strconv.ParseInt(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	return n
}

func (c *collector) decided(r *audit.Record) {
	e := c.refer(r)
	if e.allowed && e.http {
		c.used(r)
	}
	c.refs[r.Seq] = e
	c.count(e, r, max(1, r.Count))
}

// refer is what later records need of a decision.
func (c *collector) refer(r *audit.Record) ref {
	e := ref{allowed: r.Verdict == "allow", http: r.Kind == string(capability.KindHTTP)}
	if r.Grant != "" {
		e.grant = c.grants.named(r.Grant)
	}
	if r.Kind == string(capability.KindTool) && r.Tool != nil {
		e.tool = c.tools.get(clean(r.Tool.Name, maxWord))
	}
	if !e.allowed {
		e.cause, e.example = c.causes.of(r)
		e.foreign = c.foreigners(r)
	}
	return e
}

// repeated counts n more requests like that of the decision that r belongs to.
func (c *collector) repeated(r *audit.Record, n int64) {
	if e, ok := c.refs[seqOf(r.Decision)]; ok {
		c.count(e, r, n)
		return
	}
	c.causes.unknown += n
}

// count adds n requests, or takes them back when n is negative.
func (c *collector) count(e ref, r *audit.Record, n int64) {
	if e.tool != nil {
		e.tool.count(e, n, r)
	}
	if e.http {
		c.totals.Requests += n
		c.now.Requests += n
		if e.allowed {
			c.totals.Allowed += n
		}
	}
	if e.grant != nil {
		e.grant.count(e, n, r)
	}
	if !e.allowed {
		c.totals.Refused += n
		c.now.Refused += n
		e.cause.count(e.example, r.Time, n)
		for _, f := range e.foreign {
			f.Requests += n
			f.span(r.Time)
		}
	}
}

// withdrawn turns an allowing decision into a denial: its record was late.
func (c *collector) withdrawn(r *audit.Record) {
	seq := seqOf(r.Decision)
	e, ok := c.refs[seq]
	if !ok || !e.allowed {
		return
	}
	c.count(e, r, -1)
	e.allowed = false
	late := &audit.Record{Event: audit.Decided, ID: r.Decision, Seq: seq, Time: r.Time, Kind: string(capability.KindHTTP), Verdict: "deny", Reason: string(capability.AuditUnavailable)}
	e.cause, e.example = c.causes.of(late)
	e.grant = nil
	c.refs[seq] = e
	c.count(e, late, 1)
}

func (c *collector) outcome(r *audit.Record) {
	c.totals.Sent += r.Sent
	c.totals.Received += r.Received
	c.now.Sent += r.Sent
	c.now.Received += r.Received
	if r.Grant != "" {
		c.grants.sent(c.grants.named(r.Grant), r)
	}
	seq := seqOf(r.Decision)
	if e, ok := c.refs[seq]; ok && e.allowed {
		if e.tool != nil {
			e.tool.finished(r)
		}
		delete(c.refs, seq) // nothing comes after an outcome, so that a long run stays small
	}
}

func (c *collector) used(r *audit.Record) {
	if r.Bound == "" {
		return
	}
	k := c.credentials.get(clean(r.Bound, maxWord))
	k.Requests++
	k.Grants.add(clean(r.Grant, maxWord))
	k.Hosts.add(clean(r.Host, maxWord))
	k.span(r.Time)
}

// foreigners are the places in which a refused request carried credentials.
func (c *collector) foreigners(r *audit.Record) []*Foreign {
	var out []*Foreign
	for _, f := range r.Foreign {
		k := c.foreign.get(clean(f.In+" "+f.Name, maxWord))
		k.Hosts.add(clean(r.Host, maxWord))
		k.Fingerprints.add(clean(f.Fingerprint, maxWord))
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}
