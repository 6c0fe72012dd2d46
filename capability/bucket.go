package capability

import (
	"sync"
	"time"
)

// Bucket holds to a rate: it permits as many at once as the rate has in its time, and
// then evenly. It is safe for concurrent use. The zero Rate permits everything.
type Bucket struct {
	rate Rate

	mu     sync.Mutex
	tokens float64
	filled time.Time
}

// NewBucket makes a full Bucket.
func NewBucket(r Rate) *Bucket { return &Bucket{rate: r, tokens: float64(r.Requests)} }

// Take counts one, or is false when the rate is exceeded.
func (b *Bucket) Take(now time.Time) bool {
	if b.rate.Requests <= 0 || b.rate.Per <= 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.filled.IsZero() && now.After(b.filled) {
		gained := float64(b.rate.Requests) * float64(now.Sub(b.filled)) / float64(b.rate.Per)
		b.tokens = min(b.tokens+gained, float64(b.rate.Requests))
	}
	b.filled = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
