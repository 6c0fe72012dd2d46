package main

import "time"

// pace is how long everything takes. All of it is bounded: what is measured by time
// ends by itself, and no round begins that would not end within the budget, as far as
// the one before it tells.
type pace struct {
	budget         time.Duration // for all rounds of the workloads
	rounds         int           // at most
	warm, measured time.Duration // of a workload that lasts a time
	bulk           int64         // bytes of a large body
	starts         int           // of a sandbox
	npmBudget      time.Duration // for all installs
	installs       int           // by each peer, at most
	packages       int
}

func quickPace() pace {
	return pace{
		budget: 100 * time.Second, rounds: 3, warm: 400 * time.Millisecond, measured: time.Second, bulk: 256 << 20,
		starts: 20, npmBudget: time.Minute, installs: 5, packages: 100,
	}
}

func fullPace() pace {
	return pace{
		budget: 6 * time.Minute, rounds: 7, warm: time.Second, measured: 2 * time.Second, bulk: 1 << 30,
		starts: 60, npmBudget: 3 * time.Minute, installs: 7, packages: 300,
	}
}

// patience is how long one measurement may take; longer is a hang.
const patience = 90 * time.Second

// inRounds calls round once, and again up to most times while the budget lasts. It
// returns how often it did.
func inRounds(most int, budget time.Duration, round func() error) (int, error) {
	began := time.Now()
	for done := 0; ; {
		start := time.Now()
		if err := round(); err != nil {
			return done, err
		}
		done++
		if done >= most || time.Since(began)+time.Since(start) > budget {
			return done, nil
		}
	}
}
