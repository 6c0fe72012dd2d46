package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// Bounds of what is kept.
const (
	maxRuns      = 200
	maxGrants    = 1000
	maxNames     = 500 // credentials, foreign ones, tools
	maxChanges   = 200
	maxOverrides = 200
	maxControls  = 200
)

// collector takes records in and keeps what the page says.
type collector struct {
	Config
	from, to  time.Time
	runs      []*Run
	otherRuns int64
	worst     Proof
	totals    Totals
	controls  map[Control]int
	noPolicy  string
	changes   []Change
	overrides []Override
	derived   []Derived

	grants      *grants
	causes      *causes
	credentials *named[Credential]
	foreign     *named[Foreign]
	tools       *named[Tool]
	gaps, spent int64
	reached     int64
	unanchored  int64
	dropped     int64

	// Of the run that is being read.
	source Source
	now    *Run
	refs   map[int64]ref // by sequence number of the decision
	broken error
}

// noEnd is what is said of a run whose last record is not there.
const noEnd = "no end on record"

// ref is what a later record needs of its decision.
type ref struct {
	cause   *Cause // of a denial
	example int    // of the cause
	grant   *Grant
	tool    *Tool
	foreign []*Foreign
	http    bool
	allowed bool
}

func newCollector(c Config) *collector {
	col := &collector{
		Config: c, worst: Proof{State: Verified}, controls: make(map[Control]int), grants: newGrants(), causes: newCauses(),
		credentials: newNamed[Credential](), foreign: newNamed[Foreign](), tools: newNamed[Tool](),
	}
	if c.Policy != nil {
		col.grants.list(c.Policy)
		col.derive(c.Policy)
	}
	return col
}

// run reads one log.
func (c *collector) run(s Source) error {
	c.source, c.now, c.refs, c.broken = s, &Run{ID: s.Run}, make(map[int64]ref), nil
	c.totals.Runs++
	proof := c.verify(s)
	for rec, err := range audit.Records(s.Dir, s.Run) {
		if errors.Is(err, audit.ErrNotFound) {
			<-proof
			return err
		}
		if err != nil {
			c.broken = err
			break
		}
		if c.Wants == nil || c.Wants(rec) {
			c.add(rec)
		} else {
			c.background(rec)
		}
	}
	c.prove(<-proof)
	c.now.Ended = cmp.Or(c.now.Ended, noEnd)
	if len(c.runs) < maxRuns {
		c.runs = append(c.runs, c.now)
	} else {
		c.otherRuns++
	}
	return nil
}

// verify checks the log of a run while it is read.
func (c *collector) verify(s Source) <-chan Proof {
	out := make(chan Proof, 1)
	if c.Verify == nil {
		out <- Proof{State: Unverified, Why: "nothing was checked"}
		return out
	}
	go func() { out <- c.Verify(s.Dir, s.Run) }()
	return out
}

// prove says of the run whether its log is whole.
func (c *collector) prove(p Proof) {
	if c.broken != nil && p.State != Failed {
		p = Proof{State: Failed, Why: c.broken.Error()}
	}
	p.Head, p.Why = clean(p.Head, maxLong), clean(p.Why, maxLong)
	c.now.Proof = p
	if rank(p.State) > rank(c.worst.State) {
		c.worst = p
		c.worst.Why = "run " + c.now.ID + ": " + p.Why
	}
}

func rank(s State) int {
	switch s {
	case Verified:
		return 0
	case Unverified:
		return 1
	}
	return 2
}

// add takes one record in.
func (c *collector) add(r *audit.Record) {
	c.time(r.Time)
	c.now.Records++
	switch r.Event {
	case audit.RunStarted:
		if r.Run != nil {
			c.started(r.Run)
		}
	case audit.Decided:
		c.decided(r)
	case audit.Repeated:
		c.repeated(r, r.Count)
	case audit.Withdrawn:
		c.withdrawn(r)
	case audit.Ended:
		c.outcome(r)
	case audit.Gap:
		c.gaps += r.Count
	case audit.BudgetSpent:
		c.spent++
	case audit.LimitReached:
		c.reached++
	case audit.PolicyChanged:
		if r.Change != nil {
			c.changed(r)
		}
	case audit.CredentialUsed:
		c.credentials.get(clean(r.Bound, maxWord)).Fingerprints.add(clean(r.Print, maxWord))
	case audit.AnchorFailed:
		c.unanchored++
	case audit.SegmentsDropped:
		c.dropped++
	case audit.LogClosed:
		c.now.Ended = "killed; a later start closed its log"
	case audit.RunEnded:
		c.ended(r)
	}
}

