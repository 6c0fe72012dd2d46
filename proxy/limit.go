package proxy

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"scupper.dev/scupper/capability"
)

// The limits of connections, as policies and records name them.
const (
	limitHeaderBytes = "header_bytes"
	limitHeaderCount = "header_count"
	limitHeaderTime  = "header_time"
	limitURL         = "url_bytes"
	limitQuery       = "query_pairs"
	limitBody        = "body_time"
	limitRequest     = "request_time"
	limitHandshakes  = "handshakes"
)

// statusOver answers what exceeds a limit of connections; 0: the reason says it.
func statusOver(limit string) int {
	switch limit {
	case limitHeaderBytes, limitHeaderCount:
		return http.StatusRequestHeaderFieldsTooLarge
	case limitURL, limitQuery:
		return http.StatusRequestURITooLong
	case limitHeaderTime, limitBody, limitRequest:
		return http.StatusRequestTimeout
	}
	return 0
}

// tooLarge is a head over limit.
func tooLarge(limit string) violation {
	return violation{reason: capability.MalformedRequest, limit: limit}
}

// tooSlow is a request over a limit of time.
func tooSlow(limit string) *failure {
	f := denied(capability.TooSlow)
	f.limit = limit
	return f
}

// overLong holds the target of a request to its limits.
func (l *Limits) overLong(req *capability.Request, target string) capability.Reason {
	_, query, _ := strings.Cut(target, "?")
	switch {
	case len(target) > l.URLBytes || len(query) > capability.MaxQuery:
		req.Limit = limitURL
		return capability.MalformedPath
	case strings.Count(query, "&") >= l.QueryPairs:
		req.Limit = limitQuery
		return capability.MalformedQuery
	}
	return capability.Granted
}

// Rate is so many in a time. As a limit it permits that many at once, and then evenly.
type Rate struct {
	Count int
	Per   time.Duration
}

// bucket holds to a rate.
type bucket struct {
	rate Rate

	mu     sync.Mutex
	tokens float64
	filled time.Time
}

func newBucket(r Rate) *bucket { return &bucket{rate: r, tokens: float64(r.Count)} }

// take is false when the rate is exceeded now.
func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.filled.IsZero() && now.After(b.filled) {
		gained := float64(b.rate.Count) * float64(now.Sub(b.filled)) / float64(b.rate.Per)
		b.tokens = min(b.tokens+gained, float64(b.rate.Count))
	}
	b.filled = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
