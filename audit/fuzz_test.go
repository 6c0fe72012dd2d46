package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"scupper.dev/scupper/capability"
)

// FuzzRecord: whatever a request brings, its record is one line of JSON in UTF-8 that
// reads back as it was written, of bounded length, without the value of a parameter.
func FuzzRecord(f *testing.F) {
	policy := grants(f, capability.Limits{})
	f.Fuzz(func(t *testing.T, method, host, path, query, body, protocol, text string) {
		const secret = "5ecretValue"
		r := &capability.Request{
			Kind: capability.KindHTTP, Port: 443, Scheme: capability.HTTPS, Method: method, Time: time.Unix(1, 0),
			Body: capability.Body{Present: body != "", Type: body, Encoding: text, Mismatch: text}, Protocol: protocol, Excerpt: text, Limit: text,
		}
		r.Host, _ = capability.ParseHost(host)
		r.Path, _ = capability.ParsePath(path)
		r.Query, _ = capability.ParseQuery(query)
		if !strings.Contains(method+host+path+query+body+protocol+text, secret) {
			r.Query = append(r.Query, capability.Parameter{Name: "q", Value: secret})
		}
		d := policy.Decide(r)
		rec := describe(r, d)
		if !d.Allowed() {
			describeDenial(rec, policy, r, d)
		}
		line, err := rec.line(stamp{seq: 1, time: time.Unix(1, 0), run: "run"})
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(line) || bytes.Count(line, []byte("\n")) != 1 || line[len(line)-1] != '\n' || len(line) > 128<<10 {
			t.Errorf("no line of bounded length: %q", line)
		}
		if bytes.Contains(line, []byte(secret)) {
			t.Errorf("a value is in the record: %q", line)
		}
		var back Record
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatalf("read back %q: %v", line, err)
		}
		again, err := back.line(stamp{seq: 1, time: time.Unix(1, 0), run: "run"})
		if err != nil || !bytes.Equal(line, again) {
			t.Errorf("read back and written again:\n%s%s%v", line, again, err)
		}
	})
}
