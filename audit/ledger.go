package audit

import (
	"sync"
	"time"

	"scupper.dev/scupper/capability"
)

// ledger counts, for the run, what each grant has used of its limits.
type ledger struct {
	mu       sync.Mutex
	accounts map[string]*account
}

type account struct {
	requests, sent, received, misses int64
	names                            map[capability.Host]struct{}
	tokens                           float64   // requests that the rate still permits
	filled                           time.Time // when tokens was last brought up to date
}

func newLedger() *ledger { return &ledger{accounts: make(map[string]*account)} }

func (l *ledger) account(g *capability.Grant) *account {
	a := l.accounts[g.Name]
	if a == nil {
		a = &account{names: make(map[capability.Host]struct{}), tokens: float64(g.Limits.Rate.Requests)}
		l.accounts[g.Name] = a
	}
	return a
}

// take counts r against the limits of g, and names the limit that is used up, in
// which case nothing is counted.
func (l *ledger) take(r *capability.Request, g *capability.Grant, now time.Time) (limit string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.account(g)
	if limit := a.name(r.Host, g); limit != "" {
		return limit
	}
	if r.Kind != capability.KindHTTP {
		return ""
	}
	switch at := &g.Limits; {
	case at.Requests > 0 && a.requests >= at.Requests:
		return "requests"
	case at.Upload > 0 && a.sent >= at.Upload:
		return "upload"
	case at.Download > 0 && a.received >= at.Download:
		return "download"
	case at.Misses > 0 && a.misses >= at.Misses:
		return "misses"
	case !a.token(at.Rate, now):
		return "rate"
	}
	a.requests++
	return ""
}

// name counts distinct names under a wildcard: every one of them can carry data to
// whoever answers for the zone.
func (a *account) name(h capability.Host, g *capability.Grant) (limit string) {
	if !g.Host.Wildcard {
		return ""
	}
	if _, known := a.names[h]; known {
		return ""
	}
	most := g.Limits.Names
	if most == 0 {
		most = capability.MaxNames
	}
	if int64(len(a.names)) >= most {
		return "names"
	}
	a.names[h] = struct{}{}
	return ""
}

// token takes one request from a bucket that holds as many as the rate permits in its
// time, and is filled evenly.
func (a *account) token(rate capability.Rate, now time.Time) bool {
	if rate.Requests == 0 || rate.Per <= 0 {
		return true
	}
	if !a.filled.IsZero() && now.After(a.filled) {
		gained := float64(rate.Requests) * float64(now.Sub(a.filled)) / float64(rate.Per)
		a.tokens = min(a.tokens+gained, float64(rate.Requests))
	}
	a.filled = now
	if a.tokens < 1 {
		return false
	}
	a.tokens--
	return true
}

// giveBack takes back a request that was counted but denied after all.
func (l *ledger) giveBack(r *capability.Request, g *capability.Grant) {
	if r.Kind != capability.KindHTTP {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account(g).requests--
}

// spend counts bytes that are about to pass. It is false, and nothing is counted,
// when they would go over a limit of g.
func (l *ledger) spend(g *capability.Grant, sent, received int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, at := l.account(g), &g.Limits
	if at.Upload > 0 && a.sent+sent > at.Upload || at.Download > 0 && a.received+received > at.Download {
		return false
	}
	a.sent += sent
	a.received += received
	return true
}

func (l *ledger) miss(g *capability.Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account(g).misses++
}
