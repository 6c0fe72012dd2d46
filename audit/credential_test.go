package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

// TestForeignOnRecord: CRED-06, CRED-07, where a foreign credential was, and a fingerprint;
// requests with one in different places are different, and nothing of it is on record.
func TestForeignOnRecord(t *testing.T) {
	const stolen = "sk-attacker-0123456789"
	look := func() (*disk, []Record) {
		t.Helper()
		disk := &disk{room: -1}
		c := Config{Policy: grants(t, capability.Limits{})}
		c.setDefaults()
		g, err := start(c, "20261130t124500-k3f7x2", strings.Repeat("0", 64), disk, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range []map[string][]string{{"Authorization": {"Bearer " + stolen}}, {"X-Api-Key": {stolen}}, {"X-Api-Key": {stolen}}} {
			r := ask(t, "GET", "api.example.com", "/repos/app?q=x")
			r.Header = header
			if d := g.Authorize(r); d.Reason != capability.ForeignCredential {
				t.Fatalf("got %s", d.Reason)
			}
		}
		g.Authorize(ask(t, "GET", "api.example.com", "/repos/app?q=x&token="+stolen))
		if err := g.Close(0); err != nil {
			t.Fatal(err)
		}
		var denied []Record
		for line := range strings.Lines(string(disk.data)) {
			var r Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if r.Event == Decided {
				denied = append(denied, r)
			}
		}
		return disk, denied
	}
	log, first := look()
	_, second := look()
	if strings.Contains(string(log.data), "attacker") || len(first) != 3 {
		t.Fatalf("%d records:\n%s", len(first), log.data)
	}
	print := first[0].Foreign[0].Fingerprint
	for i, want := range []Foreign{{"header", "Authorization", print}, {"header", "X-Api-Key", print}, {"query", "token", print}} {
		if got := first[i].Foreign; len(got) != 1 || got[0] != want {
			t.Errorf("record %d has %+v, want %+v", i, got, want)
		}
	}
	if got := first[2].Query[1]; got.Length != 0 || got.Value != masked {
		t.Errorf("the parameter is recorded as %+v", got)
	}
	if len(print) != 16 || second[0].Foreign[0].Fingerprint == print {
		t.Errorf("%q in two runs", print)
	}
}
