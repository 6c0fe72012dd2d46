package gateway

import (
	"scupper.dev/scupper/capability"
)

// authorise finds the tool that the caller may call. A tool that is denied to the
// caller, disabled, quarantined or unknown takes one way through here: the authority
// records which it was, and the answer does not say.
func (g *Gateway) authorise(r *capability.Request) (*tool, *Answer) {
	d := g.config.Authority.Policy().Decide(r)
	t := g.tools[r.Tool.Name]
	if d.Allowed() && t != nil {
		r.Tool.Version, r.Tool.Level = t.Definition.Version, string(t.Definition.Level)
		r.Tool.Durable = t.Definition.Level == IrreversibleWrite
		return t, nil
	}
	reason := d.Reason
	if d.Allowed() {
		reason = capability.ToolUnknown // the policy knows a tool that this process has not
	}
	return nil, g.refuse(r, reason)
}

// Hidden reports whether the answer is that there is no such tool.
func (a Answer) Hidden() bool {
	switch a.Reason {
	case capability.ToolUnknown, capability.ToolNotGranted, capability.ToolDisabled, capability.ToolQuarantined:
		return true
	}
	return false
}

// Tools lists what p can call now, in ascending order of names, and the policy that says
// so: while that is in force, the list does not change.
func (g *Gateway) Tools(p Principal) ([]Definition, *capability.Policy) {
	policy := g.config.Authority.Policy()
	var list []Definition
	for _, name := range policy.ToolsOf(p.Role) {
		if t := g.tools[name]; t != nil {
			list = append(list, t.Definition)
		}
	}
	return list, policy
}
