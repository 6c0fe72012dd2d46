package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"scupper.dev/scupper/capability"
)

// notes is an authority that remembers what it was asked.
type notes struct {
	mu       sync.Mutex
	policy   *capability.Policy
	steps    []string // "refuse:REASON", "authorize", "finish"
	requests []capability.ToolCall
	outcomes []capability.ToolOutcome
	broken   bool // nothing can be recorded
	lost     bool // results cannot be recorded
}

func (n *notes) Policy() *capability.Policy { return n.policy }

func (n *notes) Authorize(r *capability.Request) capability.Decision {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.policy.Decide(r)
	if n.broken {
		return d.Refused(capability.AuditUnavailable)
	}
	n.steps, n.requests = append(n.steps, "authorize"), append(n.requests, r.Tool)
	d.ID = fmt.Sprintf("run-%d", len(n.steps))
	return d
}

func (n *notes) Refuse(r *capability.Request, reason capability.Reason) capability.Decision {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.steps, n.requests = append(n.steps, "refuse:"+string(reason)), append(n.requests, r.Tool)
	d := capability.Deny(reason)
	d.ID = fmt.Sprintf("run-%d", len(n.steps))
	return d
}

func (n *notes) FinishTool(_ capability.Decision, o capability.ToolOutcome) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost {
		return errors.New("no space left on device")
	}
	n.steps, n.outcomes = append(n.steps, "finish"), append(n.outcomes, o)
	return nil
}

// whole shows everything.
type whole struct{}

func (whole) Trim(_ *Call, _ *Definition, r Result) Result {
	for _, c := range r.Content {
		r.Whole += int64(len(c.Text))
	}
	r.Shown = r.Whole
	return r
}

// work is a tool made of a function.
type work func(ctx context.Context, c *Call) Result

func (w work) Call(ctx context.Context, c *Call) Result { return w(ctx, c) }

const echoSchema = `{"type":"object","additionalProperties":false,"required":["text"],"properties":{"text":{"type":"string","maxLength":10}}}`

// world is a gateway with tools whose effects are counted.
type world struct {
	*Gateway
	notes   *notes
	effects atomic.Int64
}

func newWorld(t *testing.T, change func(*Registered)) *world {
	t.Helper()
	w := &world{notes: &notes{}}
	p, err := capability.Compile(nil, []capability.Role{{Name: "dev", Tools: []string{"echo", "off"}}})
	if err != nil {
		t.Fatal(err)
	}
	w.notes.policy = p.WithTools([]capability.Tool{{Name: "echo"}, {Name: "other"}, {Name: "off", Disabled: true}})
	echo := func(name string) Registered {
		return Registered{Entry: Entry{
			Definition: Definition{Name: name, Version: "1", Level: IrreversibleWrite, Input: json.RawMessage(echoSchema)},
			Tool: work(func(_ context.Context, c *Call) Result {
				w.effects.Add(1)
				return Text("did " + string(c.Arguments))
			}),
		}}
	}
	tools := []Registered{echo("echo"), echo("other"), echo("off")}
	if change != nil {
		change(&tools[0])
	}
	w.Gateway, err = New(Config{Authority: w.notes, Tools: tools, Trimmer: whole{}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) ask(name, arguments, key string) Answer {
	return w.Call(context.Background(), Asked{Principal: Principal{Role: "dev", Caller: "ci", Face: "http"}, Name: name, Arguments: json.RawMessage(arguments), Key: key})
}

func mustHash(s string) [32]byte { return sha256.Sum256([]byte(s)) }
