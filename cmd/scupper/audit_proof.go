package main

import (
	"errors"
	"fmt"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/audit/ocsf"
	"scupper.dev/scupper/audit/report"
)

// stateOf is what verification came to: what holds, or that it failed, or that nothing
// can be said for want of a key.
func stateOf(v *audit.Verified, err error) report.Proof {
	var fault *audit.Fault
	switch {
	case err == nil:
		return report.Proof{State: report.Verified, Head: v.Head, Why: uncovered(v)}
	case errors.As(err, &fault) && !fault.Unreadable:
		return report.Proof{State: report.Failed, Why: err.Error()}
	case errors.Is(err, audit.ErrNoKey):
		return report.Proof{State: report.Unverified, Why: "there is no public key to verify it with: " + err.Error()}
	}
	return report.Proof{State: report.Unverified, Why: err.Error()}
}

// uncovered says what no head covers yet.
func uncovered(v *audit.Verified) string {
	if n := v.Records - v.Sealed; n > 0 {
		return fmt.Sprintf("no head covers the last %s yet", plural(n, "record"))
	}
	return ""
}

// proofOf is the state of a log for a report.
func (a *App) proofOf(dir, run string) report.Proof {
	trust, err := a.trust(nil)
	if err != nil {
		return stateOf(nil, err)
	}
	return stateOf(audit.Verify(dir, run, trust))
}

// proofs proves records of one log.
type proofs struct {
	state report.Proof
	tree  *audit.Inclusions // nil: the log does not verify
}

func (a *App) proofs(l logOf) *proofs {
	trust, err := a.trust(nil)
	if err != nil {
		return &proofs{state: stateOf(nil, err)}
	}
	tree, v, err := audit.Include(l.dir, l.run, trust)
	return &proofs{state: stateOf(v, err), tree: tree}
}

// of is the proof of one line.
func (p *proofs) of(l *audit.Line) *ocsf.Proof {
	out := &ocsf.Proof{State: string(p.state.State), Why: p.state.Why, LeafIndex: l.Seq - 1, LeafHash: audit.LeafHash(l.Bytes)}
	if p.tree == nil {
		return out
	}
	path, ok := p.tree.Of(l.Seq, l.Bytes)
	if !ok {
		out.State, out.Why = string(report.Unverified), "no head covers this record"
		return out
	}
	out.Why, out.TreeSize, out.Inclusion, out.Head = "", p.tree.Head.Size, path, p.tree.Signed
	return out
}

// evidence says whether the record of an explanation is in a log that verifies.
func (a *App) evidence(l logOf, e *audit.Explanation) *audit.Evidence {
	p := a.proofs(l)
	v := &audit.Evidence{State: string(p.state.State), Why: p.state.Why}
	if p.tree == nil {
		return v
	}
	if _, ok := p.tree.Of(e.Seq, e.Record); !ok {
		return &audit.Evidence{State: string(report.Unverified), Why: "no head covers this record"}
	}
	return &audit.Evidence{State: string(report.Verified), Head: p.tree.Head.String()}
}
