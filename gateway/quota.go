package gateway

import (
	"sync"

	"scupper.dev/scupper/capability"
)

// quota counts the calls of each tool in this run. A call that was refused after it was
// counted is given back; one that failed is not.
type quota struct {
	mu   sync.Mutex
	used map[*tool]int64
}

func newQuota() *quota { return &quota{used: make(map[*tool]int64)} }

// take counts the call, or refuses it when the tool has no call left in this run.
func (g *Gateway) take(r *capability.Request, t *tool) *Answer {
	if t.Calls > 0 && !g.quota.take(t) {
		r.Limit = "calls"
		return g.refuse(r, capability.LimitExceeded)
	}
	return nil
}

func (q *quota) take(t *tool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used[t] >= t.Calls {
		return false
	}
	q.used[t]++
	return true
}

func (q *quota) giveBack(t *tool) {
	if t.Calls == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.used[t]--
}
