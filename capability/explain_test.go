package capability

import "testing"

func TestExplainWithoutGrant(t *testing.T) {
	r := ask(t, "POST", "https://www.example.com/x?a=b")
	for _, reason := range []Reason{Undecided, NoGrant, PathNotGranted, MethodNotGranted, QueryNotGranted, BodyNotGranted, BodyTooLarge, ForeignCredential, GrantExpired, LimitExceeded} {
		if e := new(Policy).Explain(r, Deny(reason)); e.Mismatch == "" || e.Nearest != nil {
			t.Errorf("%s: got %q near %v", reason, e.Mismatch, e.Nearest)
		}
	}
}
