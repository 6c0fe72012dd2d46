package proxy

import (
	"fmt"
	"sync"
	"sync/atomic"

	"scupper.dev/scupper/capability"
)

// record is one thing the fake authority was told.
type record struct {
	Request  capability.Request
	Decision capability.Decision
	Outcome  *capability.Outcome
}

// ledger is an Authority that keeps everything in memory.
type ledger struct {
	policy atomic.Pointer[capability.Policy]
	upload atomic.Int64 // left; negative: no limit
	down   atomic.Int64

	mu      sync.Mutex
	records []*record
	last    int
	twice   []string // decisions that were finished twice
	changed chan struct{}
}

func newLedger() *ledger {
	l := &ledger{changed: make(chan struct{}, 1)}
	l.upload.Store(1 << 60)
	l.down.Store(1 << 60)
	return l
}

func (l *ledger) note(r *capability.Request, d capability.Decision) capability.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	d.ID = fmt.Sprintf("d-%d", l.last)
	l.records = append(l.records, &record{Request: *r, Decision: d})
	l.wake()
	return d
}

func (l *ledger) wake() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *ledger) Authorize(r *capability.Request) capability.Decision {
	return l.note(r, l.policy.Load().Decide(r))
}

func (l *ledger) Refuse(r *capability.Request, reason capability.Reason) capability.Decision {
	return l.note(r, capability.Deny(reason))
}

func (l *ledger) Spend(_ capability.Decision, sent, received int64) bool {
	return l.upload.Add(-sent) >= 0 && l.down.Add(-received) >= 0
}

func (l *ledger) Finish(d capability.Decision, o capability.Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.records {
		if r.Decision.ID == d.ID {
			if r.Outcome != nil {
				l.twice = append(l.twice, d.ID)
			}
			r.Outcome = &o
		}
	}
	l.wake()
}

// all is a copy of the records.
func (l *ledger) all() []record {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]record, len(l.records))
	for i, r := range l.records {
		out[i] = *r
	}
	return out
}
