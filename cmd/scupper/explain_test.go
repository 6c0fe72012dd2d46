package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func holds(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

func TestExplainShowsProofAndPolicyAsItWas(t *testing.T) {
	in := install(t)
	id := in.run + "-5"
	const then = "              2  grant \"api\" {\n              ...\n          >   5    allow {\n              6      methods = [\"GET\"]\n              7      path    = \"/status\"\n              8    }\n"
	text := in.scupper(0, "explain", id)
	holds(t, text, "asked     PUT https://api.example.com/status\n", then, "record    line 5 of 000001.jsonl\n", "proof     verified: the record is under the head "+in.run+":")
	if strings.Contains(text, "has changed since") {
		t.Errorf("the policy has not changed:\n%s", text)
	}

	in.policy(strings.ReplaceAll(granted, `["GET"]`, `["GET", "PUT"]`))
	holds(t, in.scupper(0, "explain", id), "policy.hcl:5:3; the policy has changed since; as it was then:\n"+then)
	if got := in.scupper(0, "explain", "--text", id); got != granted {
		t.Errorf("the policy then was\n%s", got)
	}
	if err := os.Remove(in.policy("")); err != nil {
		t.Fatal(err)
	}
	holds(t, in.scupper(0, "explain", id), "that policy is gone since", then)

	var e struct {
		Proof   struct{ State, Head string }
		Record  map[string]any
		Excerpt []struct{ Line int }
	}
	if err := json.Unmarshal([]byte(in.scupper(0, "explain", "--json", id)), &e); err != nil || e.Proof.State != "verified" || e.Record["method"] != "PUT" || len(e.Excerpt) != 6 {
		t.Errorf("facts are %+v, %v", e, err)
	}
}

func TestExplainOfAChangedLogSaysSo(t *testing.T) {
	in := install(t)
	in.damage(`"method":"PUT"`, `"method":"GET"`)
	holds(t, in.scupper(0, "explain", in.run+"-5"), "proof     failed: ", "(record 5)")
	holds(t, in.scupper(0, "explain", in.run+"-2"), "proof     failed: ") // a log that was changed proves nothing
}

func TestExplainWithoutAKey(t *testing.T) {
	in := install(t)
	dir := in.dir
	in.home = t.TempDir()
	holds(t, in.scupper(0, "explain", "--audit", dir, in.run+"-5"), "proof     not verified: there is no public key")
}
