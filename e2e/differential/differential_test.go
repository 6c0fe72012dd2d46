// Package differential asks whether what origin servers receive is what the log says
// was granted. Generated requests, most of them odd, go through scupper's proxy to
// servers that other people wrote, on every front and protocol:
//
//	SCUPPER_DIFFERENTIAL=200000 SCUPPER_DIFFERENTIAL_SEED=7 go test -timeout 60m ./e2e/differential/
//
// Guarantees: a request that reaches an origin without a record that grants exactly
// its method, host, resource and body, a record without its request, and one more
// request than was judged are failures. So is a run of which too little is allowed.
// The same seed asks the same. A failure is shown at its smallest, as Go.
//
// Non-guarantees: most requests go through the proxy in this process, not through a
// sandbox. What servers do with a request after they understood it is not compared.
package differential

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"scupper.dev/scupper/replay"
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

// testMain runs twice, outside to build scupper and inside to test, and once more for
// each sandbox.
func testMain(m *testing.M) int {
	if os.Getenv(clientVar) != "" {
		return clientMain()
	}
	if os.Getenv(builtVar) == "" {
		dir, err := build()
		defer os.RemoveAll(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
		os.Setenv(builtVar, dir)
	}
	code, err := replay.Sealed(context.Background(), m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return code
}

const (
	requestsVar = "SCUPPER_DIFFERENTIAL"
	seedVar     = "SCUPPER_DIFFERENTIAL_SEED"

	shift   = 500 // requests of one world
	workers = 10  // worlds at a time
	enough  = 5   // disagreements that are shown
)

// setting is a number from the environment.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func newLaboratory(t *testing.T, k keys) *laboratory {
	t.Helper()
	policy, err := newPolicy()
	if err != nil {
		t.Fatal(err)
	}
	return &laboratory{patience: 20 * time.Second, dir: t.TempDir(), policy: policy, roots: k.roots, make: scupper}
}

// TestDifferential asks every origin the same requests.
func TestDifferential(t *testing.T) {
	n, seed := setting(t, requestsVar, 5000), setting(t, seedVar, 1)
	k := makeKeys(t, t.TempDir())
	x := &experiment{lab: newLaboratory(t, k), seed: seed, most: 2 * enough, requests: int(n), generate: (*generator).sample}
	x.run(t, origins(t, k))
}

// experiment is generated requests, asked of origins.
type experiment struct {
	lab      *laboratory
	seed     uint64
	requests int
	most     int // disagreements to look for
	generate func(*generator) (sample, int)

	mu     sync.Mutex
	tally  map[*origin]*result
	faults []fault
}

type result struct {
	tally
	requests int
}

// upstream is how many requests failed at the origin: a few time-outs are no
// disagreement, a server that does not work proves nothing.
func (r *result) upstream() (n int64) {
	for what, times := range r.failed {
		if strings.HasPrefix(what, "upstream_") {
			n += times
		}
	}
	return n
}

// fault is a sample that disagreed, and in what.
type fault struct {
	origin *origin
	shift  int
	sample sample
	found  []string
}

func (x *experiment) run(t *testing.T, origins []*origin) {
	t.Helper()
	begin := time.Now()
	x.ask(t, origins)
	for i, f := range x.faults {
		if i == enough {
			t.Errorf("and %d more", len(x.faults)-enough)
			break
		}
		t.Errorf("seed %d, shift %d, %s: %s", x.seed, f.shift, f.origin.name, x.explain(f, 300))
	}
	for _, o := range origins {
		r := x.tally[o]
		t.Logf("%s: %d requests, %d allowed (%d %%), %d received, not completed: %v", o.name, r.requests, r.allowed, 100*r.allowed/int64(max(1, r.requests)), o.total, r.failed)
		if 5*r.allowed < int64(r.requests) {
			t.Errorf("%s: fewer than 20 %% of the requests are allowed", o.name)
		}
		if n := r.upstream(); 1000*n > int64(r.requests) {
			t.Errorf("%s: %d requests broke off at the origin", o.name, n)
		}
	}
	for _, o := range origins {
		if err := o.accounts(x.tally[o]); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%v for %d origins", time.Since(begin).Round(time.Millisecond), len(origins))
}

// ask lets workers go through all shifts of all origins.
func (x *experiment) ask(t *testing.T, origins []*origin) {
	x.tally = map[*origin]*result{}
	type job struct {
		origin *origin
		shift  int
	}
	jobs := make(chan job)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for j := range jobs {
				x.work(t, j.origin, j.shift)
			}
		})
	}
	for _, o := range origins {
		x.tally[o] = &result{}
	}
	for s := range (x.requests + shift - 1) / shift {
		for _, o := range origins {
			jobs <- job{o, s}
		}
	}
	close(jobs)
	wait.Wait()
}

// work is one shift: a world that is asked a few hundred requests one after another.
func (x *experiment) work(t *testing.T, o *origin, number int) {
	w, err := x.lab.new(o)
	if err != nil {
		t.Errorf("%s: %v", o.name, err)
		return
	}
	g := newGenerator(x.seed, uint64(number))
	asked := 0
	var last sample
	for asked < min(shift, x.requests-number*shift) && !x.full() {
		s, n := x.generate(g)
		asked += n
		last = s
		if found := w.try(s); len(found) > 0 {
			x.fault(fault{o, number, s, found})
		}
	}
	if found := w.late(); len(found) > 0 {
		x.fault(fault{o, number, last, found})
	}
	if err := w.close(); err != nil {
		t.Errorf("%s, shift %d: %v", o.name, number, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.tally[o]
	r.requests += asked
	r.add(w.tally)
}

func (x *experiment) fault(f fault) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.faults = append(x.faults, f)
}

// full: more disagreements would not be shown.
func (x *experiment) full() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.faults) >= x.most
}

// explain makes f small in a world of its own, with so many tries, and says what is
// left of it.
func (x *experiment) explain(f fault, tries int) string {
	w, err := x.lab.new(f.origin)
	if err != nil {
		return err.Error()
	}
	defer w.close()
	ask := func(s sample) []string { return append(w.try(s), w.late()...) }
	again := func(s sample) bool { return len(ask(s)) > 0 }
	for range 5 { // it may be a matter of time
		if again(f.sample) {
			small := minimise(f.sample, tries, again)
			return fmt.Sprintf("%s\n%s", strings.Join(ask(small), "\n"), small.literal())
		}
	}
	return fmt.Sprintf("only once:\n%s\n%s", strings.Join(f.found, "\n"), f.sample.literal())
}
