package capability

import (
	"strings"
	"testing"
)

func TestExplainWithoutGrant(t *testing.T) {
	r := ask(t, "POST", "https://www.example.com/x?a=b")
	for _, reason := range []Reason{Undecided, NoGrant, PathNotGranted, MethodNotGranted, QueryNotGranted, BodyNotGranted, BodyTooLarge, ForeignCredential, GrantExpired, LimitExceeded} {
		if e := new(Policy).Explain(r, Deny(reason)); e.Mismatch == "" || e.Nearest != nil {
			t.Errorf("%s: got %q near %v", reason, e.Mismatch, e.Nearest)
		}
	}
}

// same takes every body.
type same struct{}

func (same) Inspect(body []byte) ([]byte, error) { return body, nil }

// TestExplainInspection: what an inspector found is the mismatch, and no wider grant is
// proposed for it.
func TestExplainInspection(t *testing.T) {
	allow := &Allow{Methods: []string{"POST", "DELETE"}, Path: template(t, "/x"), Body: &BodyRule{Type: "application/json", Max: 100, Inspector: same{}}}
	p := compile(t, grant("x", "api.example.com", allow))
	empty := ask(t, "POST", "https://api.example.com/x")
	if d := p.Decide(empty); d.Reason != BodyNotGranted || p.Explain(empty, d).Mismatch != "there is no body" {
		t.Errorf("a request without the body: %s, %q", d.Reason, p.Explain(empty, d).Mismatch)
	}
	if d := p.Decide(ask(t, "DELETE", "https://api.example.com/x")); !d.Allowed() {
		t.Errorf("DELETE without a body: %s", d.Reason)
	}
	r := body(ask(t, "POST", "https://api.example.com/x"), "application/json", 10)
	d := p.Decide(r)
	if !d.Allowed() {
		t.Fatalf("the control is refused: %s", d.Reason)
	}
	r.Body.Mismatch = "/body: maxLength"
	if e := p.Explain(r, d.Refused(BodyNotGranted)); e.Mismatch != r.Body.Mismatch || e.Smallest != "" {
		t.Errorf("got %q and\n%s", e.Mismatch, e.Smallest)
	}
	if e := p.Explain(body(ask(t, "POST", "https://other.example.com/x"), "multipart/form-data", 10), Deny(NoGrant)); !strings.Contains(e.Smallest, "inspect = false") {
		t.Errorf("the parts are not known in\n%s", e.Smallest)
	}
}
