package shell

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/trim"
	"scupper.dev/scupper/sandbox"
)

// throughPipeline is a world whose calls take every step of a gateway.
func throughPipeline(t *testing.T, fields []string) (*world, func(arguments string) gateway.Answer) {
	t.Helper()
	w := newWorld(t, nil)
	p, err := capability.Compile(policy(t).Grants(), []capability.Role{{Name: "dev", Tools: []string{"bash"}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(w.work), "audit")
	guard, err := audit.New(audit.Config{Dir: dir, Policy: p.WithTools([]capability.Tool{{Name: "bash"}})})
	if err != nil {
		t.Fatal(err)
	}
	w.log = filepath.Join(dir, guard.Run(), "000001.jsonl")
	series, err := sandbox.NewSeries(sandbox.SeriesConfig{Guard: guard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := series.Close(); err != nil {
			t.Error(err)
		}
		if err := guard.Close(0); err != nil {
			t.Error(err)
		}
	})
	w.tool.config.Sandboxes = series
	entry := w.tool.Entry()
	entry.Definition.Fields = fields
	g, err := gateway.New(gateway.Config{
		Authority: guard, Tools: []gateway.Registered{{Entry: entry}}, Trimmer: &trim.Trimmer{Store: w.tool.config.Store},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, func(arguments string) gateway.Answer {
		return g.Call(t.Context(), gateway.Asked{Principal: gateway.Principal{Role: "dev"}, Name: "bash", Arguments: json.RawMessage(arguments)})
	}
}

func TestCallAndItsEgressAreLinked(t *testing.T) {
	w, call := throughPipeline(t, nil)
	a := call(`{"command":"getent hosts evil.example; seq 100000; exit 3"}`)
	if a.Reason != capability.Granted || a.Result.Failed || a.Result.Structured == nil {
		t.Fatalf("%+v", a)
	}
	var f facts
	if err := json.Unmarshal(a.Result.Structured, &f); err != nil || *f.ExitCode != 3 || !f.Truncated || f.Rest != "result:"+a.ID {
		t.Errorf("%s %v", a.Result.Structured, err)
	}
	var decided, linked, finished bool
	for _, r := range w.records("") {
		switch {
		case r.ID == a.ID:
			decided = r.Tool != nil && r.Tool.Name == "bash"
		case r.Call == a.ID && r.Host == "evil.example":
			linked = decided && r.Verdict == "deny"
		case r.Decision == a.ID && r.Result != nil:
			finished = linked && r.Result.Produced == f.Bytes && r.Result.Shown == a.Result.Shown && len(r.Result.Digest) == 64
		}
	}
	if !decided || !linked || !finished {
		t.Errorf("on record: the call %v, its egress %v, its result %v", decided, linked, finished)
	}
}

func TestDeclaredFieldsOfACommand(t *testing.T) {
	_, call := throughPipeline(t, []string{"exit_code"})
	a := call(`{"command":"echo secret; exit 3"}`)
	if string(a.Result.Structured) != `{"exit_code":3}` || len(a.Result.Content) != 1 || a.Result.Content[0].Text != `{"exit_code":3}` {
		t.Errorf("%+v", a.Result)
	}
}

func TestArgumentsThatDoNotFit(t *testing.T) {
	_, call := throughPipeline(t, nil)
	for _, arguments := range []string{`{}`, `{"command":1}`, `{"command":"true","x":1}`, `{"command":"true","timeout":0}`, `{"handle":"x","action":"eat"}`} {
		a := call(arguments)
		if a.Reason == capability.Granted && !a.Result.Failed || len(a.Result.Content) > 0 && strings.Contains(a.Result.Content[0].Text, "exit code") {
			t.Errorf("%s: %+v", arguments, a)
		}
	}
}
