package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// record is what these tests need of one line of the audit log.
type record struct {
	V        int       `json:"v"`
	Seq      int64     `json:"seq"`
	Time     time.Time `json:"time"`
	Event    string    `json:"event"`
	ID       string    `json:"id"`
	Decision string    `json:"decision"`
	Count    int64     `json:"count"`
	Kind     string    `json:"kind"`
	Verdict  string    `json:"verdict"`
	Reason   string    `json:"reason"`
	Grant    string    `json:"grant"`
	Host     string    `json:"host"`
	Address  string    `json:"address"`
	Port     uint16    `json:"port"`
	Method   string    `json:"method"`
	Path     string    `json:"path"`
	Protocol string    `json:"protocol"`
	Position string    `json:"position"`
	Status   int       `json:"status"`
	Received int64     `json:"received"`
	raw      string
}

// what is one line about a decision: kind, reason, protocol, destination.
func (r record) what() string {
	to := r.Host
	if to == "" {
		to = r.Address
	}
	if r.Port != 0 {
		to = net.JoinHostPort(to, strconv.Itoa(int(r.Port)))
	}
	return r.Kind + " " + r.Reason + " " + r.Protocol + " " + to
}

// auditLog is every record of a run, in order.
type auditLog []record

// readLog reads dir/RUN/*.jsonl. A line that is no JSON, a gap in the sequence or a
// second run are errors. A run that never started has no log.
func readLog(t testing.TB, dir string) auditLog {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	segments, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) > 1 {
		t.Errorf("one run wrote %d logs: %v", len(runs), runs)
	}
	slices.Sort(segments)
	var log auditLog
	for _, path := range segments {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, parseLog(t, path, content)...)
	}
	for i, r := range log {
		if r.Seq != log[0].Seq+int64(i) {
			t.Errorf("audit log %s: record %d has sequence number %d, after %d", dir, i, r.Seq, log[max(i-1, 0)].Seq)
		}
	}
	return log
}

func parseLog(t testing.TB, path string, content []byte) auditLog {
	t.Helper()
	var log auditLog
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		r := record{raw: lines.Text()}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("audit log %s: %v in %q", path, err, lines.Text())
			continue
		}
		log = append(log, r)
	}
	if err := lines.Err(); err != nil {
		t.Errorf("audit log %s: %v", path, err)
	}
	return log
}

// decisions are the decision records that keep.
func (l auditLog) decisions(keep func(record) bool) auditLog {
	var out auditLog
	for _, r := range l {
		if r.Event == "decision" && keep(r) {
			out = append(out, r)
		}
	}
	return out
}

func (l auditLog) denials() auditLog {
	return l.decisions(func(r record) bool { return r.Verdict != "allow" })
}

func (l auditLog) allowed(kind string) auditLog {
	return l.decisions(func(r record) bool { return r.Verdict == "allow" && r.Kind == kind })
}

// outcomes are the outcome records of one decision.
func (l auditLog) outcomes(id string) auditLog {
	var out auditLog
	for _, r := range l {
		if r.Event == "outcome" && r.Decision == id {
			out = append(out, r)
		}
	}
	return out
}

// String is the log as it stands in the file.
func (l auditLog) String() string {
	var b bytes.Buffer
	for _, r := range l {
		b.WriteString(r.raw + "\n")
	}
	return b.String()
}
