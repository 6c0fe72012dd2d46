package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// Bounds of what is kept of refusals. They hold for each reason, so that a flood of one
// kind cannot hide another.
const (
	maxCauses   = 200     // of one reason
	maxExamples = 6       // of one cause
	maxKept     = 8 << 20 // bytes of all examples
)

// Reason is all refusals for one reason.
type Reason struct {
	Name, Sentence string
	Count          int64
	Causes         []*Cause
	Others         int64 // refusals whose cause is not listed
}

// Cause is refusals that one grant would end: to one host and port, nearest to one grant.
type Cause struct {
	To       string
	Count    int64
	Detail   string // what did not match, of the first
	Grant    string // that came nearest
	Position string
	Smallest string // the smallest grants that would permit the examples
	Examples []Example
	More     bool // other requests had this cause than the examples
	Span

	reason   *Reason
	examples []*audit.Record
	times    []int64
	at       map[string]int // index of an example by what was asked
}

// Example is one request of a cause.
type Example struct {
	Asked, ID string
	Count     int64
}

type causeKey struct {
	kind, reason, host string
	port               uint16
	grant, limit       string
}

// causes groups refusals.
type causes struct {
	byReason map[string]*Reason
	byKey    map[causeKey]*Cause
	overflow map[string]*Cause // by reason: stands for those that are not listed
	kept     int
	unknown  int64 // repeats of a decision that is not in the log
}

func newCauses() *causes {
	return &causes{byReason: make(map[string]*Reason), byKey: make(map[causeKey]*Cause), overflow: make(map[string]*Cause)}
}

func (s *causes) reason(name string) *Reason {
	r := s.byReason[name]
	if r == nil {
		if len(s.byReason) >= 100 { // the list is closed; a foreign log may know others
			name = others
			if r = s.byReason[name]; r != nil {
				return r
			}
		}
		r = &Reason{Name: clean(name, maxWord), Sentence: capability.Reason(name).Sentence()}
		s.byReason[name] = r
	}
	return r
}

// of is the cause of a denial, and which of its examples the denial is; -1: none.
func (s *causes) of(rec *audit.Record) (f *Cause, example int) {
	r := s.reason(rec.Reason)
	key := causeKey{rec.Kind, rec.Reason, cmp.Or(rec.Host, rec.Address, toolOf(rec)), rec.Port, rec.Grant, rec.Limit}
	f = s.byKey[key]
	if f == nil {
		if len(r.Causes) >= maxCauses {
			return s.rest(r), -1
		}
		f = &Cause{
			To: clean(to(rec), maxWord), Detail: clean(rec.Mismatch+limitOf(rec), maxLong), reason: r,
			Grant: clean(rec.Grant, maxWord), Position: clean(cmp.Or(rec.Preset, rec.Position), maxLong), at: make(map[string]int),
		}
		s.byKey[key] = f
		r.Causes = append(r.Causes, f)
	}
	return f, f.example(s, rec)
}

func toolOf(rec *audit.Record) string {
	if rec.Tool == nil {
		return ""
	}
	return rec.Tool.Name
}

func limitOf(rec *audit.Record) string {
	if rec.Limit == "" {
		return ""
	}
	return " (" + rec.Limit + ")"
}

// to is where a request wanted to go.
func to(rec *audit.Record) string {
	host := cmp.Or(rec.Host, rec.Address)
	switch {
	case rec.Kind == string(capability.KindName):
		return "look up " + host
	case rec.Tool != nil:
		return "call " + rec.Tool.Name
	case host == "":
		return cmp.Or(rec.Protocol, rec.Kind)
	case rec.Port == 0 || rec.Kind == string(capability.KindHTTP) && capability.Scheme(rec.Scheme).DefaultPort() == rec.Port:
		return host
	}
	return fmt.Sprintf("%s port %d", host, rec.Port)
}

func (s *causes) rest(r *Reason) *Cause {
	f := s.overflow[r.Name]
	if f == nil {
		f = &Cause{reason: r}
		s.overflow[r.Name] = f
	}
	return f
}

func (f *Cause) example(s *causes, rec *audit.Record) int {
	asked := rec.Asked()
	if i, ok := f.at[asked]; ok {
		return i
	}
	size := len(asked) + len(rec.Smallest) + len(rec.Mismatch) + 512
	if len(f.examples) >= maxExamples || s.kept+size > maxKept {
		f.More = true
		return -1
	}
	s.kept += size
	f.at[asked] = len(f.examples)
	f.examples, f.times = append(f.examples, rec), append(f.times, 0)
	return f.at[asked]
}

// count adds n refusals to a cause, and to its example if there is one, at the time t.
func (f *Cause) count(example int, t time.Time, n int64) {
	f.Count += n
	f.reason.Count += n
	f.span(t)
	if example >= 0 {
		f.times[example] += n
	}
}

// reasons are all refusals, the most frequent first.
func (s *causes) reasons(smallest func([]*audit.Record) string) []*Reason {
	out := slices.DeleteFunc(slices.Collect(maps.Values(s.byReason)), func(r *Reason) bool { return r.Count == 0 })
	for _, r := range out {
		r.Causes = slices.DeleteFunc(r.Causes, func(f *Cause) bool { return f.Count == 0 })
		slices.SortStableFunc(r.Causes, func(a, b *Cause) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), a.First.Compare(b.First), cmp.Compare(a.To, b.To))
		})
		if f := s.overflow[r.Name]; f != nil {
			r.Others = f.Count
		}
		for _, f := range r.Causes {
			f.finish(smallest)
		}
	}
	slices.SortFunc(out, func(a, b *Reason) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return out
}

func (f *Cause) finish(smallest func([]*audit.Record) string) {
	for i, rec := range f.examples {
		if f.times[i] == 0 {
			continue // only what came before the time that was asked about
		}
		f.Examples = append(f.Examples, Example{clean(rec.Asked(), maxLong), clean(rec.ID, maxWord), f.times[i]})
	}
	if smallest != nil {
		f.Smallest = cleanLines(smallest(f.examples), maxText)
	}
	f.examples, f.at = nil, nil
}
