// Package gateway enforces a policy on tool calls: the third enforcer beside proxy and
// dnsfilter, of the same shape.
//
//	entry := gateway.Entry{
//		Definition: gateway.Definition{Name: "read", Version: "1", Level: gateway.Read, Input: schema},
//		Tool:       tool,
//	}
//
// Each call takes the same steps, one file each: authenticate, authorise, validate,
// idempotency, quota, approval, record, run, trim, answer. A tool does the work of a
// call that has passed every step before it, and nothing else.
package gateway
