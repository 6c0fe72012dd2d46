package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/credential"
	"scupper.dev/scupper/proxy"
)

// Series makes the sandboxes of a gateway: a fresh one for each tool call, side by side
// or one after the other. They share the gateway's log, its authority for certificates
// and what its grants have left of their limits, and nothing else.
type Series struct {
	guard     *audit.Guard
	egress    Egress
	overrides []proxy.Override
	ca        *proxy.CA
	starting  *readable
	place     *unified // where this process has moved; nil: nowhere

	mu      sync.Mutex
	proxies []*proxy.Proxy
	running sync.WaitGroup
}

// SeriesConfig says what the sandboxes of a gateway have in common.
type SeriesConfig struct {
	Guard *audit.Guard // closed by the caller, after the last Run has returned
	Egress
}

// NewSeries makes a series, which the caller closes, and takes from this process what a supervisor of many
// sandboxes does not need: nobody of its user reads its memory, and no exec gains
// privileges. The capabilities of root stay, because every sandbox takes them to build.
func NewSeries(config SeriesConfig) (*Series, error) {
	overrides, err := parseOverrides(config.Resolve)
	if err != nil {
		return nil, err
	}
	ca, err := proxy.NewCA(time.Now())
	if err != nil {
		return nil, fmt.Errorf("make the gateway's authority: %w", err)
	}
	if err := hardenForSeries(); err != nil {
		return nil, err
	}
	return &Series{guard: config.Guard, egress: config.Egress, overrides: overrides, ca: ca, starting: new(readable), place: settle()}, nil
}

// Call says whose sandbox it is.
type Call struct {
	ID   string // of the tool call: every record of the sandbox has it
	Role string // whose grants hold; empty: all
}

// End is what became of the command of one sandbox.
type End struct {
	Exit     int             // its exit code, 128 + N if signal N ended it
	Overtime bool            // it was ended because its time was up
	Reached  []audit.Reached // limits that it came up against
}

// OutOfMemory reports whether the sandbox was ended because its memory was used up.
func (e End) OutOfMemory() bool {
	return slices.ContainsFunc(e.Reached, func(r audit.Reached) bool { return r.Limit == "memory" && r.Ended })
}

// Run runs one command in a sandbox of its own and returns when nothing of it is left.
// Ports, trust and the authority are filled in. An error means that the command did not
// run, or that it was ended for another reason than its time. It may be called
// concurrently.
func (s *Series) Run(ctx context.Context, call Call, config CageConfig) (end End, err error) {
	s.running.Add(1)
	defer s.running.Done()
	judge := s.guard.Call(call.ID, call.Role)
	config.Ports = ports(judge.Policy())
	config.starting = s.starting
	cage, err := begin(config)
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, cage.Close()) }()
	if err := cage.tell(string(s.ca.CertPEM())); err != nil {
		return end, err
	}
	n := network{egress: s.egress, overrides: s.overrides, ca: s.ca, guard: s.guard, authority: judge, over: judge.Done(), watch: s.attend}
	end.Exit, err = n.run(ctx, cage)
	if cage.started {
		end.Overtime, end.Reached = cage.overtime, cage.Reached()
	}
	return end, err
}

// attend makes a sandbox one of those that a new policy is told to.
func (s *Series) attend(ctx context.Context, p *proxy.Proxy) error {
	s.mu.Lock()
	s.proxies = append(s.proxies, p)
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proxies = slices.DeleteFunc(s.proxies, func(q *proxy.Proxy) bool { return p == q })
	return nil
}

// Close waits until every Run has returned. There must be no further one.
func (s *Series) Close() error {
	s.running.Wait()
	return s.place.restore()
}

// Policies puts new policies into force for every sandbox of the series.
func (s *Series) Policies(credentials *credential.Set) *Policies {
	return &Policies{s.guard, s.rejudge, credentials}
}

func (s *Series) rejudge() {
	s.mu.Lock()
	proxies := slices.Clone(s.proxies)
	s.mu.Unlock()
	for _, p := range proxies {
		p.Rejudge()
	}
}

// SeriesControls tells what will hold each sandbox of a series whose cages are like
// config, for the first record of the gateway. It prepares one and destroys it: where no
// sandbox can be built that is known before the first call.
func SeriesControls(ctx context.Context, config CageConfig, egress Egress) ([]Control, error) {
	config.Command = []string{"true"}
	cage, err := Prepare(ctx, config)
	if err != nil {
		return nil, err
	}
	controls := append(cage.Controls(), addressCheck(egress.via))
	for i := range controls {
		if controls[i].Name == "supervisor" {
			controls[i] = seriesSupervisor()
		}
	}
	return controls, cage.Close()
}
