package face

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
)

// Names of what is ours in _meta.
const (
	metaKey    = "dev.scupper/call-key" // of a call: makes a retry of it the same call
	metaID     = "dev.scupper/id"       // of a result: its record
	metaReplay = "dev.scupper/replay"   // of a result: the record of the call that ran
)

// listTTL is how long a client may keep a list of tools, in milliseconds.
const listTTL = 5000

// build makes a server object with the tools of p. The handlers are never reached: the
// middleware takes every call, whether the tool is there or not.
func (f *Face) build(p gateway.Principal) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "scupper", Title: "scupper tool gateway", Version: f.config.Version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.TTLMs, c.CacheScope = listTTL, "private" },
	})
	var stock stock
	stock.fill(s, f.gateway, p)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call, ok := req.(*mcp.CallToolRequest); ok {
				return f.call(ctx, p, call)
			}
			if !offered(method) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method %q is not offered", method)}
			}
			if method == "tools/list" { // of a conversation that began under another policy, too
				stock.fill(s, f.gateway, p)
			}
			return next(ctx, method, req)
		}
	})
	return s
}

// stock is the tools that a server object has, and the policy that says so.
type stock struct {
	mu     sync.Mutex
	policy *capability.Policy
	names  []string
}

// fill puts the tools of p into s, in the place of those of another policy.
func (k *stock) fill(s *mcp.Server, g *gateway.Gateway, p gateway.Principal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	tools, policy := g.Tools(p)
	if k.policy == policy {
		return
	}
	s.RemoveTools(k.names...)
	k.policy, k.names = policy, nil
	for _, d := range tools {
		s.AddTool(listed(d), func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("call a tool behind the gateway's back")
		})
		k.names = append(k.names, d.Name)
	}
}

// offered reports whether the gateway has a method: it serves tools, and neither prompts
// nor resources, of which the SDK would say that there are none.
func offered(method string) bool {
	switch method {
	case "initialize", "ping", "server/discover", "tools/list":
		return true
	}
	return strings.HasPrefix(method, "notifications/")
}

// listed is a tool as clients see it. The annotations follow from the level, by the
// operator's word.
func listed(d gateway.Definition) *mcp.Tool {
	t := &mcp.Tool{
		Name: d.Name, Title: d.Title, Description: d.Description, InputSchema: d.Input,
		Annotations: &mcp.ToolAnnotations{Title: d.Title, ReadOnlyHint: d.Level == gateway.Read},
	}
	if d.Output != nil {
		t.OutputSchema = d.Output
	}
	if d.Level != gateway.Read {
		destructive := d.Level == gateway.IrreversibleWrite
		t.Annotations.DestructiveHint = &destructive
	}
	return t
}

// serverOf is the server object for the principal that an HTTP request has proved.
func (f *Face) serverOf(r *http.Request) *mcp.Server {
	p, ok := principalOf(r.Context())
	if !ok {
		return nil
	}
	return f.server(p)
}

func (f *Face) call(ctx context.Context, p gateway.Principal, req *mcp.CallToolRequest) (mcp.Result, error) {
	called(ctx)
	key, _ := req.Params.Meta[metaKey].(string)
	answer := f.gateway.Call(ctx, gateway.Asked{
		Principal: p, Name: req.Params.Name, Arguments: req.Params.Arguments, Key: key, Progress: progress(ctx, req),
	})
	if answer.Hidden() {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", req.Params.Name)}
	}
	return resultOf(answer, req.ProtocolVersion() >= stateless)
}

// stateless is the first revision in which a result says that it is complete.
const stateless = "2026-07-28"

// newResult is a result without anything in it. The SDK has its own field for being
// complete, which is set on the way that results of its handlers take, and else by
// reading one.
func newResult(complete bool) (*mcp.CallToolResult, error) {
	r := new(mcp.CallToolResult)
	if !complete {
		return r, nil
	}
	return r, json.Unmarshal([]byte(`{"content":[],"resultType":"complete"}`), r)
}

// progress tells the client, where it asked for it.
func progress(ctx context.Context, req *mcp.CallToolRequest) gateway.Progress {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(done, total float64, text string) {
		// A client that cannot be told will miss the answer as well.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: text})
	}
}

// resultOf is an answer as MCP has it. A refusal is a result with isError: the model can
// correct its arguments, or see that there is no use in trying again.
func resultOf(a gateway.Answer, complete bool) (*mcp.CallToolResult, error) {
	out, err := newResult(complete)
	if err != nil {
		return nil, err
	}
	r := a.Shown()
	out.IsError, out.Content = r.Failed, make([]mcp.Content, len(r.Content))
	for i, c := range r.Content {
		switch {
		case strings.HasPrefix(c.MediaType, "audio/"):
			out.Content[i] = &mcp.AudioContent{Data: c.Image, MIMEType: c.MediaType}
		case c.MediaType != "":
			out.Content[i] = &mcp.ImageContent{Data: c.Image, MIMEType: c.MediaType}
		default:
			out.Content[i] = &mcp.TextContent{Text: c.Text}
		}
	}
	if r.Structured != nil {
		out.StructuredContent = r.Structured
	}
	if a.ID != "" {
		out.Meta = mcp.Meta{metaID: a.ID}
	}
	if a.Replays != "" {
		out.Meta[metaReplay] = a.Replays
	}
	return out, nil
}
