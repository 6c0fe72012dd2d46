package report

import (
	"fmt"
	"slices"
	"strings"
)

// Level is how much something wants to be looked at.
type Level string

// The levels.
const (
	Calm  Level = "calm"
	Look  Level = "look"
	Alarm Level = "alarm"
)

// Verdict is the report in one sentence.
type Verdict struct {
	Level    Level
	Sentence string
}

// Attention is one thing a reviewer should know first.
type Attention struct {
	Level    Level
	Sentence string
	Where    string // id of the section
}

func (r *Report) verdict() Verdict {
	did := fmt.Sprintf("%s made %s", plural(r.Totals.Runs, "run"), plural(r.Totals.Requests, "request"))
	if r.Totals.Calls > 0 {
		did += " and " + plural(r.Totals.Calls, "tool call")
	}
	refused := "nothing was refused"
	if r.Totals.Refused > 0 {
		refused = fmt.Sprintf("%s refused, for %s", wasWere(r.Totals.Refused), plural(r.Totals.Causes, "cause"))
	}
	level := Calm
	if slices.ContainsFunc(r.Attention, func(a Attention) bool { return a.Level != Calm }) {
		level = Look
	}
	switch r.Proof.State {
	case Failed:
		return Verdict{Alarm, "Do not rely on this: the log does not verify."}
	case Unverified:
		return Verdict{Look, fmt.Sprintf("%s; %s. The log is not verified.", did, refused)}
	}
	return Verdict{level, fmt.Sprintf("%s; %s. The log is verified.", did, refused)}
}

func wasWere(n int64) string {
	if n == 1 {
		return "1 attempt was"
	}
	return grouped(n) + " attempts were"
}

// attention lists what a reviewer should know first, the gravest first.
func (r *Report) attention(c *collector) []Attention {
	var out []Attention
	say := func(level Level, where, format string, args ...any) {
		out = append(out, Attention{level, fmt.Sprintf(format, args...), where})
	}
	switch r.Proof.State {
	case Failed:
		say(Alarm, "runs", "The log fails verification: %s", r.Proof.Why)
	case Unverified:
		say(Look, "runs", "The log is not verified: %s", r.Proof.Why)
	}
	if c.gaps > 0 {
		say(Alarm, "runs", "%s could not be written. What they would have allowed was denied.", plural(c.gaps, "record"))
	}
	if c.unanchored > 0 {
		say(Look, "runs", "%s could not be left where heads are kept: nobody but this installation knows that much of the log.", plural(c.unanchored, "head"))
	}
	if c.dropped > 0 {
		say(Calm, "runs", "Old segments were deleted %s, as is on record: what they held is not here.", plural(c.dropped, "time"))
	}
	if c.spent > 0 {
		say(Look, "runs", "%s ended because the record budget was spent.", plural(c.spent, "run"))
	}
	if names := namesOf(r.Controls, func(k Control) bool { return k.Asked }, func(k Control) string { return k.Name }); names != "" {
		say(Look, "controls", "Not in force: %s.", names)
	}
	if n := len(r.Foreign); n > 0 {
		say(Look, "credentials", "Requests carried credentials that no grant binds, in %s.", plural(n, "place"))
	}
	if n := len(r.Overrides); n > 0 {
		say(Look, "overrides", "The operator set %s: names led elsewhere than they would have.", plural(n, "override"))
	}
	if n := countFunc(r.Changes, func(k Change) bool { return k.Refused != "" }); n > 0 {
		say(Look, "changes", "%s refused; the old one stayed in force.", counted(n, "new policy", "was", "were"))
	}
	if c.reached > 0 {
		say(Look, "runs", "Limits of a run were reached %s.", plural(c.reached, "time"))
	}
	if n := countFunc(r.Runs, func(k *Run) bool { return k.Ended == noEnd }); n > 0 {
		say(Calm, "runs", "%s no end on record: under way, or killed.", counted(n, "run", "has", "have"))
	}
	r.remarkOnGrants(say)
	return out
}

func (r *Report) remarkOnGrants(say func(Level, string, string, ...any)) {
	if r.NoPolicy != "" {
		say(Look, "grants", "A policy could not be read: its grants are only those that records name.")
	}
	name := func(g *Grant) string { return g.Name }
	if names := namesOf(r.Grants, func(g *Grant) bool { return g.Expired }, name); names != "" {
		say(Look, "grants", "Expired: %s.", names)
	}
	if names := namesOf(r.Grants, func(g *Grant) bool { return g.ExpiresSoon }, name); names != "" {
		say(Look, "grants", "Expires within 30 days: %s.", names)
	}
	if names := namesOf(r.Grants, func(g *Grant) bool { return g.Unused && !g.Expired }, name); names != "" {
		say(Calm, "grants", "Not used, so that a policy without would have done: %s.", names)
	}
}

// namesOf lists the names of those that f picks, each once and not too many.
func namesOf[T any](all []T, f func(T) bool, name func(T) string) string {
	const shown = 6
	var names []string
	for _, t := range all {
		if f(t) && !slices.Contains(names, name(t)) {
			names = append(names, name(t))
		}
	}
	if len(names) > shown {
		return strings.Join(names[:shown], ", ") + fmt.Sprintf(" and %d more", len(names)-shown)
	}
	return strings.Join(names, ", ")
}

func countFunc[T any](all []T, f func(T) bool) (n int) {
	for _, t := range all {
		if f(t) {
			n++
		}
	}
	return n
}
