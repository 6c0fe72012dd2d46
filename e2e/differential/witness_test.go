package differential

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// witness is the guard of a world, and remembers what was rendered for whom.
type witness struct {
	*audit.Guard
	log  *os.File
	torn []byte // of a line that was being written

	mu      sync.Mutex
	targets map[string]string // by decision: path and query to send
	denials int64
	pending pending // allowing decisions without an outcome
}

func newWitness(dir string, policy *capability.Policy) (*witness, error) {
	g, err := audit.New(audit.Config{Dir: dir, Policy: policy, Version: "test", Command: []string{"differential"}, Budget: 1 << 40, WriteTimeout: 30 * time.Second})
	if err != nil {
		return nil, err
	}
	log, err := os.Open(filepath.Join(dir, g.Run(), "000001.jsonl"))
	if err != nil {
		return nil, errors.Join(err, g.Close(0))
	}
	w := &witness{Guard: g, log: log, targets: map[string]string{}}
	return w, nil
}

func (w *witness) Authorize(r *capability.Request) capability.Decision {
	d := w.Guard.Authorize(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !d.Allowed() {
		w.denials++
		return d
	}
	w.pending.add(1)
	if r.Kind == capability.KindHTTP {
		w.targets[d.ID] = d.Target(r)
	}
	return d
}

func (w *witness) Refuse(r *capability.Request, reason capability.Reason) capability.Decision {
	d := w.Guard.Refuse(r, reason)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.denials++
	return d
}

func (w *witness) Finish(d capability.Decision, o capability.Outcome) {
	w.Guard.Finish(d, o)
	w.pending.add(-1)
}

// grant is what the log says of one request that was allowed.
type grant struct {
	audit.Record
	target string          // as it was rendered; empty: only the log is known
	sent   map[string]bool // what its sample holds, as bodies says
	failed string          // in the words of the outcome; empty: it was completed
}

func (g grant) String() string {
	return fmt.Sprintf("granted %s %s%s, body %+v, failure %q", g.Method, g.Host, g.target, g.Body, g.failed)
}

// grants reads what the log has that was not read before. A connection that was closed
// may still be recorded, so that the last line can be half there.
func (w *witness) grants() ([]grant, tally, error) {
	granted, t, torn, err := readLog(io.MultiReader(bytes.NewReader(w.torn), w.log))
	w.torn = torn
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range granted {
		granted[i].target = w.targets[granted[i].ID]
		delete(w.targets, granted[i].ID)
	}
	return granted, t, err
}

// readLog reads records to the end: the requests that were allowed, how many decisions
// there are in all, and the begin of a line without an end.
func readLog(from io.Reader) (out []grant, t tally, torn []byte, err error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, t, nil, err
	}
	at := map[string]int{}
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return out, t, text, nil
		}
		text = rest
		var r audit.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, t, nil, fmt.Errorf("read log at %q: %w", line, err)
		}
		t.count(&r)
		switch {
		case r.Event == audit.Decided && r.Verdict == "allow" && r.Kind == string(capability.KindHTTP):
			at[r.ID] = len(out)
			out = append(out, grant{Record: r, failed: "no outcome"})
		case r.Event == audit.Ended:
			if i, ok := at[r.Decision]; ok {
				out[i].failed = r.Error
			}
		}
	}
}

// tally counts records.
type tally struct {
	allowed, denied, connects int64
	failed                    map[string]int64 // allowed, but not completed, by what went wrong
}

func (t *tally) count(r *audit.Record) {
	switch {
	case r.Event == audit.Ended && r.Error != "":
		if t.failed == nil {
			t.failed = map[string]int64{}
		}
		t.failed[r.Error]++
	case r.Event == audit.Repeated:
		t.denied += r.Count
	case r.Event != audit.Decided:
	case r.Verdict != "allow":
		t.denied++
	case r.Kind == string(capability.KindHTTP):
		t.allowed++
	default:
		t.connects++
	}
}

func (t *tally) add(o tally) {
	t.allowed, t.denied, t.connects = t.allowed+o.allowed, t.denied+o.denied, t.connects+o.connects
	for what, n := range o.failed {
		if t.failed == nil {
			t.failed = map[string]int64{}
		}
		t.failed[what] += n
	}
}

// close ends the run and returns what the log counts in the records that come last.
func (w *witness) close() (tally, error) {
	defer w.log.Close()
	if err := w.Guard.Close(0); err != nil {
		return tally{}, err
	}
	_, t, err := w.grants()
	if err == nil && len(w.torn) > 0 {
		err = fmt.Errorf("the log ends in %q", w.torn)
	}
	return t, err
}
