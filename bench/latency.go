package main

import (
	"math/bits"
	"time"
)

// latencies is a histogram with 64 steps per power of two of nanoseconds, which is
// exact to 1.6 %. The zero value works; one goroutine writes.
type latencies struct {
	steps [64 * 40]uint32
	count int64
}

func (l *latencies) add(d time.Duration) {
	v := uint64(max(d, 0))
	step := int(v)
	if e := bits.Len64(v); e > 6 {
		step = (e-6)*64 + int(v>>(e-7)) - 64
	}
	l.steps[min(step, len(l.steps)-1)]++
	l.count++
}

func (l *latencies) merge(other *latencies) {
	for i := range other.steps {
		l.steps[i] += other.steps[i]
	}
	l.count += other.count
}

// quantile is the time within which that part of the requests was answered.
func (l *latencies) quantile(part float64) time.Duration {
	want, seen := int64(part*float64(l.count)), int64(0)
	for step, n := range l.steps {
		if seen += int64(n); seen > want {
			return length(step)
		}
	}
	return 0
}

// length is where a step begins.
func length(step int) time.Duration {
	if step < 64 {
		return time.Duration(step)
	}
	power, rest := step/64, step%64
	return time.Duration((uint64(rest) + 64) << (power - 1))
}
