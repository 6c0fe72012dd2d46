package main

import "time"

// pace is how long everything takes. All of it is bounded: what is measured by time
// ends by itself, and no round begins after the budget.
type pace struct {
	budget          time.Duration // for all rounds of the workloads
	rounds          int           // at most
	warm, measured  time.Duration // of a workload that lasts a time
	bulk            int64         // bytes of a large body
	starts          int           // of a sandbox
	installs        int
	packages        int
	installDeadline time.Duration
}

func quickPace() pace {
	return pace{
		budget: 2 * time.Minute, rounds: 3, warm: 400 * time.Millisecond, measured: time.Second, bulk: 256 << 20,
		starts: 20, installs: 3, packages: 200, installDeadline: 30 * time.Second,
	}
}

func fullPace() pace {
	return pace{
		budget: 7 * time.Minute, rounds: 7, warm: time.Second, measured: 3 * time.Second, bulk: 1 << 30,
		starts: 60, installs: 7, packages: 500, installDeadline: time.Minute,
	}
}

// patience is how long one measurement may take; longer is a hang.
const patience = 90 * time.Second
