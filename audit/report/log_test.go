package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scupper.dev/scupper/audit"
)

// hostile is what must stay text on a page and on a terminal.
const hostile = "</code></td><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J\u202e\u200b{{.}}"

const policyText = `version = 1
grant "api" {
  reason     = "reading issues"
  owner      = "forge-team"
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/repos/{repo}"
  }
}
`

// writer writes the log of one run as the guard does, with times and an ID of its own.
type writer struct {
	t    testing.TB
	dir  string
	run  string
	at   time.Time
	seq  int64
	file *os.File
	out  *bufio.Writer
}

func newWriter(t testing.TB, dir string, start time.Time, random string) *writer {
	t.Helper()
	w := &writer{t: t, dir: dir, run: start.UTC().Format("20060102t150405") + "-" + random, at: start}
	if err := os.MkdirAll(filepath.Join(dir, w.run), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, w.run, "000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	w.file, w.out = f, bufio.NewWriter(f)
	return w
}

func (w *writer) source() Source { return Source{w.dir, w.run} }

func (w *writer) keep(text string) (hash string) {
	sum := sha256.Sum256([]byte(text))
	hash = hex.EncodeToString(sum[:])
	if err := os.WriteFile(filepath.Join(w.dir, w.run, "policy-"+hash+".hcl"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return hash
}

// put appends a record after a while and returns its decision's ID.
func (w *writer) put(after time.Duration, r audit.Record) string {
	w.seq++
	w.at = w.at.Add(after)
	r.Version, r.Seq, r.Time = audit.Version, w.seq, w.at.UTC()
	if r.Event == audit.Decided {
		r.ID = fmt.Sprintf("%s-%d", w.run, w.seq)
	}
	line, err := json.Marshal(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.out.Write(append(line, '\n'))
	return r.ID
}

func (w *writer) close() {
	if err := w.out.Flush(); err != nil {
		w.t.Fatal(err)
	}
	w.file.Close()
}

// allow writes an allowed request and its outcome.
func (w *writer) allow(after time.Duration, r audit.Record, sent, received int64) {
	r.Event, r.Kind, r.Verdict, r.Reason = audit.Decided, "http", "allow", "granted"
	if r.Scheme == "" {
		r.Scheme, r.Port = "https", 443
	}
	id := w.put(after, r)
	w.put(80*time.Millisecond, audit.Record{Event: audit.Ended, Decision: id, Grant: r.Grant, Status: 200, Sent: sent, Received: received})
}

// deny writes a refusal and how often its like came again.
func (w *writer) deny(after time.Duration, r audit.Record, again int64) {
	r.Event, r.Verdict = audit.Decided, "deny"
	if r.Kind == "" {
		r.Kind, r.Scheme, r.Port = "http", "https", 443
	}
	id := w.put(after, r)
	if again > 0 {
		w.put(time.Second, audit.Record{Event: audit.Repeated, Decision: id, Count: again})
	}
}

func controls(memory bool) []map[string]any {
	return []map[string]any{
		{"name": "filesystem", "in_force": true, "detail": "read-only root from nothing, uid 1000"},
		{"name": "network", "in_force": true, "detail": "every address leads to scupper"},
		{"name": "memory", "in_force": memory, "detail": map[bool]string{true: "2 GiB, temporary files included (cgroup v2)", false: "no control group may be made here"}[memory]},
		{"name": "time", "in_force": false, "detail": "no limit was asked for"},
	}
}

const smallest = `grant "new-api.example.com" {
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = ["POST"]
    path    = "/repos/app/issues"
  }
}
`

// sample is the logs of three runs with something of everything.
func sample(t testing.TB, dir string) []Source {
	t.Helper()
	start := time.Date(2026, 11, 30, 9, 12, 0, 0, time.UTC)
	first := newWriter(t, dir, start, "k3f7x2")
	hash := first.keep(policyText)
	begin := func(w *writer, memory bool, overrides []string, command ...string) {
		w.put(0, audit.Record{Event: audit.RunStarted, Run: &audit.Start{
			ID: w.run, Scupper: "0.4.0", Policy: "/home/dev/shop/policy.hcl", PolicyHash: hash, Command: command, Controls: controls(memory), Overrides: overrides, User: "1000", PID: 7,
		}})
	}
	end := func(w *writer, after time.Duration, exit int) {
		w.put(after, audit.Record{Event: audit.RunEnded, Reason: "run_ended", Summary: &audit.Summary{Run: w.run, Exit: exit}})
		w.close()
	}
	begin(first, true, nil, "npm", "ci")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 140 {
		first.allow(time.Duration(200+random.IntN(400))*time.Millisecond, audit.Record{Grant: "npm", Position: "policy.hcl:20:1", Host: "npm.example.com", Method: "GET", Path: fmt.Sprintf("/package-%d", i)}, 300+random.Int64N(200), 20_000+random.Int64N(90_000))
	}
	end(first, time.Second, 0)

	second := newWriter(t, dir, start.Add(9*time.Minute), "m2r6qa")
	second.keep(policyText)
	begin(second, false, []string{"api.example.com:443:127.0.0.1:8443"}, "agent", "--task", "fix "+hostile)
	for i := range 60 {
		second.allow(time.Duration(1+random.IntN(9))*time.Second, audit.Record{Grant: "inference", Bound: "llm", Host: "llm.example.com", Method: "POST", Path: "/v1/messages"}, 4_000+random.Int64N(30_000), 9_000)
		if i%3 == 0 {
			second.allow(time.Second, audit.Record{Grant: "api", Position: "policy.hcl:7:3", Host: "api.example.com", Method: "GET", Path: "/repos/app"}, 280, 4_100)
		}
		if i%20 == 5 {
			second.deny(time.Second, audit.Record{Reason: "method_not_granted", Grant: "api", Position: "policy.hcl:7:3", Host: "api.example.com", Method: "POST", Path: "/repos/app/issues", Mismatch: "method POST is not in GET", Smallest: smallest}, 6)
		}
	}
	second.deny(time.Second, audit.Record{Reason: "path_not_granted", Grant: "api", Position: "policy.hcl:7:3", Host: "api.example.com", Method: "GET", Path: "/" + hostile, Mismatch: "no path matches " + hostile, Smallest: smallest}, 0)
	second.deny(time.Second, audit.Record{Reason: "no_grant", Kind: "name", Host: "telemetry.example.net", Protocol: "A", Mismatch: "no grant names telemetry.example.net", Smallest: "grant \"new-telemetry.example.net\" {\n  host = \"telemetry.example.net\"\n}\n"}, 41)
	second.deny(time.Second, audit.Record{Reason: "no_grant", Kind: "name", Host: "paste.example.org", Protocol: "A", Mismatch: "no grant names paste.example.org"}, 2)
	second.deny(time.Second, audit.Record{Reason: "foreign_credential", Grant: "inference", Host: "llm.example.com", Method: "POST", Path: "/v1/files", Mismatch: "the header x-api-key holds a credential that the grant does not bind", Foreign: []audit.Foreign{{In: "header", Name: "X-Api-Key", Fingerprint: "b1946ac9"}}}, 1)
	second.deny(time.Second, audit.Record{Reason: "protocol_not_granted", Kind: "packet", Protocol: "udp", Address: "198.51.100.9", Port: 443, Mismatch: "this protocol is not granted; do not retry"}, 12)
	second.deny(time.Second, audit.Record{Reason: "malformed_request", Host: "api.example.com", Method: hostile, Excerpt: hostile, Mismatch: "the request has more than one reading; use an ordinary HTTP client"}, 0)
	for i := range 5 {
		id := second.put(time.Second, audit.Record{Event: audit.Decided, Kind: "tool", Verdict: "allow", Reason: "granted", Position: "policy.hcl:40:1", Tool: &audit.ToolCall{Name: "read_file", Role: "coder"}})
		second.put(time.Second, audit.Record{Event: audit.Ended, Decision: id, Result: &audit.ToolResult{Produced: 90_000, Shown: 16_000, Failed: i == 3}})
	}
	second.deny(time.Second, audit.Record{Kind: "tool", Reason: "tool_not_granted", Tool: &audit.ToolCall{Name: "drop_table " + hostile, Role: "coder"}}, 2)
	second.put(time.Second, audit.Record{Event: audit.PolicyChanged, Change: &audit.Change{From: hash, To: "9f" + hash[2:], Refused: "policy.hcl:3:1: no such attribute " + hostile}})
	end(second, time.Second, 1)

	third := newWriter(t, dir, start.Add(40*time.Minute), "zz7abc")
	third.keep(policyText)
	begin(third, true, nil, "pytest", "-q")
	third.allow(time.Second, audit.Record{Grant: "api", Position: "policy.hcl:7:3", Host: "api.example.com", Method: "GET", Path: "/repos/app"}, 280, 4_100)
	third.close()
	return []Source{first.source(), second.source(), third.source()}
}
