package audit

import (
	"fmt"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

func limited(t *testing.T, limits capability.Limits, change func(*Config)) *Guard {
	t.Helper()
	return newGuard(t, func(c *Config) {
		c.Policy = grants(t, limits)
		if change != nil {
			change(c)
		}
	})
}

// wantLimit asserts that d is denied by that limit, and that its record says so.
func wantLimit(t *testing.T, g *Guard, d capability.Decision, limit string) {
	t.Helper()
	if d.Allowed() || d.Reason != capability.LimitExceeded {
		t.Fatalf("got %s %s", d.Verdict(), d.Reason)
	}
	f, err := Find(g.config.Dir, d.ID)
	if err != nil || f.Decision.Limit != limit || f.Decision.Grant == "" {
		t.Errorf("got %+v %v, want limit %s", f, err, limit)
	}
}

func TestLimits(t *testing.T) {
	get := ask(t, "GET", "api.example.com", "/repos/app")
	t.Run("requests", func(t *testing.T) {
		g := limited(t, capability.Limits{Requests: 2}, nil)
		for range 2 {
			if d := g.Authorize(get); !d.Allowed() {
				t.Fatal(d.Reason)
			}
			g.Authorize(ask(t, "PUT", "api.example.com", "/repos/app"))
		}
		wantLimit(t, g, g.Authorize(get), "requests")
	})
	t.Run("misses", func(t *testing.T) {
		g := limited(t, capability.Limits{Misses: 1}, nil)
		for _, status := range []int{200, 404} {
			d := g.Authorize(get)
			if !d.Allowed() {
				t.Fatal(d.Reason)
			}
			g.Finish(d, capability.Outcome{Status: status})
		}
		wantLimit(t, g, g.Authorize(get), "misses")
	})
	t.Run("upload and download", func(t *testing.T) {
		g := limited(t, capability.Limits{Upload: 100, Download: 1000}, nil)
		d := g.Authorize(get)
		if !g.Spend(d, 60, 0) || g.Spend(d, 41, 0) || !g.Spend(d, 40, 0) || !g.Spend(d, 0, 1000) || g.Spend(d, 0, 1) {
			t.Error("the byte limits do not hold")
		}
		wantLimit(t, g, g.Authorize(get), "upload")
		if g.Spend(capability.Decision{}, 1, 1) || g.Spend(d.Refused(capability.RunEnded), 0, 0) {
			t.Error("a denial may spend")
		}
	})
	t.Run("rate", func(t *testing.T) {
		now := time.Unix(1_800_000_000, 0)
		g := limited(t, capability.Limits{Rate: capability.Rate{Requests: 2, Per: time.Second}}, func(c *Config) {
			c.Now = func() time.Time { return now }
		})
		for step, want := range []bool{true, true, false, false} {
			if d := g.Authorize(get); d.Allowed() != want {
				t.Errorf("step %d: %s", step, d.Verdict())
			}
		}
		now = now.Add(500 * time.Millisecond)
		if a, b := g.Authorize(get), g.Authorize(get); !a.Allowed() || b.Allowed() {
			t.Errorf("after half a second: %s, %s", a.Verdict(), b.Verdict())
		}
		now = now.Add(time.Hour)
		for i := range 3 {
			if d := g.Authorize(get); d.Allowed() != (i < 2) {
				t.Errorf("the bucket overflows: %s", d.Verdict())
			}
		}
	})
}

// DNS-06
func TestNamesUnderAWildcard(t *testing.T) {
	g := limited(t, capability.Limits{Names: 2}, nil)
	for _, name := range []string{"a", "b", "a"} {
		if d := g.Authorize(lookUp(name + ".cdn.example.com")); !d.Allowed() {
			t.Fatal(d.Reason)
		}
	}
	wantLimit(t, g, g.Authorize(lookUp("c.cdn.example.com")), "names")
	// Without a look-up before, as on the explicit front, a name counts just so.
	wantLimit(t, g, g.Authorize(ask(t, "GET", "d.cdn.example.com", "/repos/app")), "names")
	if d := g.Authorize(ask(t, "GET", "b.cdn.example.com", "/repos/app")); !d.Allowed() {
		t.Error(d.Reason)
	}
	many := limited(t, capability.Limits{}, nil)
	for i := range capability.MaxNames {
		many.ledger.take(lookUp(fmt.Sprintf("n%d.cdn.example.com", i)), many.config.Policy.Grants()[1], time.Time{})
	}
	wantLimit(t, many, many.Authorize(lookUp("c.cdn.example.com")), "names")
}

func TestRequestWithoutTimeIsJudgedNow(t *testing.T) {
	p := grants(t, capability.Limits{})
	p.Grants()[0].Expires = time.Unix(1_700_000_000, 0)
	g := newGuard(t, func(c *Config) { c.Policy = p })
	if d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); d.Allowed() || d.Reason != capability.GrantExpired {
		t.Errorf("got %s %s", d.Verdict(), d.Reason)
	}
}
