package audit

import (
	"encoding/json"
	"net/netip"
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

// A credential that goes out is on record once for each secret that it had, by its
// fingerprint.
func TestCredentialUsed(t *testing.T) {
	secret := "1111"
	g := newGuard(t, func(c *Config) { c.Fingerprint = func(string) string { return secret } })
	grant := &capability.Grant{Name: "api", Credential: capability.Credential{Mode: capability.Bound, Name: "token"}}
	d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
	d.Grant = grant
	out := capability.Outcome{Status: 200, Upstream: netip.MustParseAddrPort("203.0.113.1:443"), Digest: strings.Repeat("a", 64)}
	g.Finish(d, capability.Outcome{Error: "upstream_unreachable", Sent: 100}) // it did not go out
	g.Finish(d, out)
	g.Finish(d, out)
	secret = "2222"
	g.Finish(d, out)
	all := records(t, g)
	used := events(all, CredentialUsed)
	if len(used) != 2 || used[0].Bound != "token" || used[0].Print != "1111" || used[1].Print != "2222" || used[0].Decision != d.ID {
		t.Errorf("got %+v", used)
	}
	if ended := events(all, Ended); len(ended) != 4 || ended[1].Digest != out.Digest {
		t.Errorf("got %+v", ended)
	}
}
