package audit

import (
	"strings"
	"sync"

	"scupper.dev/scupper/capability"
)

const (
	maxRepeats = 8192 // requests that are remembered for aggregation
	maxPackets = 50   // different packets between two flushes; the others are counted together
)

// likeness is what makes two requests equal for the log.
type likeness struct {
	kind             capability.Kind
	verdict          bool
	reason           capability.Reason
	host             string
	port             uint16
	method, path     string
	protocol, detail string
	policy           string // hash of the one that judged
	limit            string // of the run
	call             string // the tool call that asked
	shape            string // of a refused request: what else a grant would have to name
}

func likenessOf(j judged) likeness {
	r, d := j.r, j.d
	k := likeness{
		policy: j.policy.hash, limit: r.Limit, call: j.callID(),
		kind: r.Kind, verdict: d.Allowed(), reason: d.Reason, host: string(r.Host), port: r.Port,
		method: escaped(r.Method, maxWord), path: capped(r.Path.Shown(), maxPath), detail: escaped(r.Excerpt, maxExcerpt),
	}
	if k.host == "" && r.Address.IsValid() {
		k.host = capped(r.Address.String(), maxName)
	}
	if r.Kind == capability.KindPacket {
		k.protocol = r.Protocol
	}
	if r.Kind == capability.KindTool {
		k.shape = toolShape(r)
	}
	if r.Kind == capability.KindHTTP && !d.Allowed() {
		k.shape = shapeOf(r)
	}
	return k
}

// shapeOf is the names of the parameters and the type of the body: a grant for one shape
// would not permit the other.
func shapeOf(r *capability.Request) string {
	var b strings.Builder
	for _, p := range r.Query[:min(len(r.Query), maxParameters)] {
		b.WriteString(escaped(p.Name, maxName) + "\n")
	}
	if r.Body.Present {
		b.WriteString(escaped(r.Body.Type, maxName) + "\n" + escaped(r.Body.Encoding, maxWord))
	}
	return b.String()
}

// repeats remembers which requests are on record already.
type repeats struct {
	mu      sync.Mutex
	known   map[likeness]*repeat
	dirty   []*repeat // those with a count
	packets int       // new ones since the last flush
}

// repeat is one request on record, and how often its like has come since.
type repeat struct {
	recorded chan struct{}       // closed when decision is set
	decision capability.Decision // of the first
	cause    *Cause              // in the totals; nil when the decision allows
	count    int64               // not yet in the log
}

func newRepeats() *repeats { return &repeats{known: make(map[likeness]*repeat)} }

// enter finds the like of a request; first reports that there is none yet, and that
// the caller has to record it and call settle.
func (s *repeats) enter(k likeness) (e *repeat, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.known[k]; ok {
		return e, false
	}
	if len(s.known) >= maxRepeats {
		clear(s.known)
	}
	e = &repeat{recorded: make(chan struct{})}
	s.known[k] = e
	return e, true
}

// settle makes d, the recorded decision, that of all who enter with the same
// likeness. A decision without an ID is on no record and is forgotten.
func (s *repeats) settle(k likeness, e *repeat, d capability.Decision, cause *Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.decision, e.cause = d, cause
	if d.ID == "" && s.known[k] == e {
		delete(s.known, k)
	}
	close(e.recorded)
}

func (s *repeats) add(e *repeat, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.count == 0 {
		s.dirty = append(s.dirty, e)
	}
	e.count += n
}

// admitPacket reports whether one more packet may have a record of its own now.
func (s *repeats) admitPacket(k likeness) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[k]; ok {
		return true
	}
	s.packets++
	return s.packets <= maxPackets
}

// flush writes a counted record for each request that was repeated.
func (s *repeats) flush(write func(*Record) error) {
	s.mu.Lock()
	dirty := s.dirty
	s.dirty, s.packets = nil, 0
	records := make([]*Record, len(dirty))
	for i, e := range dirty {
		records[i] = &Record{Event: Repeated, Decision: e.decision.ID, Count: e.count}
		e.count = 0
	}
	s.mu.Unlock()
	for i, rec := range records {
		if write(rec) != nil {
			s.add(dirty[i], rec.Count)
		}
	}
}
