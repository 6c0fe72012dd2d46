package shell

import (
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkTrue is a call of true and bubblewrap alone, by turns, so that both meet the
// same machine. The ratio of the medians is what to look at: a call is to cost at most
// eight times as much.
func BenchmarkTrue(b *testing.B) {
	w := newWorld(b, nil)
	var calls, bare []time.Duration
	for b.Loop() {
		bare = append(bare, timed(func() {
			if err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}))
		calls = append(calls, timed(func() { w.shell("true") }))
	}
	slices.Sort(calls)
	slices.Sort(bare)
	half, tenth := len(calls)/2, len(calls)/10
	b.ReportMetric(float64(calls[half].Microseconds())/1000, "call-ms")
	b.ReportMetric(float64(bare[half].Microseconds())/1000, "bwrap-ms")
	b.ReportMetric(float64(calls[half])/float64(bare[half]), "ratio")
	b.ReportMetric(float64(calls[tenth])/float64(bare[tenth]), "ratio-of-tenths")
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
