package gateway

import (
	"scupper.dev/scupper/capability"
)

// approved refuses a call that needs an approval: this version has no way to give one.
func (g *Gateway) approved(r *capability.Request, t *tool) *Answer {
	if t.Approval {
		return g.refuse(r, capability.ApprovalPending)
	}
	return nil
}
