package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// TestHostileLog fills every text of a log with what must stay text: the page has no
// element and no attribute that the template does not have, no character that turns the
// direction of writing, and values are cut.
func TestHostileLog(t *testing.T) {
	w := newWriter(t, t.TempDir(), now, "k3f7x2")
	evil := hostile + strings.Repeat("A", 5000)
	w.put(0, audit.Record{Event: audit.RunStarted, Run: &audit.Start{
		ID: evil, Scupper: evil, Policy: evil, PolicyHash: evil, Role: evil, Command: []string{evil}, User: evil, Overrides: []string{evil},
		Controls: []map[string]any{{"name": evil, "detail": evil, "in_force": false}},
	}})
	w.allow(1, audit.Record{Grant: evil, Bound: evil, Host: evil, Method: evil, Path: evil}, 10, 10)
	for _, kind := range []string{"", "name", "connect", "packet", evil} {
		w.deny(1, audit.Record{
			Kind: kind, Reason: evil, Grant: evil, Position: evil, Preset: evil, Host: evil, Address: evil, Method: evil, Path: evil, Protocol: evil, Excerpt: evil,
			Limit: evil, Mismatch: evil, Smallest: strings.Repeat(evil+"\n", 20), Foreign: []audit.Foreign{{In: evil, Name: evil, Fingerprint: evil}},
		}, 1)
	}
	w.put(1, audit.Record{Event: audit.PolicyChanged, Change: &audit.Change{From: evil, To: evil, Refused: evil, Note: evil}})
	w.put(1, audit.Record{Event: audit.LimitReached, Limit: evil, Says: evil})
	w.put(1, audit.Record{Event: audit.RunEnded, Reason: evil, Limit: evil, Summary: &audit.Summary{}})
	w.close()
	c := config(Failed)
	c.Verify = func(dir, run string) Proof { return Proof{State: Failed, Why: evil} }
	r, err := Make([]Source{w.source()}, c)
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, r)
	for _, raw := range []string{"<script", "<img", "onerror=alert(2)>\x1b", "</code></td><script"} {
		if strings.Contains(page, raw) {
			t.Errorf("the page holds %q", raw)
		}
	}
	if n := strings.Count(page, "&lt;script&gt;"); n < 20 {
		t.Errorf("%d hostile texts are on the page, so the test looks at too few", n)
	}
	for _, r := range page {
		if r != '\n' && !unicode.IsPrint(r) && r != '\u202f' {
			t.Errorf("the page holds %U", r)
			break
		}
	}
	if n := len(page); n > 600<<10 {
		t.Errorf("the page has %d bytes", n)
	}
	if strings.Contains(page, strings.Repeat("A", 450)+"A") && !strings.Contains(page, "<pre") {
		t.Error("a value is not cut")
	}
}

// TestPageRefersToNothing holds the page against its promise to load nothing.
func TestPageRefersToNothing(t *testing.T) {
	r, err := Make(sample(t, t.TempDir()), config(Verified))
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, r)
	for _, ref := range regexp.MustCompile(`(?i)\s(href|src|srcset|action|data|poster|xlink:href|style|on\w+)\s*=\s*"([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ref[1] != "href" || !strings.HasPrefix(ref[2], "#") {
			t.Errorf("the page refers to something: %s", ref[0])
		}
	}
	for _, word := range []string{"url(", "@import", "http://", "<script", "<link", "<iframe", "<base"} {
		if i := strings.Index(page, word); i >= 0 && !strings.Contains(page[max(0, i-40):i+60], "example.com") {
			t.Errorf("the page has %s: %s", word, page[max(0, i-40):i+60])
		}
	}
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[id[1]] {
			t.Errorf("two elements have the id %s", id[1])
		}
		ids[id[1]] = true
	}
	for _, ref := range regexp.MustCompile(`(?:href="#|aria-labelledby="|aria-describedby=")([^"]*)"`).FindAllStringSubmatch(page, -1) {
		for id := range strings.FieldsSeq(ref[1]) {
			if !ids[id] {
				t.Errorf("nothing has the id %s", id)
			}
		}
	}
}

func TestFloodOfOneKindHidesNoOther(t *testing.T) {
	w := newWriter(t, t.TempDir(), now, "k3f7x2")
	for range 3000 {
		w.deny(1, audit.Record{Kind: string(capability.KindName), Reason: "no_grant", Host: "h" + strings.Repeat("x", int(w.seq%50)) + strings.ToLower(w.run[:4]) + string(rune('a'+w.seq%26)) + "." + randomName(w.seq)}, 0)
	}
	w.deny(1, audit.Record{Reason: "foreign_credential", Grant: "api", Host: "api.example.com", Method: "POST", Path: "/"}, 0)
	w.close()
	r, err := Make([]Source{w.source()}, config(Verified))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Causes) != 2 || r.Causes[0].Count != 3000 || len(r.Causes[0].Causes) != maxCauses || r.Causes[0].Others != 3000-maxCauses {
		t.Errorf("the flood is %d reasons, the first with %d refusals, %d causes, %d others", len(r.Causes), r.Causes[0].Count, len(r.Causes[0].Causes), r.Causes[0].Others)
	}
	if r.Causes[1].Name != "foreign_credential" || r.Causes[1].Causes[0].Examples[0].Asked != "POST https://api.example.com/" {
		t.Errorf("the other is %+v", r.Causes[1])
	}
}

func randomName(n int64) string {
	var b strings.Builder
	for ; n > 0; n /= 26 {
		b.WriteByte('a' + byte(n%26))
	}
	return b.String() + ".example.net"
}