// background takes in what a record that does not count says of later ones.
func (c *collector) background(r *audit.Record) {
	switch {
	case r.Event == audit.RunStarted && r.Run != nil:
		c.started(r.Run)
	case r.Event == audit.Decided:
		c.refs[r.Seq] = c.refer(r)
	}
}

func (c *collector) time(t time.Time) {
	if c.from.IsZero() || t.Before(c.from) {
		c.from = t
	}
	if t.After(c.to) {
		c.to = t
	}
	if c.now.Start.IsZero() {
		c.now.Start = t
	}
	if t.After(c.now.End) {
		c.now.End = t
	}
}

func (c *collector) started(s *audit.Start) {
	c.now.Command, c.now.Policy, c.now.Scupper = clean(strings.Join(s.Command, " "), 160), clean(s.Policy, maxLong), clean(s.Scupper, maxWord)
	c.now.Hash, c.now.User, c.now.Role = clean(s.PolicyHash, 12), clean(s.User, maxWord), clean(s.Role, maxWord)
	c.now.Hash = strings.TrimSuffix(c.now.Hash, "…")
	for _, o := range s.Overrides {
		if len(c.overrides) < maxOverrides {
			c.overrides = append(c.overrides, Override{c.now.ID, clean(o, maxLong)})
		}
	}
	list, _ := s.Controls.([]any)
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok && len(c.controls) < maxControls {
			c.control(fields)
		}
	}
	if c.Policy == nil {
		c.policy(s.Policy, s.Role, s.PolicyHash)
	}
}

func (c *collector) control(fields map[string]any) {
	name, _ := fields["name"].(string)
	detail, _ := fields["detail"].(string)
	inForce, _ := fields["in_force"].(bool)
	k := Control{Name: clean(name, maxWord), Detail: clean(detail, maxLong), InForce: inForce}
	k.Asked = !inForce && detail != "no limit was asked for"
	c.controls[k]++
}

// policy reads the grants of the policy that is kept beside the log.
func (c *collector) policy(path, role, hash string) {
	grants, err := c.kept(path, role, hash)
	if err != nil {
		c.noPolicy = clean(err.Error(), maxLong)
		return
	}
	c.grants.list(grants)
	c.derive(grants)
}

func (c *collector) kept(path, role, hash string) ([]*capability.Grant, error) {
	if c.Grants == nil || strings.Trim(hash, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("the policy of run %s was not read", c.now.ID)
	}
	text, err := os.ReadFile(filepath.Join(c.source.Dir, c.source.Run, "policy-"+hash+".hcl"))
	if err != nil {
		return nil, fmt.Errorf("read the policy kept with run %s: %w", c.now.ID, err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("the policy kept with run %s is not the one on record: it was changed afterwards", c.now.ID)
	}
	grants, err := c.Grants(path, role, text)
	if err != nil {
		return nil, fmt.Errorf("read the policy kept with run %s: %w", c.now.ID, err)
	}
	return grants, nil
}

// derive notes the grants that the policy has from a preset.
func (c *collector) derive(grants []*capability.Grant) {
	for _, g := range grants {
		for _, a := range g.Allows {
			if a.Position.File != g.Position.File && a.Position.File != "" && len(c.derived) < maxGrants {
				d := Derived{clean(g.Name, maxWord), clean(a.Position.File, maxWord), clean(g.Position.String(), maxLong)}
				if len(c.derived) == 0 || c.derived[len(c.derived)-1] != d {
					c.derived = append(c.derived, d)
				}
			}
		}
	}
}

func (c *collector) changed(r *audit.Record) {
	if len(c.changes) < maxChanges {
		c.changes = append(c.changes, Change{
			Run: c.now.ID, Time: r.Time, From: clean(short(r.Change.From), maxWord), To: clean(short(r.Change.To), maxWord),
			Refused: clean(r.Change.Refused, maxLong), Note: clean(r.Change.Note, maxLong),
		})
	}
	if r.Change.Refused == "" && c.Policy == nil {
		c.policy(c.now.Policy, c.now.Role, r.Change.To)
	}
}

func short(hash string) string { return hash[:min(12, len(hash))] }

func (c *collector) ended(r *audit.Record) {
	if r.Summary == nil {
		c.now.Ended = "ended"
		return
	}
	c.now.Ended = fmt.Sprintf("exit %d", r.Summary.Exit)
	switch {
	case r.Limit != "":
		c.now.Ended = "ended by its limit of " + clean(r.Limit, maxWord)
	case r.Reason != "" && r.Reason != string(capability.RunEnded):
		c.now.Ended = "ended: " + clean(capability.Reason(r.Reason).Sentence(), maxLong)
	}
}
