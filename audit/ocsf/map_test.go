package ocsf

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"scupper.dev/scupper/audit"
)

var update = flag.Bool("update", false, "rewrite the golden file")

const (
	golden = "testdata/events.jsonl"
	run    = "20261130t124500-k3f7x2"
)

// records are one of each kind that a log has.
func records() []audit.Record {
	http := func(r audit.Record) audit.Record {
		r.Event, r.Kind, r.Host, r.Port, r.Scheme, r.Protocol = audit.Decided, "http", "api.example.com", 443, "https", "HTTP/2.0"
		return r
	}
	return []audit.Record{
		{Event: audit.RunStarted, Run: &audit.Start{ID: run, Scupper: "0.4.0", Policy: "policy.hcl", PolicyHash: "ab12", Command: []string{"npm", "ci"}, User: "1000"}},
		{Event: audit.Decided, ID: run + "-2", Kind: "name", Verdict: "allow", Reason: "granted", Grant: "api", Position: "policy.hcl:2:1", Host: "api.example.com", Protocol: "AAAA"},
		http(audit.Record{ID: run + "-3", Verdict: "allow", Reason: "granted", Grant: "api", Position: "policy.hcl:7:3", Method: "POST", Path: "/v1/items", Query: []audit.Parameter{{Name: "q", Value: "…", Length: 4}}, Body: &audit.Body{Type: "application/json", Length: 17}, Bound: "forge"}),
		{Event: audit.Ended, Decision: run + "-3", Grant: "api", Status: 201, Sent: 300, Received: 4000, Upstream: "192.0.2.7:443", Took: 70_000_000, Stripped: 2},
		http(audit.Record{ID: run + "-5", Verdict: "deny", Reason: "foreign_credential", Grant: "api", Position: "policy.hcl:7:3", Method: "PROPFIND", Path: "/<script>\u202e", Mismatch: "a credential", Foreign: []audit.Foreign{{In: "header", Name: "X-Api-Key", Fingerprint: "b1"}}}),
		{Event: audit.Repeated, Decision: run + "-5", Count: 12},
		{Event: audit.Decided, ID: run + "-7", Kind: "connect", Verdict: "deny", Reason: "port_not_granted", Host: "api.example.com", Address: "198.18.0.3", Port: 22},
		{Event: audit.Decided, ID: run + "-8", Kind: "packet", Verdict: "deny", Reason: "protocol_not_granted", Protocol: "udp", Address: "198.51.100.9", Port: 53},
		{Event: audit.Decided, ID: run + "-9", Kind: "http", Verdict: "deny", Reason: "malformed_request", Excerpt: `\x1b]0;owned\a`},
		{Event: audit.Decided, ID: run + "-10", Kind: "tool", Verdict: "allow", Reason: "granted", Position: "policy.hcl:40:1", Tool: &audit.ToolCall{Name: "read_file", Version: "1", Role: "coder", Caller: "agent-1"}},
		{Event: audit.Ended, Decision: run + "-10", Result: &audit.ToolResult{Produced: 90, Shown: 40}},
		{Event: audit.Ended, Decision: run + "-1", Error: "the request is not known here"},
		{Event: audit.Gap, Count: 3},
		{Event: audit.PolicyChanged, Change: &audit.Change{From: "ab12", To: "cd34", Refused: "a mistake"}},
		{Event: audit.LimitReached, Limit: "memory", Says: "a process was killed"},
		{Event: audit.RunEnded, Reason: "run_ended", Summary: &audit.Summary{Run: run, Exit: 3}},
	}
}

func events(t *testing.T) (events []*Event, lines [][]byte) {
	t.Helper()
	m := NewMapper("0.4.1")
	m.Begin(run)
	for i, r := range records() {
		r.Version, r.Seq, r.Time = audit.Version, int64(i+1), time.Date(2026, 11, 30, 12, 45, i, 5e6, time.UTC)
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Event(&audit.Line{Record: &r, Bytes: line}, &Proof{State: "verified", LeafIndex: r.Seq - 1, LeafHash: audit.LeafHash(line)})
		if err != nil {
			t.Fatal(err)
		}
		events, lines = append(events, e), append(lines, line)
	}
	return events, lines
}

func TestEvents(t *testing.T) {
	var b bytes.Buffer
	all, _ := events(t)
	for _, e := range all {
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// TestRequiredAttributes holds every event against what its class requires, and every
// object against what the schema requires of it.
func TestRequiredAttributes(t *testing.T) {
	classes := map[float64][]string{4001: {}, 4002: {"http_request|http_response"}, 4003: {"query"}, 6002: {"app"}, 6003: {"actor", "api", "src_endpoint"}}
	objects := map[string][]string{
		"http_request": {"url"}, "http_response": {"code"}, "query": {"hostname"}, "connection_info": {"direction_id"}, "app": {"name", "vendor_name"},
		"api": {"operation"}, "raw_data_hash": {"algorithm_id", "value"}, "metadata": {"version", "product"}, "firewall_rule": {"name"},
	}
	seen := map[float64]bool{}
	all, lines := events(t)
	for i, e := range all {
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		class, _ := got["class_uid"].(float64)
		seen[class] = true
		required, known := classes[class]
		if !known {
			t.Errorf("event %d has class %v", i, class)
		}
		required = append([]string{"activity_id", "category_uid", "type_uid", "time", "severity_id", "metadata", "class_uid"}, required...)
		if int(class)/1000 == 4 {
			required = append(required, "src_endpoint|dst_endpoint")
		}
		for _, name := range required {
			if !has(got, name) {
				t.Errorf("event %d of class %v has no %s: %s", i, class, name, raw)
			}
		}
		for object, names := range objects {
			if o, ok := got[object].(map[string]any); ok {
				for _, name := range names {
					if o[name] == nil || o[name] == "" {
						t.Errorf("event %d: %s has no %s: %s", i, object, name, raw)
					}
				}
			}
		}
		if got["type_uid"] != class*100+got["activity_id"].(float64) || got["category_uid"] != float64(int(class)/1000) {
			t.Errorf("event %d: the identifiers do not fit: %s", i, raw)
		}
		if got["raw_data"] != string(lines[i]) {
			t.Errorf("event %d: raw_data is not the line", i)
		}
	}
	if len(seen) != len(classes) {
		t.Errorf("the records make events of %d classes, want %d", len(seen), len(classes))
	}
}

func has(event map[string]any, names string) bool {
	for name := range bytes.SplitSeq([]byte(names), []byte("|")) {
		if event[string(name)] != nil {
			return true
		}
	}
	return false
}
