package face

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
)

// bearer sends the token with each request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func (w *world) connect(t *testing.T, token string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	s, err := c.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: w.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{token}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func names(t *testing.T, s *mcp.ClientSession) []string {
	t.Helper()
	list, err := s.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestEachCallerSeesHisOwnTools(t *testing.T) {
	w := newWorld(t, Config{})
	dev, ops := w.connect(t, token, nil), w.connect(t, "ops", nil)
	if diff := cmp.Diff(names(t, dev), []string{"echo", "slow", "wait"}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(names(t, ops), []string{"echo", "other"}); diff != "" {
		t.Error(diff)
	}
	r, err := dev.CallTool(context.Background(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}})
	if err != nil || r.IsError || r.Content[0].(*mcp.TextContent).Text != `got {"text":"hello"}` || r.Meta[metaID] == "" {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = dev.CallTool(context.Background(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": 1}})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "/text: type: expected string") {
		t.Errorf("got %+v, %v", r, err)
	}
	var hidden []string
	for _, name := range []string{"other", "off", "none!", "ECHO"} {
		_, err = dev.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"text": 1}})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		hidden = append(hidden, strings.ReplaceAll(wire.Message, name, "X"))
	}
	if diff := cmp.Diff(hidden, []string{`unknown tool "X"`, `unknown tool "X"`, `unknown tool "X"`, `unknown tool "X"`}); diff != "" {
		t.Error(diff)
	}
	want := []capability.Reason{capability.Granted, capability.ArgumentsInvalid, capability.ToolNotGranted, capability.ToolDisabled, capability.ToolUnknown, capability.ToolUnknown}
	if diff := cmp.Diff(w.notes.taken(), want); diff != "" {
		t.Error(diff)
	}
}

func TestANewPolicyCountsAtOnce(t *testing.T) {
	w := newWorld(t, Config{})
	dev := w.connect(t, token, nil)
	names(t, dev)
	w.notes.mu.Lock()
	w.notes.policy = w.notes.policy.WithTools([]capability.Tool{{Name: "wait"}})
	w.notes.mu.Unlock()
	if diff := cmp.Diff(names(t, w.connect(t, token, nil)), []string{"wait"}); diff != "" {
		t.Error(diff)
	}
}

// A conversation over stdio outlives policies.
func TestANewPolicyCountsInTheMiddleOfAConversation(t *testing.T) {
	w := newWorld(t, Config{})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- w.ServeStdio(context.Background(), gateway.Principal{Role: "dev", Face: "stdio"}, in, out)
		_ = out.Close()
	}()
	r := bufio.NewReader(fromServer)
	ask := func(line string) string {
		t.Helper()
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	ask(initialize)
	for _, row := range []struct{ has, none string }{{"echo", "off"}, {"off", "echo"}} {
		if got := ask(list); !strings.Contains(got, `"name":"`+row.has+`"`) || strings.Contains(got, `"name":"`+row.none+`"`) {
			t.Errorf("want %s and not %s: %s", row.has, row.none, got)
		}
		w.notes.mu.Lock()
		w.notes.policy = w.notes.policy.WithTools([]capability.Tool{{Name: "wait"}, {Name: "off"}})
		w.notes.mu.Unlock()
	}
	_ = toServer.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestProgressReachesTheClient(t *testing.T) {
	w := newWorld(t, Config{})
	var mu sync.Mutex
	var got []float64
	told := make(chan struct{})
	dev := w.connect(t, token, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		if got = append(got, r.Params.Progress); len(got) == 3 {
			close(told)
		}
	}})
	params := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{}}
	params.SetProgressToken("p")
	if _, err := dev.CallTool(context.Background(), params); err != nil {
		t.Fatal(err)
	}
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Fatal("no progress came")
	}
	if diff := cmp.Diff(got, []float64{1, 2, 3}); diff != "" {
		t.Error(diff)
	}
}

