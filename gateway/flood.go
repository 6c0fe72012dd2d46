package gateway

import (
	"sync"

	"scupper.dev/scupper/capability"
)

// maxAtOnce is the number of calls that one caller may have under way.
const maxAtOnce = 64

// flood counts what each caller has under way, before anything is known of the tool: the
// guard costs the same for every name.
type flood struct {
	mu   sync.Mutex
	open map[Principal]int
}

func newFlood() *flood { return &flood{open: make(map[Principal]int)} }

// enter makes room for a call, or refuses it. leave is called when it has ended.
func (g *Gateway) enter(r *capability.Request, p Principal) (leave func(), refused *Answer) {
	f := g.flood
	f.mu.Lock()
	full := f.open[p] >= maxAtOnce
	if !full {
		f.open[p]++
	}
	f.mu.Unlock()
	if full {
		hidden := *r
		hidden.Tool.Name, hidden.Limit = "", "calls at once"
		return nil, g.refuse(&hidden, capability.LimitExceeded)
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.open[p]--; f.open[p] == 0 {
			delete(f.open, p)
		}
	}, nil
}
