package audit

import (
	"os"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

func toolGuard(t *testing.T) (*Guard, string) {
	t.Helper()
	p, err := capability.Compile(nil, []capability.Role{{Name: "dev", Position: capability.Position{File: "p.hcl", Line: 2, Column: 1}, Tools: []string{"read"}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	g, err := New(Config{Dir: dir, Policy: p.WithTools([]capability.Tool{{Name: "read"}, {Name: "write"}}), PolicyPath: "p.hcl", PolicyText: []byte("version = 1\nrole \"dev\" { tools = [\"read\"] }\n")})
	if err != nil {
		t.Fatal(err)
	}
	return g, dir
}

func call(name string) *capability.Request {
	return &capability.Request{Kind: capability.KindTool, Tool: capability.ToolCall{Name: name, Role: "dev", Caller: "ci", Face: "http", Level: "read", Length: 14, Digest: "ab", Durable: true}}
}

func TestToolCallsAreOnRecordWithTheirResults(t *testing.T) {
	g, dir := toolGuard(t)
	d := g.Authorize(call("read"))
	if !d.Allowed() || d.ID == "" {
		t.Fatalf("got %+v", d)
	}
	if err := g.FinishTool(d, capability.ToolOutcome{Produced: 100, Shown: 10, Digest: "cd"}); err != nil {
		t.Fatal(err)
	}
	denied := g.Authorize(call("write"))
	g.Authorize(call("write"))
	if denied.Allowed() || denied.Reason != capability.ToolNotGranted {
		t.Errorf("got %+v", denied)
	}
	if err := g.Close(0); err != nil {
		t.Fatal(err)
	}
	e, err := Explain(dir, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	if e.Asked != "call read as dev" || !strings.HasPrefix(e.Outcome, "10 of 100 bytes shown") || e.Line != `role "dev" { tools = ["read"] }` {
		t.Errorf("got %+v", e)
	}
	if e, err = Explain(dir, denied.ID); err != nil {
		t.Fatal(err)
	}
	if e.Mismatch != `role "dev" does not list the tool` || e.Times != 2 || e.Sentence != "no such tool" {
		t.Errorf("got %+v", e)
	}
	if s := g.Summary(); s.Calls != 1 || s.Refused != 2 || s.Requests != 0 {
		t.Errorf("got %+v", s)
	}
	text, err := os.ReadFile(segmentFile(dir, g.Run(), 1))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `"tool":{`); n != 2 {
		t.Errorf("%d records of calls, want one each:\n%s", n, text)
	}
}
