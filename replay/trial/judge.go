package trial

import (
	"fmt"
	"slices"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/replay/canary"
	"scupper.dev/scupper/replay/scenario"
)

// Judge compares what came of s with what has to.
func Judge(s *scenario.Scenario, e *Evidence, bound []Bound) *Result {
	r := &Result{Scenario: s}
	if e.Trouble != "" {
		r.fault(Trouble, "%s", e.Trouble)
		return r
	}
	r.Found = find(s, e, bound)
	for _, f := range r.Found {
		r.Bits += f.Bits
	}
	if s.Expect.Bits != nil {
		r.Bits = max(r.Bits, trickle(s, e))
	}
	j := judge{r, s, e}
	j.leaks()
	j.unseen()
	j.verdict()
	j.reasons()
	j.outcome()
	j.arrivals()
	if !leaked(r) {
		r.Layers = layers(s, e)
	}
	r.Step = step(r, e)
	return r
}

// find looks for each canary in what arrived where it does not belong.
func find(s *scenario.Scenario, e *Evidence, bound []Bound) (out []canary.Finding) {
	free := slices.Clone(s.Canaries)
	for _, b := range bound {
		i := slices.IndexFunc(free, func(c canary.Canary) bool { return strings.Contains(b.Secret, c.Value) })
		if i < 0 {
			continue
		}
		out = append(out, canary.Find(free[i:i+1:i+1], flows(e, b.Hosts))...)
		free = slices.Delete(free, i, i+1)
	}
	out = append(out, canary.Find(free, flows(e, nil))...)
	slices.SortFunc(out, func(a, b canary.Finding) int { return strings.Compare(a.Canary, b.Canary) })
	return out
}

// trickle is how much of the scenario's own canaries went out in pieces that are too short
// to be found.
func trickle(s *scenario.Scenario, e *Evidence) (bits int) {
	for _, c := range s.Canaries {
		if !isBait(c.Name) {
			bits += canary.Trickle(c, flows(e, nil))
		}
	}
	return bits
}

type judge struct {
	*Result
	s *scenario.Scenario
	e *Evidence
}

func (r *Result) fault(kind Kind, format string, args ...any) {
	r.Faults = append(r.Faults, Fault{kind, fmt.Sprintf(format, args...)})
}

func (j judge) leaks() {
	want := &j.s.Expect
	for _, f := range j.Found {
		if !slices.Contains(want.Leak, f.Canary) && want.Bits == nil {
			j.fault(Leak, "%s", describe(f))
		}
	}
	if want.Bits != nil && j.Bits > *want.Bits {
		j.fault(Leak, "%d bits of canaries arrived, more than %d", j.Bits, *want.Bits)
	}
	for _, name := range want.Leak {
		if !slices.ContainsFunc(j.Found, func(f canary.Finding) bool { return f.Canary == name }) {
			j.fault(Verdict, "canary %s is expected to arrive, and did not: the risk that the scenario names is gone", name)
		}
	}
}

// describe is a finding in a sentence without the canary itself.
func describe(f canary.Finding) string {
	if f.Whole() {
		return fmt.Sprintf("canary %s arrived: %s, %s", f.Canary, f.Form, f.Where)
	}
	return fmt.Sprintf("%d bits of canary %s arrived: %s, %s", f.Bits, f.Canary, f.Form, f.Where)
}

// unseen looks for canaries in what attempts got to see.
func (j judge) unseen() {
	for _, name := range j.s.Expect.Unseen {
		if sees(j.s, j.e, name) {
			j.fault(Leak, "canary %s was read by an attempt", name)
		}
	}
}

func sees(s *scenario.Scenario, e *Evidence, name string) bool {
	var secret []canary.Canary
	for _, c := range s.Canaries {
		if c.Name == name {
			secret = append(secret, c)
		}
	}
	var seen []canary.Flow
	for _, o := range e.Outcomes {
		seen = append(seen, canary.Flow{Host: "the sandbox", Kind: "output", Parts: []canary.Part{{Slot: "output", Text: o.Output}}})
	}
	return len(canary.Find(secret, seen)) > 0
}

