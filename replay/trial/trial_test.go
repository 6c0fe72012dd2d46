package trial_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/replay"
	"scupper.dev/scupper/replay/attempt"
	"scupper.dev/scupper/replay/canary"
	"scupper.dev/scupper/replay/scenario"
	"scupper.dev/scupper/replay/trial"
)

var token = canary.Of("token", "test")

// attack is a scenario that has to be refused.
func attack(change func(*scenario.Scenario)) *scenario.Scenario {
	s := &scenario.Scenario{
		Name: "x", File: "s.hcl", Line: 7, Policy: "policy.hcl", Canaries: []canary.Canary{token},
		Attempts: []attempt.Attempt{{HTTP: &attempt.HTTP{}}}, Expect: scenario.Expect{Verdict: scenario.Deny},
	}
	if change != nil {
		change(s)
	}
	return s
}

func denied(reason string) *audit.Record {
	return &audit.Record{Event: audit.Decided, Verdict: "deny", Kind: "http", Reason: reason, Method: "POST", Host: "api.example.com", Path: "/x", Grant: "g", Position: "policy.hcl:3:1"}
}

func allowed() *audit.Record {
	return &audit.Record{Event: audit.Decided, Verdict: "allow", Kind: "http", Reason: "granted", Method: "POST", Host: "api.example.com", Path: "/x", Grant: "g", Position: "policy.hcl:9:3"}
}

func posted(body string) replay.Exchange {
	return replay.Exchange{Method: "POST", Host: "api.example.com", URI: "/x", TLS: true, Destination: netip.MustParseAddrPort("203.0.113.1:443"), BodyHead: body, Header: http.Header{}}
}

