package capability

import (
	"testing"
	"time"
)

func TestBucket(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	b := NewBucket(Rate{Requests: 2, Per: time.Second})
	for i, step := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {0, true}, {0, false}, {499 * time.Millisecond, false}, {time.Millisecond, true}, {0, false}, {time.Hour, true}, {0, true}, {0, false}, {-time.Hour, false}} {
		now = now.Add(step.after)
		if got := b.Take(now); got != step.want {
			t.Errorf("step %d: got %v, want %v", i, got, step.want)
		}
	}
	if !NewBucket(Rate{}).Take(now) {
		t.Error("the zero rate does not permit everything")
	}
}