func TestACallOfAClientThatGoesAwayIsCancelled(t *testing.T) {
	w := newWorld(t, Config{})
	t.Run("MCP over HTTP", func(t *testing.T) {
		dev := w.connect(t, token, nil)
		w.cancelled(t, func(ctx context.Context) { _, _ = dev.CallTool(ctx, &mcp.CallToolParams{Name: "wait"}) })
	})
	t.Run("plain HTTP", func(t *testing.T) {
		w.cancelled(t, func(ctx context.Context) {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/tools/wait", strings.NewReader("{}"))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer "+token)
			if resp, err := w.client.Do(r); err == nil {
				_ = resp.Body.Close()
			}
		})
	})
	t.Run("stdio", func(t *testing.T) {
		s := w.stdio(t)
		w.cancelled(t, func(ctx context.Context) { _, _ = s.CallTool(ctx, &mcp.CallToolParams{Name: "wait"}) })
	})
}

// cancelled calls, waits until the tool runs, goes away, and wants the tool to have been
// told.
func (w *world) cancelled(t *testing.T, call func(ctx context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { call(ctx) })
	<-w.waiting
	cancel()
	select {
	case err := <-w.ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended by %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the tool was not told")
	}
	wg.Wait()
}

// stdio is a client at the other end of two pipes.
func (w *world) stdio(t *testing.T) *mcp.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- w.ServeStdio(context.Background(), gateway.Principal{Role: "dev", Face: "stdio"}, in, out)
		_ = out.Close()
	}()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(context.Background(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		_ = toServer.Close()
		if err := <-ended; err != nil {
			t.Errorf("stdio ended with %v", err)
		}
	})
	return s
}

func TestStdioServesTheSameTools(t *testing.T) {
	w := newWorld(t, Config{})
	s := w.stdio(t)
	if diff := cmp.Diff(names(t, s), []string{"echo", "slow", "wait"}); diff != "" {
		t.Error(diff)
	}
	if _, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "other"}); err == nil || !strings.Contains(err.Error(), `unknown tool "other"`) {
		t.Errorf("got %v", err)
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// talk sends lines over stdio and reads as many answers as wanted.
func (w *world) talk(t *testing.T, answers int, lines ...string) []string {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- w.ServeStdio(context.Background(), gateway.Principal{Role: "dev", Face: "stdio"}, in, out)
		_ = out.Close()
	}()
	go func() {
		for _, l := range lines {
			_, _ = io.WriteString(toServer, l+"\n")
		}
	}()
	r := bufio.NewReader(fromServer)
	var got []string
	for range answers {
		l, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		got = append(got, l)
	}
	_ = toServer.Close()
	go func() { _, _ = io.Copy(io.Discard, r) }()
	<-ended
	return got
}

func TestMessagesWithTwoReadingsAreRefused(t *testing.T) {
	w := newWorld(t, Config{})
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`
	for name, message := range map[string]string{
		"duplicate key":        `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","name":"other","arguments":{}}}`,
		"case variant":         `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","Name":"other","arguments":{}}}`,
		"invalid UTF-8":        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}",
		"trailing data":        call + `{"x":1}`,
		"depth":                `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`,
		"lone surrogate":       `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"\ud800"}}`,
		"TOOL-19 batch":        `[` + call + `,` + strings.Replace(call, "echo", "other", 1) + `]`,
		"TOOL-19 batch of one": `[` + call + `]`,
	} {
		t.Run(name, func(t *testing.T) {
			w.notes.taken()
			resp, body := w.post(t, "/mcp", message, nil)
			if resp.StatusCode != http.StatusBadRequest || !bytes.Contains(body, []byte(`"id":null`)) {
				t.Errorf("HTTP: got %d %s", resp.StatusCode, body)
			}
			if diff := cmp.Diff(w.notes.taken(), []capability.Reason{capability.MalformedRequest}); diff != "" {
				t.Error(diff)
			}
			got := w.talk(t, 2, message, initialize)
			if all := strings.Join(got, ""); !strings.Contains(all, `"id":null`) || !strings.Contains(all, `"id":1`) {
				t.Errorf("stdio: got %q", got)
			}
			if diff := cmp.Diff(w.notes.taken(), []capability.Reason{capability.MalformedRequest}); diff != "" {
				t.Error(diff)
			}
		})
	}
	w.bodyTime = time.Minute // for a machine that is busy
	w.serve(t, Door{})
	long := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + strings.Repeat("a", maxBody) + `"}}`
	if resp, _ := w.post(t, "/mcp", long, nil); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a message of %d bytes: %d", len(long), resp.StatusCode)
	}
	if got := w.talk(t, 1, long); !strings.Contains(got[0], "a message is over") {
		t.Errorf("a line of %d bytes: %q", len(long), got)
	}
}