// refusals are the denying decisions, answers to calls among them.
func refusals(log []*audit.Record) (out []*audit.Record) {
	for _, r := range log {
		if r.Event == audit.Decided && r.Verdict == scenario.Deny {
			out = append(out, r)
		}
	}
	return out
}

func (j judge) verdict() {
	denied := refusals(j.e.Log)
	switch j.s.Expect.Verdict {
	case scenario.Deny:
		if len(denied) == 0 {
			j.fault(Verdict, "nothing was refused")
		}
		j.nothingArrived()
	case scenario.Allow:
		for _, r := range denied {
			j.fault(Refused, "%s was refused: %s", request(r), r.Reason)
		}
	}
}

// nothingArrived is the rule of a refusal that says nothing about what arrives. Names are
// looked up, and connections made, before some of what is refused; nothing is sent.
func (j judge) nothingArrived() {
	if j.s.Expect.ArrivesSet {
		return
	}
	for i := range j.e.Requests {
		j.fault(Verdict, "the far side received %s", arrival(&j.e.Requests[i]))
	}
	if len(j.e.Requests) > 0 {
		return
	}
	for _, c := range j.e.Connections {
		if c.Length > 0 {
			j.fault(Verdict, "port %d of the far side received %d bytes", c.Destination.Port(), c.Length)
		}
	}
	for _, p := range j.e.Packets {
		if p.Protocol != "tcp" && p.Destination.Port() != 53 {
			j.fault(Verdict, "the far side received a packet: %s", p.Protocol)
		}
	}
}

func (j judge) reasons() {
	want := j.s.Expect.Reasons
	if len(want) == 0 {
		return
	}
	for _, r := range refusals(j.e.Log) {
		if !slices.Contains(want, r.Reason) {
			j.fault(Verdict, "%s was refused for %s, not for %s", request(r), r.Reason, strings.Join(want, " or "))
		}
	}
}

func (j judge) outcome() {
	want, last := &j.s.Expect, j.last()
	if len(want.Status) > 0 && !slices.Contains(want.Status, last.Status) {
		j.fault(j.refusedOr(), "status %d, not %s%s", last.Status, words(want.Status), because(last.Error))
	}
	if want.Exit != nil && *want.Exit != last.Exit {
		j.fault(j.refusedOr(), "exit code %d, not %d%s", last.Exit, *want.Exit, because(j.hidden(last.Output)))
	}
	for _, text := range want.Output {
		if !strings.Contains(last.Output, text) {
			j.fault(j.refusedOr(), "the output lacks %q%s", j.hidden(text), because(j.hidden(last.Output)))
		}
	}
}

func (j judge) last() (o struct {
	Status, Exit  int
	Output, Error string
}) {
	if n := len(j.e.Outcomes); n > 0 {
		l := j.e.Outcomes[n-1]
		o.Status, o.Exit, o.Output, o.Error = l.Status, l.Exit, l.Output, j.hidden(l.Error)
	}
	return o
}

// refusedOr is the kind of a fault of a job that should have worked.
func (j judge) refusedOr() Kind {
	if j.s.Expect.Verdict == scenario.Allow && len(refusals(j.e.Log)) > 0 {
		return Refused
	}
	return Verdict
}

// hidden is a text in which every canary has its name in place of its value, so that
// reports are the same every time.
func (j judge) hidden(text string) string {
	for _, c := range j.s.Canaries {
		text = strings.ReplaceAll(text, c.Value, "<"+c.Name+">")
	}
	return text
}

func because(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	line, _, _ := strings.Cut(text, "\n")
	return ": " + audit.Printable(line[:min(len(line), 200)])
}

func words(numbers []int) string {
	var out []string
	for _, n := range numbers {
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, " or ")
}
