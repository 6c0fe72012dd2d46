package face

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
)

// notes is an authority that remembers what was asked and how it was answered.
type notes struct {
	mu      sync.Mutex
	policy  *capability.Policy
	reasons []capability.Reason
}

func (n *notes) Policy() *capability.Policy {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.policy
}

func (n *notes) Authorize(r *capability.Request) capability.Decision {
	return n.note(n.Policy().Decide(r))
}

func (n *notes) Refuse(_ *capability.Request, reason capability.Reason) capability.Decision {
	return n.note(capability.Deny(reason))
}

func (n *notes) FinishTool(capability.Decision, capability.ToolOutcome) error { return nil }

func (n *notes) note(d capability.Decision) capability.Decision {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reasons = append(n.reasons, d.Reason)
	d.ID = fmt.Sprintf("run-%d", len(n.reasons))
	return d
}

// taken are the reasons since the last call.
func (n *notes) taken() []capability.Reason {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.reasons
	n.reasons = nil
	return out
}

type whole struct{}

func (whole) Trim(_ *gateway.Call, _ *gateway.Definition, r gateway.Result) gateway.Result { return r }

type work func(ctx context.Context, c *gateway.Call) gateway.Result

func (w work) Call(ctx context.Context, c *gateway.Call) gateway.Result { return w(ctx, c) }

const token = "a token of 32 random bytes, say"

// world is a face over HTTP with tools: role dev may echo and wait, role ops may also
// other; off is disabled.
type world struct {
	*Face
	notes   *notes
	url     string
	client  *http.Client
	waiting chan struct{} // one for each call of wait that has begun
	ended   chan error    // how each of them ended
}

func newWorld(t *testing.T, c Config) *world {
	t.Helper()
	p, err := capability.Compile(nil, []capability.Role{{Name: "dev", Tools: []string{"echo", "wait", "off", "slow"}}, {Name: "ops", Tools: []string{"echo", "other"}}})
	if err != nil {
		t.Fatal(err)
	}
	slow := func(ctx context.Context, _ *gateway.Call) gateway.Result {
		select {
		case <-time.After(time.Second):
			return gateway.Text("in its own time")
		case <-ctx.Done():
			return gateway.Failure("cut off")
		}
	}
	w := &world{waiting: make(chan struct{}, 10), ended: make(chan error, 10), notes: &notes{policy: p.WithTools([]capability.Tool{{Name: "echo"}, {Name: "other"}, {Name: "wait"}, {Name: "slow"}, {Name: "off", Disabled: true}})}}
	tool := func(name string, level gateway.Level, do work) gateway.Registered {
		return gateway.Registered{Entry: gateway.Entry{Tool: do, Definition: gateway.Definition{
			Name: name, Version: "1", Title: "The tool " + name, Description: "Does it.", Level: level,
			Input: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"text":{"type":"string","maxLength":100}}}`),
		}}}
	}
	echo := func(_ context.Context, c *gateway.Call) gateway.Result {
		for i := range 3 {
			c.Progress(float64(i+1), 3, "echoing")
		}
		return gateway.Text("got " + string(c.Arguments))
	}
	wait := func(ctx context.Context, _ *gateway.Call) gateway.Result {
		w.waiting <- struct{}{}
		<-ctx.Done()
		w.ended <- ctx.Err()
		return gateway.Failure("ended")
	}
	g, err := gateway.New(gateway.Config{
		Authority: w.notes, Trimmer: whole{},
		Tools:   []gateway.Registered{tool("echo", gateway.Read, echo), tool("other", gateway.IrreversibleWrite, echo), tool("wait", gateway.ReversibleWrite, wait), tool("off", gateway.Read, echo), tool("slow", gateway.Read, slow)},
		Callers: []gateway.Caller{{Name: "ci", Role: "dev", Token: sha256.Sum256([]byte(token))}, {Name: "op", Role: "ops", Token: sha256.Sum256([]byte("ops"))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Face = New(g, c)
	w.bodyTime = 300 * time.Millisecond
	w.serve(t, Door{})
	return w
}

func (w *world) serve(t *testing.T, d Door) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- w.ServeHTTP(ctx, l, d) }()
	w.url, w.client = "http://"+l.Addr().String(), &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