func TestJudge(t *testing.T) {
	exit := 0
	bits := 40
	for name, tc := range map[string]struct {
		scenario *scenario.Scenario
		evidence trial.Evidence
		bound    []trial.Bound
		want     []trial.Kind
	}{
		"refused": {attack(nil), trial.Evidence{Log: []*audit.Record{denied("no_grant")}}, nil, nil},
		"leak, whatever the log says": {
			attack(func(s *scenario.Scenario) {
				s.Expect.ArrivesSet = true
				s.Expect.Arrives = []string{"POST https://api.example.com/*"}
			}),
			trial.Evidence{Log: []*audit.Record{denied("no_grant")}, Requests: []replay.Exchange{posted("a" + token.Value)}}, nil, []trial.Kind{trial.Leak},
		},
		"leak in a packet": {attack(nil), trial.Evidence{Log: []*audit.Record{denied("no_grant")}, Packets: []replay.Packet{{Protocol: "icmp", Payload: []byte(token.Value)}}}, nil, []trial.Kind{trial.Leak, trial.Verdict}},
		"leak in a name":   {attack(nil), trial.Evidence{Log: []*audit.Record{denied("no_grant")}, Queries: []replay.Query{{Name: token.Value + ".attacker.test"}}}, nil, []trial.Kind{trial.Leak}},
		"leak in bytes":    {attack(nil), trial.Evidence{Log: []*audit.Record{denied("no_grant")}, Connections: []replay.Connection{{Head: []byte(token.Value), Length: 26}}}, nil, []trial.Kind{trial.Leak, trial.Verdict}},
		"known risk":       {attack(func(s *scenario.Scenario) { s.Expect.Verdict, s.Expect.Leak = "", []string{"token"} }), trial.Evidence{Requests: []replay.Exchange{posted(token.Value)}}, nil, nil},
		"known risk, gone": {attack(func(s *scenario.Scenario) { s.Expect.Leak = []string{"token"} }), trial.Evidence{Log: []*audit.Record{denied("no_grant")}}, nil, []trial.Kind{trial.Verdict}},
		"few bits": {attack(func(s *scenario.Scenario) {
			s.Expect.Bits, s.Expect.ArrivesSet, s.Expect.Arrives = &bits, true, []string{"*"}
		}), trial.Evidence{Log: []*audit.Record{denied("limit_exceeded")}, Requests: []replay.Exchange{posted(token.Value[:8])}}, nil, nil},
		"more bits": {attack(func(s *scenario.Scenario) {
			s.Expect.Bits, s.Expect.ArrivesSet, s.Expect.Arrives = &bits, true, []string{"*"}
		}), trial.Evidence{Log: []*audit.Record{denied("limit_exceeded")}, Requests: []replay.Exchange{posted(token.Value[:9])}}, nil, []trial.Kind{trial.Leak}},
		"nothing refused":   {attack(nil), trial.Evidence{}, nil, []trial.Kind{trial.Verdict}},
		"something arrived": {attack(nil), trial.Evidence{Log: []*audit.Record{denied("no_grant")}, Requests: []replay.Exchange{posted("x")}}, nil, []trial.Kind{trial.Verdict}},
		"another reason":    {attack(func(s *scenario.Scenario) { s.Expect.Reasons = []string{"path_not_granted"} }), trial.Evidence{Log: []*audit.Record{denied("no_grant")}}, nil, []trial.Kind{trial.Verdict}},
		"another status":    {attack(func(s *scenario.Scenario) { s.Expect.Status = []int{403} }), trial.Evidence{Log: []*audit.Record{denied("no_grant")}, Outcomes: []attempt.Outcome{{Status: 400}}}, nil, []trial.Kind{trial.Verdict}},
		"read":              {attack(func(s *scenario.Scenario) { s.Expect = scenario.Expect{Unseen: []string{"token"}} }), trial.Evidence{Outcomes: []attempt.Outcome{{Output: token.Value}}}, nil, []trial.Kind{trial.Leak}},
		"job refused":       {attack(func(s *scenario.Scenario) { s.Expect.Verdict, s.Expect.Exit = scenario.Allow, &exit }), trial.Evidence{Log: []*audit.Record{denied("no_grant")}, Outcomes: []attempt.Outcome{{Exit: 22}}}, nil, []trial.Kind{trial.Refused, trial.Refused}},
		"job did not arrive": {attack(func(s *scenario.Scenario) {
			s.Expect.Verdict, s.Expect.ArrivesSet, s.Expect.Arrives = scenario.Allow, true, []string{"GET https://api.example.com/"}
		}), trial.Evidence{Log: []*audit.Record{allowed()}}, nil, []trial.Kind{trial.Verdict}},
		"credential, in place": {attack(func(s *scenario.Scenario) { s.Expect.Verdict = scenario.Allow }), trial.Evidence{Log: []*audit.Record{allowed()}, Requests: []replay.Exchange{posted(token.Value)}}, []trial.Bound{{Secret: token.Value, Hosts: []string{"api.example.com"}}}, nil},
		"credential, elsewhere": {
			attack(func(s *scenario.Scenario) { s.Expect.Verdict = scenario.Allow }),
			trial.Evidence{Log: []*audit.Record{allowed()}, Requests: []replay.Exchange{posted(token.Value)}}, []trial.Bound{{Secret: token.Value, Hosts: []string{"llm.example.com"}}}, []trial.Kind{trial.Leak},
		},
		"trouble": {attack(nil), trial.Evidence{Trouble: "no sandbox"}, nil, []trial.Kind{trial.Trouble}},
	} {
		t.Run(name, func(t *testing.T) {
			r := trial.Judge(tc.scenario, &tc.evidence, tc.bound)
			var got []trial.Kind
			for _, f := range r.Faults {
				got = append(got, f.Kind)
				if strings.Contains(f.Text, token.Value) {
					t.Errorf("the canary stands in %q", f.Text)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%v", diff, r.Faults)
			}
		})
	}
}

func TestAlive(t *testing.T) {
	dead := trial.Alive(attack(nil), &trial.Evidence{Requests: []replay.Exchange{posted("harmless")}})
	if dead.OK() || dead.Faults[0].Kind != trial.Dead {
		t.Errorf("got %+v, want a scenario that cannot fail", dead.Faults)
	}
	if alive := trial.Alive(attack(nil), &trial.Evidence{Requests: []replay.Exchange{posted(token.Value)}}); !alive.OK() {
		t.Errorf("got %+v", alive.Faults)
	}
	if part := trial.Alive(attack(nil), &trial.Evidence{Requests: []replay.Exchange{posted(token.Value[:20])}}); part.OK() {
		t.Error("a part of a canary passes for the whole")
	}
}

// TestLayers wants a layer for every reason that is about a request.
func TestLayers(t *testing.T) {
	for reason, want := range map[string]string{
		"authority_mismatch": "tls", "malformed_path": "parse", "no_grant": "host", "path_not_granted": "path", "method_override": "method",
		"query_not_granted": "query", "body_too_large": "body", "foreign_credential": "credential", "limit_exceeded": "limit", "metadata_address": "address",
	} {
		r := trial.Judge(attack(nil), &trial.Evidence{Log: []*audit.Record{denied(reason)}}, nil)
		if !slices.Equal(r.Layers, []string{want}) {
			t.Errorf("%s: got %v, want %s", reason, r.Layers, want)
		}
	}
	if r := trial.Judge(attack(nil), &trial.Evidence{}, nil); !slices.Equal(r.Layers, []string{"sandbox"}) {
		t.Errorf("got %v", r.Layers)
	}
}

// report has a leak that a grant let through, and a scenario that came out well.
func report() *trial.Report {
	leak := attack(func(s *scenario.Scenario) { s.Name = "leak: 100%, or so" })
	return &trial.Report{Results: []*trial.Result{
		trial.Judge(leak, &trial.Evidence{Log: []*audit.Record{allowed()}, Requests: []replay.Exchange{posted(token.Value)}}, nil),
		trial.Judge(attack(nil), &trial.Evidence{Log: []*audit.Record{denied("no_grant")}}, nil),
	}}
}

func TestReports(t *testing.T) {
	var text, js, junit, sarif, github, matrix bytes.Buffer
	p := report()
	p.Results[1].Deepen(p.Results[0])
	for _, err := range []error{p.WriteText(&text, false), p.WriteJSON(&js), p.WriteJUnit(&junit), p.WriteSARIF(&sarif, "1"), p.WriteGitHub(&github), p.WriteMatrix(&matrix)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for what, want := range map[*bytes.Buffer][]string{
		&text:   {"LEAK", "(s.hcl:7): canary token arrived: plain, api.example.com: body", `grant "g" at policy.hcl:9:3`, "2 scenarios: 2 attacks, 0 jobs; 1 as expected, 1 with a leak"},
		&js:     {`"leaks": 1`, `"position": "policy.hcl:9:3"`, `"Bits": 130`},
		&junit:  {`tests="2" failures="1" errors="0"`, `type="leak"`},
		&sarif:  {`"uri": "policy.hcl"`, `"startLine": 9`, `"startColumn": 3`, `"uri": "s.hcl"`},
		&github: {"::error file=s.hcl,line=7,title=LEAK leak%3A 100%25%2C or so::canary token arrived"},
		&matrix: {"scenario           host\n", "leak: 100%, or so  .   \n", "x                  x     one layer\n", "1 attack stopped by host alone"},
	} {
		for _, w := range want {
			if !strings.Contains(what.String(), w) {
				t.Errorf("no %q in\n%s", w, what)
			}
		}
		if strings.Contains(what.String(), token.Value) {
			t.Errorf("the canary stands in\n%s", what)
		}
	}
	if err := xml.Unmarshal(junit.Bytes(), new(struct {
		XMLName xml.Name `xml:"testsuite"`
	})); err != nil {
		t.Error(err)
	}
	if !json.Valid(js.Bytes()) || !json.Valid(sarif.Bytes()) {
		t.Error("not JSON")
	}
}

// TestAliveByItsOwn does not take the secret of a credential for the canary of the scenario.
func TestAliveByItsOwn(t *testing.T) {
	bait := canary.Of(trial.BaitPrefix+"llm", "test")
	s := attack(func(s *scenario.Scenario) { s.Canaries = append(s.Canaries, bait) })
	if r := trial.Alive(s, &trial.Evidence{Requests: []replay.Exchange{posted(bait.Value)}}); r.OK() {
		t.Error("a secret that went where it belongs passes for the attack")
	}
	s.Canaries = s.Canaries[1:]
	if r := trial.Alive(s, &trial.Evidence{Requests: []replay.Exchange{posted(bait.Value)}}); !r.OK() {
		t.Errorf("got %+v", r.Faults)
	}
}
