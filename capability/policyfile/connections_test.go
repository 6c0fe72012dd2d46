package policyfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/capability"
)

func TestConnections(t *testing.T) {
	policy := `version = 1
connections {
  header_bytes   = "32KiB"
  header_count   = 100
  header_time    = "5s"
  url_bytes      = "8KiB"
  query_pairs    = 64
  body_time      = "30s"
  body_rate      = "1KiB"
  request_time   = "1h"
  idle_time      = "2m"
  handshake_time = "5s"
  handshakes     = "50/s"
  streams        = 100
  open           = 500
  questions      = 10000
  question_rate  = "100/s"
}
`
	want := Connections{
		HeaderBytes: 32 << 10, HeaderCount: 100, HeaderTime: 5 * time.Second, URLBytes: 8 << 10, QueryPairs: 64,
		BodyTime: 30 * time.Second, BodyRate: 1 << 10, RequestTime: time.Hour, IdleTime: 2 * time.Minute, HandshakeTime: 5 * time.Second,
		Handshakes: capability.Rate{Requests: 50, Per: time.Second}, Streams: 100, Open: 500,
		Questions: 10000, QuestionRate: capability.Rate{Requests: 100, Per: time.Second},
	}
	if diff := cmp.Diff(load(t, policy, Options{}).Connections, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestConnectionsMistakes(t *testing.T) {
	for line, want := range map[string]string{
		`header_bytes = "2MiB"`:            `"2mib" is over`,
		`header_bytes = 5`:                 `not a string`,
		`header_count = 0`:                 `not a number in range`,
		`query_pairs = 257`:                `not a number in range`,
		`header_time = "10ms"`:             `is not a time`,
		`handshakes = "many"`:              `"many" is not a rate`,
		`sockets = 5`:                      `unsupported argument`,
		"open = 5\n}\nconnections {":       `a second connections block`,
		"open = 5\n}\nconnections \"a\" {": `connections`,
	} {
		file, diags := Parse("policy.hcl", []byte("version = 1\nconnections {\n "+line+"\n}\n"), Options{})
		if got := strings.ToLower(diags.Error()); !strings.Contains(got, want) || !diags.HasErrors() {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
		if file.Connections != (Connections{}) {
			t.Errorf("%s: something of it holds: %+v", line, file.Connections)
		}
	}
}
