package trial

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/replay"
	"scupper.dev/scupper/replay/scenario"
)

// arrival is a request as scenarios write it.
func arrival(r *replay.Exchange) string {
	scheme, host := "http", bare(r.Host)
	if r.TLS {
		scheme = "https"
	}
	if port := r.Destination.Port(); r.TLS && port != 443 || !r.TLS && port != 80 {
		host = fmt.Sprintf("%s:%d", host, port)
	}
	return fmt.Sprintf("%s %s://%s%s", r.Method, scheme, host, r.URI)
}

// arrivals compares the requests that arrived with those that have to.
func (j judge) arrivals() {
	want := j.s.Expect.Arrives
	if !j.s.Expect.ArrivesSet {
		return
	}
	var got []string
	for i := range j.e.Requests {
		got = append(got, arrival(&j.e.Requests[i]))
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return like(w, g) }) {
			j.fault(j.refusedOr(), "%s did not arrive", j.hidden(w))
		}
	}
	for _, g := range got {
		if !slices.ContainsFunc(want, func(w string) bool { return like(w, g) }) {
			j.fault(Verdict, "%s arrived, which is not expected", audit.Printable(j.hidden(g)))
		}
	}
}

// like compares a text with a pattern in which * stands for anything.
func like(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, p)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// request is what a record is about, in a few words.
func request(r *audit.Record) string {
	switch {
	case r.Tool != nil:
		return "tool " + r.Tool.Name
	case r.Kind == "name":
		return "the name " + audit.Printable(r.Host)
	case r.Method != "":
		return audit.Printable(r.Method + " " + r.Host + r.Path)
	case r.Excerpt != "":
		return "a malformed request"
	}
	target := r.Host
	if target == "" {
		target = r.Address
	}
	return audit.Printable(strings.TrimSpace(fmt.Sprintf("%s %s:%d", r.Protocol, target, r.Port)))
}

// step is the record that decided: of a leak what let it through, else the last refusal.
func step(r *Result, e *Evidence) *Step {
	var last *audit.Record
	for _, record := range e.Log {
		if record.Event != audit.Decided {
			continue
		}
		switch {
		case leaked(r) && record.Verdict == scenario.Allow && record.Kind != "name" && r.at(record.Host),
			!leaked(r) && record.Verdict == scenario.Deny,
			last == nil && record.Verdict == scenario.Allow && record.Kind != "name":
			last = record
		}
	}
	if last == nil {
		return nil
	}
	s := &Step{Verdict: last.Verdict, Reason: last.Reason, Kind: last.Kind, Request: request(last), Grant: last.Grant, Position: last.Position, Mismatch: last.Mismatch}
	// The log has the whole path of the policy; reports name it as the scenario does.
	if path, err := filepath.Abs(r.Scenario.Policy); err == nil {
		s.Position = strings.Replace(s.Position, path, r.Scenario.Policy, 1)
	}
	for _, c := range r.Scenario.Canaries {
		s.Request, s.Mismatch = strings.ReplaceAll(s.Request, c.Value, "<"+c.Name+">"), strings.ReplaceAll(s.Mismatch, c.Value, "<"+c.Name+">")
	}
	return s
}

func leaked(r *Result) bool {
	return slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Kind == Leak })
}

// at reports whether something was found at host.
func (r *Result) at(host string) bool {
	for _, f := range r.Found {
		if strings.HasPrefix(f.Where, host+":") {
			return true
		}
	}
	return false
}
