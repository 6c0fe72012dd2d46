package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func someGrants(path, role string, text []byte) ([]*capability.Grant, error) {
	at := capability.Position{File: "policy.hcl", Line: 2, Column: 1}
	grant := func(name, host string, expires time.Time) *capability.Grant {
		return &capability.Grant{
			Name: name, Owner: "forge-team", Why: "why " + name, Position: at, Expires: expires,
			Host: capability.HostPattern{Name: capability.Host(host)}, Port: 443, Scheme: capability.HTTPS, Allows: []*capability.Allow{{Position: at}},
		}
	}
	npm := grant("npm", "npm.example.com", time.Time{})
	npm.Allows[0].Position.File = "npm-install.hcl"
	return []*capability.Grant{
		npm,
		grant("api", "api.example.com", now.Add(12*24*time.Hour)),
		grant("inference", "llm.example.com", now.Add(300*24*time.Hour)),
		grant("wiki", "wiki.example.com", now.Add(-24*time.Hour)),
	}, nil
}

func config(state State) Config {
	return Config{
		Now: now, Scupper: "0.4.0", Grants: someGrants,
		Smallest: func(refused []*audit.Record) string { return refused[0].Smallest },
		Verify: func(dir, run string) Proof {
			return map[State]Proof{
				Verified:   {State: Verified, Head: run + ":214:q0VnRzJkNDVhYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3g="},
				Unverified: {State: Unverified, Why: "its log has no signed head"},
				Failed:     {State: Failed, Why: "000001.jsonl, line 17 (record 17): it is not what it was when its head was signed"},
			}[state]
		},
	}
}

func pageOf(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	sources := sample(t, t.TempDir())
	for _, state := range []State{Verified, Failed} {
		r, err := Make(sources, config(state))
		if err != nil {
			t.Fatal(err)
		}
		got, golden := pageOf(t, r), filepath.Join("testdata", strings.ReplaceAll(string(state), " ", "-")+".html")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
	}
}
