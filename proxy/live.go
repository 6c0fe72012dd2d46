package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// live is what is under way, to be judged again when the policy changes.
type live struct {
	changes atomic.Int64 // of the policy

	mu        sync.Mutex
	fronts    map[*front]struct{}
	exchanges map[*exchange]struct{}
}

func newLive() *live {
	return &live{fronts: make(map[*front]struct{}), exchanges: make(map[*exchange]struct{})}
}

// Rejudge ends what the policy in force no longer grants: requests whose answers have
// not ended, and connections to endpoints. Config.Policy and the Authority have to know
// the new policy before. What begins meanwhile is judged by it, too.
func (p *Proxy) Rejudge() {
	p.live.changes.Add(1)
	p.live.mu.Lock()
	defer p.live.mu.Unlock()
	for x := range p.live.exchanges {
		x.rejudge()
	}
	for f := range p.live.fronts {
		f.rejudge()
	}
}

// enter makes x one of those that are judged again. begun is the number of changes when
// x was judged first.
func (l *live) enter(x *exchange, begun int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exchanges[x] = struct{}{}
	if l.changes.Load() != begun {
		x.rejudge()
	}
}

func (l *live) leave(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.exchanges, x)
}

func (l *live) open(f *front) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fronts[f] = struct{}{}
}

func (l *live) closed(f *front) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.fronts, f)
}

// stop ends what is under way at a front: a WebSocket is no connection of net/http any
// more.
func (l *live) stop(f *front) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for x := range l.exchanges {
		if of := linkOf(x.r); of != nil && of.front == f {
			x.stop()
		}
	}
}

func (x *exchange) rejudge() {
	if d := x.p.cfg.Policy().Decide(x.q); !d.Allowed() {
		x.interrupt(*denied(d.Reason))
	}
}

// interrupt fails an exchange from outside.
func (x *exchange) interrupt(f failure) {
	x.fail(f)
	x.stop()
}

// limitTime ends x when its time is over; stop ends the limit.
func (x *exchange) limitTime() (stop func() bool) {
	most := x.p.cfg.Limits.Request
	if most == 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(most, func() { x.interrupt(*tooSlow(limitRequest)) }).Stop
}

// interruptible is a context for the way upstream that ends with interrupt.
func (x *exchange) interruptible() context.Context {
	ctx, stop := context.WithCancel(x.r.Context())
	x.stop = stop
	return ctx
}

// rejudge closes links to endpoints that are not granted any more, or to be spoken to
// in another way.
func (f *front) rejudge() {
	f.mu.Lock()
	var over []*link
	for l := range f.links {
		if l.settled.Load() && !l.stands() {
			over = append(over, l)
		}
	}
	f.mu.Unlock()
	for _, l := range over {
		l.Close()
	}
}

// stands reports whether the endpoint that l was admitted to is granted as before.
func (l *link) stands() bool {
	scheme, _ := l.front.p.cfg.Policy().Endpoint(l.host, l.port)
	return scheme == l.granted
}

// settle finds out how the endpoint of l is to be spoken to.
func (l *link) settle() {
	changes := &l.front.p.live.changes
	for {
		before := changes.Load()
		l.granted, _ = l.front.p.cfg.Policy().Endpoint(l.host, l.port)
		if changes.Load() == before {
			break
		}
	}
	l.settled.Store(true)
}
