package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// verdicts answers by what a result says.
type verdicts map[string]Verdict

func (v verdicts) Inspect(_ context.Context, _ *Call, r Result) (Verdict, string) {
	for text, verdict := range v {
		if strings.Contains(r.Content[0].Text, text) {
			return verdict, ""
		}
	}
	return Pass, ""
}

// reader is a second tool, without an inspector, that reads what the first one left out.
func reader(t *testing.T, w *world, handle, text string) Answer {
	t.Helper()
	w.tools["off"].Tool = work(func(context.Context, *Call) Result {
		r := Text(text)
		r.RestOf = handle
		return r
	})
	p, err := capability.Compile(nil, []capability.Role{{Name: "dev", Tools: []string{"echo", "off"}}})
	if err != nil {
		t.Fatal(err)
	}
	w.notes.policy = p.WithTools([]capability.Tool{{Name: "echo"}, {Name: "off"}})
	return w.ask("off", good, "")
}

func TestTheRestOfAResultIsInspectedAsTheResultWas(t *testing.T) {
	for first, want := range map[string]struct{ clean, marked, bad Verdict }{
		"clean":    {Pass, Flag, Withhold},
		"marked":   {Pass, Flag, Withhold},
		"withheld": {Withhold, Withhold, Withhold},
	} {
		w := newWorld(t, func(r *Registered) {
			r.Inspector = verdicts{"marked": Flag, "withheld": Withhold, "bad": Withhold}
			r.Tool = work(func(context.Context, *Call) Result { return Text(first) })
		})
		id := w.ask("echo", good, "").ID
		for text, verdict := range map[string]Verdict{"clean": want.clean, "marked": want.marked, "bad": want.bad} {
			a := reader(t, w, id, text)
			if got := w.notes.outcomes[len(w.notes.outcomes)-1].Verdict; got != string(verdict) || (a.Result.Content[0].Text == text) != (verdict == Pass) {
				t.Errorf("after %q, the rest %q: %q, %+v", first, text, got, a.Result.Content)
			}
			// What was left out of that, in its turn.
			if b := reader(t, w, a.ID+".2", "bad"); b.Result.Content[0].Text == "bad" {
				t.Errorf("after %q, the rest of the rest is shown", first)
			}
		}
		if a := reader(t, w, "another", "bad"); a.Result.Content[0].Text != "bad" {
			t.Errorf("the rest of what nobody inspects: %+v", a.Result.Content)
		}
	}
}

// IDs count up, and what runs in a sandbox is told some of them by refusals.
func TestTheBorderOfAFlaggedResultCannotBeWritten(t *testing.T) {
	w := newWorld(t, func(r *Registered) { r.Inspector = verdicts{"": Flag} })
	a, b := w.ask("echo", good, ""), w.ask("echo", good, "")
	end := a.Result.Content[len(a.Result.Content)-1].Text
	if strings.Contains(end, a.ID) || end == b.Result.Content[len(b.Result.Content)-1].Text {
		t.Errorf("the result ends with %q", end)
	}
}

// crashing is a trimmer with a fault.
type crashing struct{}

func (crashing) Trim(*Call, *Definition, Result) Result { panic("index out of range") }

func TestAStepThatCrashesShowsNothingAndIsOnRecord(t *testing.T) {
	w := newWorld(t, nil)
	w.config.Trimmer = crashing{}
	for range 2 { // the second one would wait for the first
		a := w.ask("echo", good, "key")
		if !a.Result.Failed || strings.Contains(a.Result.Content[0].Text, "did") {
			t.Errorf("got %+v", a)
		}
	}
	if n := w.effects.Load(); n != 1 || len(w.notes.outcomes) != 2 || !strings.Contains(w.notes.outcomes[0].Error, "crashed") {
		t.Errorf("%d effects, on record %+v", n, w.notes.outcomes)
	}
}

func TestARetryThatIsCancelledIsOnRecord(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(r *Registered) {
		r.Tool = work(func(context.Context, *Call) Result {
			close(begun)
			<-end
			return Text("done")
		})
	})
	first := make(chan struct{})
	go func() { w.ask("echo", good, "key"); close(first) }()
	<-begun
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	a := w.Call(ctx, Asked{Principal: Principal{Role: "dev", Caller: "ci", Face: "http"}, Name: "echo", Arguments: json.RawMessage(good), Key: "key"})
	close(end)
	<-first
	if a.ID == "" || strings.Join(w.notes.steps, " ") != "authorize refuse:run_ended finish" {
		t.Errorf("got %+v, on record %q", a, w.notes.steps)
	}
}
