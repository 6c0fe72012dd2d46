package proxy

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// pacedBody is the client's body as long as nobody has answered it. It has to come with
// a minimum rate while somebody waits for it: who sends a little now and then would hold
// memory and an upstream connection for good. Once there is an answer a stream may be
// silent for as long as it likes.
type pacedBody struct {
	io.ReadCloser
	x *exchange

	mu      sync.Mutex
	timer   *time.Timer
	reading time.Time     // since when somebody waits; zero: nobody does
	waited  time.Duration // of this window
	got     int64         // bytes in it
	over    bool          // there is an answer, or no need of one
}

// pace puts the body under the limit.
func (x *exchange) pace() {
	b := &pacedBody{ReadCloser: x.r.Body, x: x}
	b.timer = time.AfterFunc(x.p.cfg.Limits.BodyTime, b.look)
	x.r.Body, x.paced = b, b
}

// Read counts the time that passes in it.
func (b *pacedBody) Read(buf []byte) (int, error) {
	b.begin()
	n, err := b.ReadCloser.Read(buf)
	b.end(n)
	if err != nil {
		b.done()
	}
	return n, err
}

func (b *pacedBody) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = time.Now()
}

func (b *pacedBody) end(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waited += time.Since(b.reading)
	b.got += int64(n)
	b.reading = time.Time{}
	b.judge(b.waited)
}

// judge looks at a window when it is full.
func (b *pacedBody) judge(waited time.Duration) {
	limits := &b.x.p.cfg.Limits
	if b.over || waited < limits.BodyTime {
		return
	}
	if float64(b.got) < float64(limits.BodyRate)*waited.Seconds() {
		b.over = true
		b.x.fail(*tooSlow(limitBody))
		// The way to wake up whoever reads; an error means that nobody does any more.
		_ = http.NewResponseController(b.x.w).SetReadDeadline(time.Now().Add(-time.Second))
	}
	b.waited, b.got = 0, 0
}

// look finds a read that waits for too long.
func (b *pacedBody) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	next := b.x.p.cfg.Limits.BodyTime
	if !b.reading.IsZero() {
		waited := b.waited + time.Since(b.reading)
		b.judge(waited)
		if left := next - waited; left > 0 {
			next = left
		}
	}
	if !b.over {
		b.timer.Reset(next)
	}
}

// done ends the limit. No controller of net/http is used afterwards: it is gone with
// the handler.
func (b *pacedBody) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.timer.Stop()
}

// unpaced ends the limit on the body, if there is one.
func (x *exchange) unpaced() {
	if x.paced != nil {
		x.paced.done()
	}
}
