package policyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

// reviewed is an allow block that later ones are compared with.
type reviewed struct {
	*capability.Allow
	paths   string          // equal for templates that match the same paths
	literal capability.Path // the one path, where there are no variables
}

func review(a *capability.Allow) reviewed {
	r := reviewed{Allow: a, paths: skeleton(a.Path)}
	names, patterns := a.Path.Variables()
	for _, p := range patterns {
		r.paths += " " + p.String()
	}
	if len(names) == 0 {
		r.literal, _ = capability.ParsePath(a.Path.String())
	}
	return r
}

// checkDead reports an allow block that an earlier one of the grant covers: it would
// mislead whoever reviews it.
func (s *source) checkDead(earlier []reviewed, a reviewed, at hcl.Range) {
	for _, e := range earlier {
		if e.covers(a) {
			s.fail(at, "a dead rule: an earlier allow block permits all of this", fmt.Sprintf("it is at %s: take one of the two out", e.Position))
			return
		}
	}
}

// covers reports whether every request of b is one of a. It may miss some.
func (a reviewed) covers(b reviewed) bool {
	for _, m := range b.Methods {
		if !slices.Contains(a.Methods, m) {
			return false
		}
	}
	return (a.paths == b.paths || a.Path.Match(b.literal)) && coversQuery(a.Query, b.Query) && coversBody(a.Body, b.Body) &&
		headerText(a.Headers) == headerText(b.Headers) && (a.WebSocket || !b.WebSocket)
}

// skeleton is the template with its variables numbered in order.
func skeleton(t *capability.Template) string {
	names, _ := t.Variables()
	return mapVariables(t.String(), func(name string) string {
		single := strings.TrimSuffix(name, "...")
		return fmt.Sprintf("{%d%s}", slices.Index(names, single), name[len(single):])
	})
}

func coversQuery(a, b capability.QueryRule) bool {
	return a.Any || !b.Any && queryText(a) == queryText(b)
}

func queryText(q capability.QueryRule) string {
	lines := make([]string, len(q.Parameters))
	for i, p := range q.Parameters {
		lines[i] = fmt.Sprintf("%q %s %t", p.Name, p.Value, p.Required)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func headerText(rules []capability.HeaderRule) string {
	lines := make([]string, len(rules))
	for i, h := range rules {
		lines[i] = h.Name + " " + h.Value.String()
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func coversBody(a, b *capability.BodyRule) bool {
	return b == nil || a != nil && a.Type == b.Type && a.Max >= b.Max && a.Coding == b.Coding && (a.Inspector == nil || a.Inspector == b.Inspector)
}

// judgedForeign asks the judge itself whether an anonymous grant would refuse what r
// carries, so that the lists of such headers and parameters are in one place.
func judgedForeign(r capability.Request) bool {
	path, err := capability.ParseTemplate("/", nil)
	if err != nil {
		return true
	}
	policy, err := capability.Compile([]*capability.Grant{{
		Name: "probe", Host: capability.HostPattern{Name: "probe.test"}, Port: 443, Scheme: capability.HTTPS,
		Credential: capability.Credential{Mode: capability.Anonymous},
		Allows:     []*capability.Allow{{Methods: []string{"GET"}, Path: path, Query: capability.QueryRule{Any: true}}},
	}}, nil)
	if err != nil {
		return true
	}
	r.Kind, r.Host, r.Port, r.Scheme, r.Method = capability.KindHTTP, "probe.test", 443, capability.HTTPS, "GET"
	r.Path, _ = capability.ParsePath("/")
	return !policy.Decide(&r).Allowed()
}
