package retrial

import (
	"slices"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/difference"
)

// leaf judges r by one allow block whose host, port and path fit, in the order in which
// a request is judged.
func (t *Trial) leaf(r *request, g *capability.Grant, a *capability.Allow) finding {
	f := allowed(g, a)
	no := func(reason capability.Reason, rank int) finding {
		return finding{reason: reason, grant: g, allow: a, rank: rank}
	}
	switch {
	case !slices.Contains(a.Methods, r.Method):
		return no(capability.MethodNotGranted, 1)
	case r.Override:
		return no(capability.MethodOverride, 2)
	case r.Upgrade && !a.WebSocket:
		return no(capability.ProtocolNotGranted, 2)
	}
	if reason := t.credential(r, &g.Credential, &f); reason != capability.Granted {
		return no(reason, 3)
	}
	if !t.query(r, &g.Credential, &a.Query, &f) {
		return no(capability.QueryNotGranted, 4)
	}
	t.headers(r, a, &f)
	if reason := body(r, a, &f); reason != capability.Granted {
		return no(reason, 6)
	}
	if !g.Expires.IsZero() && !r.Time.Before(g.Expires) {
		return no(capability.GrantExpired, 8)
	}
	if r.reasonThen == capability.NetworkNotGranted && !r.sameNetworks(g) {
		f.need(Address)
	} else if r.reasonThen == capability.NetworkNotGranted {
		return no(capability.NetworkNotGranted, 8)
	}
	return f
}

// query reports whether the query can fit; f says whether that is sure.
func (t *Trial) query(r *request, c *capability.Credential, rule *capability.QueryRule, f *finding) bool {
	if rule.Any {
		return true
	}
	rest := slices.DeleteFunc(slices.Clone(r.Query), func(p audit.Parameter) bool {
		return (c.Mode != capability.Anonymous || c.Strip) && c.InParameter(p.Name)
	})
	seen := make(map[string]bool, len(rest))
	for _, p := range rest {
		if cutName(p) {
			f.need(QueryValues)
			continue
		}
		i := slices.IndexFunc(rule.Parameters, func(d capability.ParameterRule) bool { return d.Name == p.Name })
		if i < 0 {
			if c.Mode != capability.HandedOut {
				return false
			}
			f.need(Credentials) // an answer may have handed it out
			continue
		}
		if seen[p.Name] || !t.parameter(r, p, rule.Parameters[i].Value, f) {
			return false
		}
		seen[p.Name] = true
	}
	if len(r.Query) >= parameters {
		f.need(QueryRest)
		return true
	}
	return !slices.ContainsFunc(rule.Parameters, func(d capability.ParameterRule) bool { return d.Required && !seen[d.Name] })
}

func (t *Trial) parameter(r *request, p audit.Parameter, pattern capability.Pattern, f *finding) bool {
	text, length, known := r.value(p)
	if known {
		return pattern.Match(text)
	}
	switch t.values.fit(r.valueBefore(p.Name), pattern, length) {
	case no:
		return false
	case maybe:
		f.need(QueryValues)
	}
	return true
}

// valueBefore is the pattern that the value of the parameter kept to; nil: none is known.
func (r *request) valueBefore(name string) *capability.Pattern {
	if r.allow == nil || r.allow.allow.Query.Any {
		return nil
	}
	rules := r.allow.allow.Query.Parameters
	for i := range rules {
		if rules[i].Name == name {
			return &rules[i].Value
		}
	}
	return nil
}

// headers: a header that is not there fits, so no rule fails surely.
func (t *Trial) headers(r *request, a *capability.Allow, f *finding) {
	for _, rule := range a.Headers {
		if len(rule.Value.Values()) == 1 {
			continue // written by the proxy, whatever the client said
		}
		old := r.headerBefore(rule.Name)
		if old == nil || t.values.fit(old, rule.Value, anyLength) != yes {
			f.need(HeaderValue)
		}
	}
}

func (r *request) headerBefore(name string) *capability.Pattern {
	if r.allow == nil {
		return nil
	}
	rules := r.allow.allow.Headers
	for i := range rules {
		if rules[i].Name == name && len(rules[i].Value.Values()) != 1 {
			return &rules[i].Value
		}
	}
	return nil
}

// body judges what is said of the body, and what is known of its content.
func body(r *request, a *capability.Allow, f *finding) capability.Reason {
	rule := a.Body
	if r.Body == nil {
		if rule != nil && rule.Inspector != nil && (r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH") {
			return capability.BodyNotGranted
		}
		return capability.Granted
	}
	switch b := r.Body; {
	case rule == nil || b.Type != rule.Type:
		return capability.BodyNotGranted
	case b.Encoding != "" && (rule.Inspector == nil || b.Encoding != rule.Coding):
		return capability.BodyNotGranted
	case b.Length > rule.Max:
		return capability.BodyTooLarge
	}
	old := r.bodyBefore()
	if r.reasonThen == capability.BodyTooLarge {
		if old != nil && rule.Max <= old.Max {
			return capability.BodyTooLarge // it went over the old one while it was read
		}
		if r.Body.Length < 0 || r.Body.Encoding != "" {
			f.need(BodyLength)
		}
	} else if (r.Body.Length < 0 || r.Body.Encoding != "") && (old == nil || !r.permitted || old.Max > rule.Max) {
		f.need(BodyLength)
	}
	return content(r, old, rule, f)
}

// content: an inspector that takes all that the old one took takes what that one took;
// one that takes no more than the old one refuses what that one refused.
func content(r *request, old, rule *capability.BodyRule, f *finding) capability.Reason {
	if rule.Inspector == nil {
		return capability.Granted
	}
	inspected := old != nil && old.Inspector != nil && old.Type == rule.Type
	switch {
	case inspected && r.permitted && difference.Covers(rule.Inspector, old.Inspector):
	case inspected && r.reasonThen == capability.BodyNotGranted && r.Body.Type == old.Type && (r.Body.Encoding == "" || r.Body.Encoding == old.Coding) &&
		difference.Covers(old.Inspector, rule.Inspector):
		return capability.BodyNotGranted
	default:
		f.need(BodyContent)
	}
	return capability.Granted
}

// bodyBefore is the rule that the body was held against; nil: it is not known.
func (r *request) bodyBefore() *capability.BodyRule {
	switch {
	case r.allow != nil:
		return r.allow.allow.Body
	case r.nearest != nil:
		return r.nearest.allow.Body
	}
	return nil
}

func (r *request) sameNetworks(g *capability.Grant) bool {
	return r.nearest != nil && slices.Equal(r.nearest.grant.Networks, g.Networks)
}
