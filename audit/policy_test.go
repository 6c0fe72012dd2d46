package audit

import (
	"os"
	"strings"
	"sync"
	"testing"

	"scupper.dev/scupper/capability"
)

func TestReplace(t *testing.T) {
	const other = "version = 1\n# grants nothing\n"
	g := newGuard(t, nil)
	request := ask(t, "GET", "api.example.com", "/repos/app?state=open")
	if d := g.Authorize(request); !d.Allowed() {
		t.Fatalf("control: %s", d.Reason)
	}
	if err := g.KeepPolicy([]byte("broken"), "line 1: broken"); err != nil {
		t.Fatal(err)
	}
	if d := g.Authorize(request); !d.Allowed() {
		t.Fatalf("SBX-13 after a refused policy: %s", d.Reason)
	}
	if err := g.Replace(new(capability.Policy), []byte(other), "a note"); err != nil {
		t.Fatal(err)
	}
	denied := g.Authorize(request)
	if denied.Reason != capability.NoGrant {
		t.Fatalf("HP-21 after the new policy: %s %s", denied.Verdict(), denied.Reason)
	}
	on := records(t, g)
	first, second := digestOf([]byte(policyText)), digestOf([]byte(other))
	changes := events(on, PolicyChanged)
	if len(changes) != 2 || *changes[0].Change != (Change{From: first, To: digestOf([]byte("broken")), Refused: "line 1: broken"}) ||
		*changes[1].Change != (Change{From: first, To: second, Note: "a note"}) {
		t.Errorf("got %+v", changes)
	}
	decisions := events(on, Decided)
	if len(decisions) != 3 || decisions[0].Policy != "" || decisions[1].Policy != "" || decisions[2].Policy != second[:12] {
		t.Errorf("got %+v", decisions)
	}
	if text, err := os.ReadFile(policyFile(g.config.Dir, g.run, second)); err != nil || string(text) != other {
		t.Errorf("the text kept: %q, %v", text, err)
	}
	if e, err := Explain(g.config.Dir, denied.ID); err != nil || e.Hash != second {
		t.Errorf("explained by the policy %+v, %v", e, err)
	}
}

// TestReplaceUnderLoad: every record names the one policy that judged it.
func TestReplaceUnderLoad(t *testing.T) {
	g := newGuard(t, nil)
	texts := map[bool]string{true: policyText, false: "version = 1\n"}
	policies := map[bool]*capability.Policy{true: g.Policy(), false: new(capability.Policy)}
	var askers sync.WaitGroup
	for range 4 {
		askers.Go(func() {
			for range 200 {
				g.Authorize(ask(t, "GET", "api.example.com", "/repos/app?state=open"))
			}
		})
	}
	for i := range 100 {
		if err := g.Replace(policies[i%2 == 1], []byte(texts[i%2 == 1]), ""); err != nil {
			t.Error(err)
		}
	}
	askers.Wait()
	granting := digestOf([]byte(texts[true]))
	for _, r := range events(records(t, g), Decided) {
		if r.Policy != "" && (r.Verdict == "allow") != strings.HasPrefix(granting, r.Policy) {
			t.Errorf("%s %s by policy %s", r.Verdict, r.Reason, r.Policy)
		}
	}
}
