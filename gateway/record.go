package gateway

import (
	"encoding/hex"

	"scupper.dev/scupper/capability"
)

// intent records that the call is about to run. It is decided once more: the policy may
// be another one by now. Without the record the call does not run.
func (g *Gateway) intent(r *capability.Request) (capability.Decision, *Answer) {
	d := g.config.Authority.Authorize(r)
	if !d.Allowed() {
		return d, &Answer{ID: d.ID, Reason: d.Reason}
	}
	return d, nil
}

// outcome records what came of the call and answers. A result that is not on record is
// not given out: the caller learns that the call may have had its effect.
func (g *Gateway) outcome(d capability.Decision, result Result, o capability.ToolOutcome) Answer {
	o.Failed, o.Produced, o.Shown = result.Failed, result.Whole, result.Shown
	if result.Digest != [32]byte{} {
		o.Digest = hex.EncodeToString(result.Digest[:])
	}
	if err := g.config.Authority.FinishTool(d, o); err != nil {
		result = Failure("the audit log cannot be written: the call may have had its effect, and its result is withheld; ask the operator")
	}
	return Answer{ID: d.ID, Reason: capability.Granted, Result: result}
}
