package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReachedLimits(t *testing.T) {
	g := newGuard(t, nil)
	reached := []Reached{{Limit: "processes", Says: "no more"}, {Limit: "memory", Says: "used up", Ended: true}}
	for _, r := range reached {
		if err := g.Reached(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Close(137); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(g.Summary().Limits, reached); diff != "" {
		t.Errorf("summary (-got +want):\n%s", diff)
	}
	var got []Record
	for _, r := range records(t, g) {
		if r.Event == LimitReached || r.Event == RunEnded {
			got = append(got, Record{Event: r.Event, Limit: r.Limit, Says: r.Says})
		}
	}
	want := []Record{{Event: LimitReached, Limit: "processes", Says: "no more"}, {Event: LimitReached, Limit: "memory", Says: "used up"}, {Event: RunEnded, Limit: "memory"}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("records (-got +want):\n%s", diff)
	}
}
