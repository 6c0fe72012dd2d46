package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"scupper.dev/scupper/capability"
)

// Authority decides and records; audit.Guard is one. Its methods are safe for concurrent
// use and do not block for long.
type Authority interface {
	// Policy is what is in force now. A call that it denies is not looked at any further.
	Policy() *capability.Policy
	// Authorize decides and records what is about to happen.
	Authorize(r *capability.Request) capability.Decision
	// Refuse records what a step here refused.
	Refuse(r *capability.Request, reason capability.Reason) capability.Decision
	// FinishTool records what came of a call. An error means that this is not on record.
	FinishTool(d capability.Decision, o capability.ToolOutcome) error
}

// Config says what a gateway is made of.
type Config struct {
	Authority Authority
	Tools     []Registered
	Callers   []Caller // with tokens; who comes in without one gets a Principal from the face
	Trimmer   Trimmer
	Now       func() time.Time // default: time.Now
}

// Registered is a tool as the operator has it.
type Registered struct {
	Entry
	Narrow    Schema    // that the arguments must fit besides the tool's own; nil: none
	Calls     int64     // in one run; 0: no limit
	Approval  bool      // each call needs one
	Inspector Inspector // sees results before the caller does; nil: none
}

// Gateway takes calls through the pipeline. It is safe for concurrent use.
type Gateway struct {
	config Config
	tools  map[string]*tool
	tokens map[[32]byte]Principal
	claims *claims
	quota  *quota
	flood  *flood
	seen   *seen
}

// New makes a gateway. It fails on a tool whose schema cannot be enforced.
func New(c Config) (*Gateway, error) {
	if c.Authority == nil || c.Trimmer == nil {
		return nil, errors.New("make the gateway: there is no authority or no trimmer")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	g := &Gateway{config: c, tools: make(map[string]*tool), tokens: tokens(c.Callers), claims: newClaims(), quota: newQuota(), flood: newFlood(), seen: newSeen()}
	for i := range c.Tools {
		t, err := newTool(&c.Tools[i])
		if err != nil {
			return nil, err
		}
		if g.tools[t.Definition.Name] != nil {
			return nil, fmt.Errorf("register tool %q: it is there already", t.Definition.Name)
		}
		g.tools[t.Definition.Name] = t
	}
	return g, nil
}

// Asked is a call as a face received it.
type Asked struct {
	Principal Principal
	Name      string
	Arguments json.RawMessage // as they were sent
	Key       string          // tells "again" from "retry": the same key is the same call; empty: none
	Progress  Progress        // nil: nobody listens
}

// Answer is what became of a call: a refusal, or the result of the tool.
type Answer struct {
	ID      string            // of the record; empty when there is none
	Reason  capability.Reason // Granted: the tool ran
	Detail  []string          // of ArgumentsInvalid: place, rule and expectation
	Result  Result
	Replays string // the ID of the call whose result this is; empty: its own
}

// Call takes a call through every step, in this order: authorise, validate, idempotency,
// quota, approval, record, run, trim, record, answer. Who calls was found out by the
// face, with Authenticate. A caller who may not use a tool learns nothing from what the
// steps behind the first do.
func (g *Gateway) Call(ctx context.Context, asked Asked) Answer {
	r := g.request(&asked)
	leave, refused := g.enter(r, asked.Principal)
	if refused != nil {
		return *refused
	}
	defer leave()
	t, refused := g.authorise(r)
	if refused != nil {
		return *refused
	}
	if refused = g.validate(r, t, &asked); refused != nil {
		return *refused
	}
	claim, known := g.claim(ctx, r, &asked)
	if known != nil {
		return *known
	}
	answer := g.admitted(ctx, r, t, &asked)
	claim.settle(answer)
	return answer
}

// admitted is the second half of Call, for a call that is not a retry.
func (g *Gateway) admitted(ctx context.Context, r *capability.Request, t *tool, asked *Asked) Answer {
	if refused := g.take(r, t); refused != nil {
		return *refused
	}
	if refused := g.approved(r, t); refused != nil {
		g.quota.giveBack(t)
		return *refused
	}
	d, refused := g.intent(r)
	if refused != nil {
		g.quota.giveBack(t)
		return *refused
	}
	call := &Call{ID: d.ID, Tool: asked.Name, Role: asked.Principal.Role, Arguments: asked.Arguments, Progress: rising(asked.Progress)}
	began := g.config.Now()
	result, trouble := t.run(ctx, call)
	result, verdict, crashed := g.shown(ctx, t, call, result)
	return g.outcome(d, result, capability.ToolOutcome{Verdict: verdict, Error: cmp.Or(crashed, trouble), Duration: g.config.Now().Sub(began).Nanoseconds()})
}

// shown is what the caller sees of a result, trimmed and inspected. A step that crashes
// shows nothing.
func (g *Gateway) shown(ctx context.Context, t *tool, call *Call, whole Result) (r Result, verdict, crashed string) {
	defer func() {
		if v := recover(); v != nil {
			crashed = fmt.Sprintf("preparing the result crashed: %v", v)
			r, verdict = Failure("the result cannot be shown; this is a fault of scupper, and the record of the call has more"), ""
		}
	}()
	r = g.config.Trimmer.Trim(call, &t.Definition, whole)
	r, verdict = g.inspect(ctx, t, call, r)
	return r, verdict, ""
}

// request is what the authority is asked about.
func (g *Gateway) request(asked *Asked) *capability.Request {
	p := asked.Principal
	return &capability.Request{Time: g.config.Now(), Kind: capability.KindTool, Tool: capability.ToolCall{
		Name: asked.Name, Role: p.Role, Caller: p.Caller, Face: p.Face, Key: asked.Key,
	}}
}

// refuse records a refusal and answers it.
func (g *Gateway) refuse(r *capability.Request, reason capability.Reason) *Answer {
	d := g.config.Authority.Refuse(r, reason)
	return &Answer{ID: d.ID, Reason: d.Reason}
}
