package audit

import (
	"time"

	"scupper.dev/scupper/capability"
)

// Meter counts what grants use of their limits as the guard of a run does, for whoever
// judges a log again. It is safe for concurrent use.
type Meter struct{ ledger *ledger }

// NewMeter makes the Meter of one run.
func NewMeter() *Meter { return &Meter{newLedger()} }

// Take counts r, made at now, against the limits of g. It names the limit that is used
// up, in which case nothing is counted.
func (m *Meter) Take(r *capability.Request, g *capability.Grant, now time.Time) (limit string) {
	return m.ledger.take(r, g, now)
}

// Spend counts bytes that passed. It is false, and nothing is counted, when they go over
// a limit of g.
func (m *Meter) Spend(g *capability.Grant, sent, received int64) bool {
	return m.ledger.spend(g, sent, received)
}

// Miss counts an answer that says that there is nothing.
func (m *Meter) Miss(g *capability.Grant) { m.ledger.miss(g) }
