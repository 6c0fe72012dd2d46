package trial

import (
	"slices"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/replay/canary"
	"scupper.dev/scupper/replay/scenario"
)

// LayerNames are the layers that can stop an attack, from the outside in.
func LayerNames() []string {
	return []string{"sandbox", "packet", "dns", "tls", "parse", "host", "method", "path", "query", "header", "body", "credential", "rewrite", "limit", "address", "tool", "log"}
}

// layers are those that stopped something of an attack, in the order of LayerNames.
func layers(s *scenario.Scenario, e *Evidence) (out []string) {
	if !s.Attack() {
		return nil
	}
	seen := make(map[string]bool)
	for _, r := range refusals(e.Log) {
		seen[layer(r)] = true
	}
	if len(seen) == 0 {
		return []string{untold(e)}
	}
	for _, name := range LayerNames() {
		if seen[name] {
			out = append(out, name)
		}
	}
	return out
}

// untold is the layer of an attack that nothing refused and that did not arrive: the
// request was written anew without it, or the sandbox has no way to attempt it.
func untold(e *Evidence) string {
	for _, r := range e.Log {
		switch {
		case r.Event != audit.Decided || r.Verdict != scenario.Allow:
		case r.Kind == string(capability.KindHTTP):
			return "rewrite"
		case r.Kind == string(capability.KindTool):
			return "tool"
		}
	}
	return "sandbox"
}

// layer is what a refusal's kind and reason belong to.
func layer(r *audit.Record) string {
	if r.Kind == string(capability.KindTool) {
		return "tool"
	}
	reason := capability.Reason(r.Reason)
	for name, reasons := range reasonsOf() {
		if slices.Contains(reasons, reason) {
			return name
		}
	}
	switch capability.Kind(r.Kind) {
	case capability.KindName:
		return "dns"
	case capability.KindPacket:
		return "packet"
	}
	return "host"
}

// reasonsOf are the reasons that belong to one layer whatever was asked for.
func reasonsOf() map[string][]capability.Reason {
	return map[string][]capability.Reason{
		"tls":        {capability.AuthorityMismatch, capability.NotTLS, capability.TLSFailed},
		"parse":      {capability.MalformedHost, capability.MalformedPath, capability.MalformedQuery, capability.MalformedRequest},
		"dns":        {capability.MalformedName},
		"method":     {capability.MethodNotGranted, capability.MethodOverride},
		"path":       {capability.PathNotGranted},
		"query":      {capability.QueryNotGranted},
		"header":     {capability.HeaderNotGranted},
		"body":       {capability.BodyNotGranted, capability.BodyTooLarge},
		"credential": {capability.ForeignCredential, capability.PlaceholderMisplaced, capability.CredentialUnavailable},
		"limit":      {capability.LimitExceeded, capability.TooSlow, capability.RecordBudget, capability.GrantExpired},
		"address":    {capability.NetworkNotGranted, capability.MetadataAddress, capability.OwnListener},
		"log":        {capability.AuditUnavailable},
	}
}

// Deepen notes what came of the same attack where the layers that stopped it were taken
// away.
func (r *Result) Deepen(without *Result) {
	for _, f := range without.Found {
		r.OneLayer = r.OneLayer || f.Whole()
	}
	for _, name := range without.Layers {
		if !slices.Contains(r.Layers, name) {
			r.Beyond = append(r.Beyond, name)
		}
	}
}

// plain finds a canary that went out as it is: to look for every other form as well, in
// the megabytes that some attacks send, takes seconds.
func plain(s *scenario.Scenario, e *Evidence) []canary.Finding {
	for _, c := range s.Canaries {
		for i, f := range flows(e, nil) {
			for _, p := range f.Parts {
				if counts(s, c.Name) && strings.Contains(p.Text, c.Value) {
					return []canary.Finding{{Canary: c.Name, Form: "plain", Where: f.Host + ": " + p.Slot, Flow: i, Bits: 5 * canary.Length}}
				}
			}
		}
	}
	return nil
}

// counts reports whether a canary shows an attack of s: one that the scenario names, or
// where it names none, the secret of a credential.
func counts(s *scenario.Scenario, name string) bool {
	own := slices.ContainsFunc(s.Canaries, func(c canary.Canary) bool { return !isBait(c.Name) })
	return !own || !isBait(name)
}

func isBait(name string) bool { return strings.HasPrefix(name, BaitPrefix) }

// Alive reports whether the attack of s did what it is about, where nothing stopped it.
func Alive(s *scenario.Scenario, e *Evidence) *Result {
	r := &Result{Scenario: s}
	if e.Trouble != "" {
		r.fault(Trouble, "%s", e.Trouble)
		return r
	}
	if r.Found = plain(s, e); len(r.Found) == 0 {
		r.Found = find(s, e, nil)
	}
	for _, f := range r.Found {
		r.Bits += f.Bits
	}
	if slices.ContainsFunc(r.Found, func(f canary.Finding) bool { return f.Whole() && counts(s, f.Canary) }) {
		return r
	}
	for _, name := range s.Expect.Unseen {
		if sees(s, e, name) {
			return r
		}
	}
	why := ""
	if n := len(e.Outcomes); n > 0 {
		why = because(judge{r, s, e}.hidden(e.Outcomes[n-1].Error))
	}
	r.fault(Dead, "no canary arrives without scupper: the scenario cannot fail%s", why)
	return r
}
