package gateway

import (
	"crypto/sha256"

	"scupper.dev/scupper/capability"
)

// Principal is who calls, as far as the gateway knows.
type Principal struct {
	Role   string // whose tools these are; the empty role has none
	Caller string // for the record
	Face   string // the way in: "stdio", "http", "cli", "sandbox"
}

// Caller is who has a token. The token itself is nowhere but with the caller.
type Caller struct {
	Name  string
	Role  string
	Token [32]byte // SHA-256 of the token
}

// Authenticate finds out who has the token. What is compared is its hash, so time tells
// nothing of how much of it was right.
func (g *Gateway) Authenticate(token string) (Principal, bool) {
	p, ok := g.tokens[sha256.Sum256([]byte(token))]
	return p, ok && token != ""
}

// RefuseStranger records that somebody came without a token that the policy has, or in
// a way that no caller comes.
func (g *Gateway) RefuseStranger(face string, reason capability.Reason) capability.Decision {
	return g.config.Authority.Refuse(&capability.Request{Time: g.config.Now(), Kind: capability.KindTool, Tool: capability.ToolCall{Face: face}}, reason)
}

func tokens(callers []Caller) map[[32]byte]Principal {
	out := make(map[[32]byte]Principal, len(callers))
	for _, c := range callers {
		out[c.Token] = Principal{Role: c.Role, Caller: c.Name, Face: "http"}
	}
	return out
}

// RefuseMessage records that p sent a message that did not come to be a call: it has no
// one reading, for instance, or is too long.
func (g *Gateway) RefuseMessage(p Principal, reason capability.Reason) capability.Decision {
	return g.config.Authority.Refuse(g.request(&Asked{Principal: p}), reason)
}
