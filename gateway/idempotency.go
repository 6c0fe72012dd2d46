package gateway

import (
	"context"
	"sync"

	"scupper.dev/scupper/capability"
)

// maxClaims is the number of call keys that a run can use. None is forgotten: a call
// whose key was forgotten would have its effect again.
const maxClaims = 2_000

// maxKey is the longest call key, in bytes.
const maxKey = 200

// claims remember which call belongs to which call key.
type claims struct {
	mu    sync.Mutex
	known map[claimKey]*claim
}

// claimKey is a call key of one caller: those of two callers have nothing in common.
type claimKey struct{ role, caller, key string }

// claim is one call with a key. A nil claim is of a call without.
type claim struct {
	tool, version, digest string
	set                   *claims
	key                   claimKey
	done                  chan struct{}
	answer                Answer // when done is closed
}

func newClaims() *claims { return &claims{known: make(map[claimKey]*claim)} }

// claim takes the call key for this call, or answers for the call that has it: its
// result is given again, after waiting for it where that is due. A call without a key
// is always a new one: two equal calls may both be meant.
func (g *Gateway) claim(ctx context.Context, r *capability.Request, asked *Asked) (*claim, *Answer) {
	if asked.Key == "" {
		return nil, nil
	}
	if len(asked.Key) > maxKey {
		return nil, g.refuse(r, capability.CallKeyReused)
	}
	own, first, full := g.claims.take(r)
	switch {
	case full:
		return nil, g.refuse(r, capability.LimitExceeded)
	case first:
		return own, nil
	case own.tool != r.Tool.Name || own.version != r.Tool.Version || own.digest != r.Tool.Digest:
		return nil, g.refuse(r, capability.CallKeyReused)
	}
	select {
	case <-own.done:
	case <-ctx.Done():
		return nil, g.refuse(r, capability.RunEnded)
	}
	return nil, g.replay(r, own.answer)
}

func (s *claims) take(r *capability.Request) (c *claim, first, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := claimKey{r.Tool.Role, r.Tool.Caller, r.Tool.Key}
	if c = s.known[key]; c != nil {
		return c, false, false
	}
	if len(s.known) >= maxClaims {
		return nil, false, true
	}
	c = &claim{tool: r.Tool.Name, version: r.Tool.Version, digest: r.Tool.Digest, set: s, key: key, done: make(chan struct{})}
	s.known[key] = c
	return c, true, false
}

// settle makes a the answer of everybody who comes with the key. A call that did not run
// gives the key back.
func (c *claim) settle(a Answer) {
	if c == nil {
		return
	}
	c.answer = a
	if a.Reason != capability.Granted {
		c.set.mu.Lock()
		delete(c.set.known, c.key)
		c.set.mu.Unlock()
	}
	close(c.done)
}

// replay answers with the result of an earlier call, and says so in the log.
func (g *Gateway) replay(r *capability.Request, earlier Answer) *Answer {
	if earlier.Reason != capability.Granted {
		return g.refuse(r, earlier.Reason)
	}
	d, refused := g.intent(r)
	if refused != nil {
		return refused
	}
	answer := g.outcome(d, earlier.Result, capability.ToolOutcome{Replay: earlier.ID})
	answer.Replays = earlier.ID
	return &answer
}
