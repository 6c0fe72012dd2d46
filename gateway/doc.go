// Package gateway enforces a policy on tool calls: the third enforcer beside proxy and
// dnsfilter, of the same shape.
//
//	g, err := gateway.New(gateway.Config{Authority: guard, Tools: tools, Trimmer: trimmer})
//	if err != nil { ... }
//	answer := g.Call(ctx, gateway.Asked{Principal: caller, Name: "read", Arguments: sent})
//	if answer.Hidden() {
//		return errUnknownTool // for every tool that the caller cannot have, and for none
//	}
//	show(answer.Shown())
//
// Each call takes the same steps, one file each: authenticate, authorise, validate,
// idempotency, quota, approval, record, run, trim (a Trimmer), inspect, record, answer.
// Before them stands a guard against floods, which knows the caller and not the tool.
//
// Guarantees: what no registry has and no role lists does not exist, and a caller cannot
// tell whether a tool is denied to him, disabled, quarantined or not there: these take
// one way, before anything looks at the arguments. A tool runs only after its call is on
// record, and its result is given out only after that is on record as well. What a tool
// gets is what was checked: arguments with two readings are refused. A call with a call
// key happens once in a run. A tool that crashes or takes too long has failed, and
// nothing else has.
//
// Non-guarantees: two equal calls without a key are two calls. Quotas and call keys count
// in one gateway and end with it. Approvals cannot be given yet: a tool that needs them is
// refused. How many tools a caller has, and which, he can see.
package gateway
