package shell

import (
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkTrue is a call of true, beside bubblewrap alone. The medians are what to
// compare: a call is to cost at most eight times as much.
func BenchmarkTrue(b *testing.B) {
	median := func(b *testing.B, f func()) {
		var times []time.Duration
		for b.Loop() {
			began := time.Now()
			f()
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
	}
	b.Run("bwrap", func(b *testing.B) {
		median(b, func() {
			if err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").Run(); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("call", func(b *testing.B) {
		w := newWorld(b, nil)
		median(b, func() { w.shell("true") })
	})
}
