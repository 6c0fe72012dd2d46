package report

import "scupper.dev/scupper/audit"

// Tool is what was called by one name.
type Tool struct {
	Name            string
	Calls, Refused  int64
	Failed          int64
	Produced, Shown int64 // bytes of results
	Roles           Set
	Span
}

func (t *Tool) call(name string) { t.Name = name }

func (t *Tool) count(e ref, n int64, r *audit.Record) {
	t.Calls += n
	if !e.allowed {
		t.Refused += n
	}
	if r.Tool != nil {
		t.Roles.add(clean(r.Tool.Role, maxWord))
	}
	t.span(r.Time)
}

// finished adds the outcome of one call.
func (t *Tool) finished(r *audit.Record) {
	if r.Error != "" || r.Result != nil && r.Result.Failed {
		t.Failed++
	}
	if r.Result != nil {
		t.Produced += r.Result.Produced
		t.Shown += r.Result.Shown
	}
}
