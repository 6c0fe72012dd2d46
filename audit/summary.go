package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"scupper.dev/scupper/capability"
)

// maxCauses is the number of causes that a summary lists.
const maxCauses = 1000

// Summary is what a run did.
type Summary struct {
	Run      string     `json:"run"`
	Exit     int        `json:"exit"`            // code of the child
	Requests int64      `json:"requests"`        // HTTP requests, allowed or refused
	Calls    int64      `json:"calls,omitempty"` // of tools that were allowed
	Refused  int64      `json:"refused"`         // refusals of every kind, HTTP or not
	Sent     int64      `json:"sent"`            // bytes to all upstreams
	Received int64      `json:"received"`
	Records  int64      `json:"records"`
	Took     int64      `json:"took"` // nanoseconds
	Grants   []GrantUse `json:"grants"`
	Causes   []Cause    `json:"causes"`           // of refusals, most frequent first
	Others   int64      `json:"others,omitempty"` // refusals whose cause is not listed
	Limits   []Reached  `json:"limits,omitempty"` // of the run that the command came up against

	Head       string   `json:"head,omitempty"`         // of the log, as ParseHead reads it
	Unanchored []string `json:"unanchored,omitempty"`   // anchors that did not take the newest head, and why
	NotInForce []string `json:"not_in_force,omitempty"` // controls over requests that this run did without
}

// GrantUse is what was done under one grant.
type GrantUse struct {
	Grant    string `json:"grant"`
	Requests int64  `json:"requests"`
	Sent     int64  `json:"sent"`
	Received int64  `json:"received"`
}

// Cause is what a number of equal refusals have in common. Its texts are safe on a
// terminal.
type Cause struct {
	ID     string `json:"id"` // of the first
	Count  int64  `json:"count"`
	What   string `json:"what"` // was asked
	Reason string `json:"reason"`
	Detail string `json:"detail"` // what did not match
}

type totals struct {
	mu                        sync.Mutex
	requests, refused, others int64
	calls                     int64 // of tools that were allowed
	grants                    map[string]*GrantUse
	causes                    []*Cause
	limits                    []Reached
}

func newTotals() *totals { return &totals{grants: make(map[string]*GrantUse)} }

func (t *totals) grant(name string) *GrantUse {
	u := t.grants[name]
	if u == nil {
		u = &GrantUse{Grant: name}
		t.grants[name] = u
	}
	return u
}

func (t *totals) allowed(r *capability.Request, d capability.Decision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Kind == capability.KindTool {
		t.calls++
	}
	if r.Kind != capability.KindHTTP {
		return
	}
	t.requests++
	t.grant(d.Grant.Name).Requests++
}

// newCause lists a cause that had no like before; it is not yet counted. It is
// nil when the list is full.
func (t *totals) newCause(rec *Record) *Cause {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.causes) >= maxCauses {
		return nil
	}
	f := &Cause{ID: rec.ID, Reason: rec.Reason, What: Printable(asked(rec)), Detail: Printable(rec.Mismatch)}
	t.causes = append(t.causes, f)
	return f
}

func (t *totals) denied(kind capability.Kind, f *Cause, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused += n
	if kind == capability.KindHTTP {
		t.requests += n
	}
	if f == nil {
		t.others += n
		return
	}
	f.Count += n
}

func (t *totals) finished(d capability.Decision, o capability.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.grant(d.Grant.Name)
	u.Sent += o.Sent
	u.Received += o.Received
}

func (t *totals) summary(run string, records int64, took time.Duration) Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Summary{Run: run, Requests: t.requests, Calls: t.calls, Refused: t.refused, Records: records, Took: took.Nanoseconds(), Others: t.others, Grants: []GrantUse{}, Causes: []Cause{}, Limits: slices.Clone(t.limits)}
	for _, name := range slices.Sorted(maps.Keys(t.grants)) {
		u := *t.grants[name]
		s.Grants = append(s.Grants, u)
		s.Sent += u.Sent
		s.Received += u.Received
	}
	for _, f := range t.causes {
		s.Causes = append(s.Causes, *f)
	}
	slices.SortStableFunc(s.Causes, func(a, b Cause) int { return cmp.Compare(b.Count, a.Count) })
	return s
}

// asked says in one line what a request was.
func asked(rec *Record) string {
	if t := rec.Tool; t != nil {
		return t.asked()
	}
	host := cmp.Or(rec.Host, rec.Address)
	if host == "" {
		return strings.Join(strings.Fields(rec.Kind+" "+rec.Protocol+" "+rec.Excerpt), " ")
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	at := host
	if rec.Port != 0 {
		at = fmt.Sprintf("%s:%d", host, rec.Port)
	}
	switch capability.Kind(rec.Kind) {
	case capability.KindName:
		return strings.TrimSpace("look up " + host + " " + rec.Protocol)
	case capability.KindConnect:
		return "connect to " + at
	case capability.KindPacket:
		return strings.TrimSpace("send "+rec.Protocol+" packet") + " to " + at
	}
	if capability.Scheme(rec.Scheme).DefaultPort() == rec.Port {
		at = host
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s://%s%s", rec.Method, cmp.Or(rec.Scheme, "http"), at, rec.Path))
}
