package audit

// Reached is a limit of the whole run, such as its memory or its time, that the
// command came up against.
type Reached struct {
	Limit string `json:"limit"` // as the policy calls it
	Says  string `json:"says"`  // one sentence
	Ended bool   `json:"ended"` // the run was ended for it
}

// Reached records that the command came up against a limit of the run. Summary lists
// it, and the last record names the limit that ended the run.
func (g *Guard) Reached(r Reached) error {
	g.totals.reached(r)
	return g.log.append(&Record{Event: LimitReached, Limit: r.Limit, Says: r.Says})
}

func (t *totals) reached(r Reached) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limits = append(t.limits, r)
}

// endedBy is the first limit that ended the run, or empty.
func (s Summary) endedBy() string {
	for _, r := range s.Limits {
		if r.Ended {
			return r.Limit
		}
	}
	return ""
}
