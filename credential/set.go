package credential

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"scupper.dev/scupper/capability"
)

// Spec is one credential of a policy.
type Spec struct {
	Name   string
	Source Source
	Place  capability.Place
	Expose string // the variable under which the sandbox has a placeholder; empty: none
}

// Options of Open. The zero value is this process.
type Options struct {
	LookupEnv func(string) string
	Environ   []string // of commands; nil: that of this process as it is at Open
	Random    io.Reader
	Now       func() time.Time
}

func (o Options) withDefaults() Options {
	if o.LookupEnv == nil {
		o.LookupEnv = os.Getenv
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Set are the credentials of one run. Its methods are safe for concurrent use.
type Set struct {
	held     map[string]*held
	order    []*held
	warnings []string
}

// Open reads every secret once. It fails when one cannot be had; the error names the
// credential and its source, never a value.
func Open(ctx context.Context, specs []Spec, o Options) (*Set, error) {
	o = o.withDefaults()
	s := &Set{held: make(map[string]*held)}
	var errs []error
	for _, spec := range specs {
		h := &held{spec: spec, options: o}
		if err := h.open(ctx); err != nil {
			errs = append(errs, fmt.Errorf("credential %q from %s: %w", spec.Name, spec.Source, err))
			continue
		}
		s.held[spec.Name], s.order = h, append(s.order, h)
		s.warnings = append(s.warnings, h.warnings()...)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// Has reports whether the credential with that name is of this run.
func (s *Set) Has(name string) bool { return s != nil && s.held[name] != nil }

// Placeholders are what the sandbox has in the place of secrets, by credential. A nil
// Set has none.
func (s *Set) Placeholders() map[string]string {
	out := make(map[string]string)
	if s == nil {
		return out
	}
	for _, h := range s.order {
		if h.placeholder != "" {
			out[h.spec.Name] = h.placeholder
		}
	}
	return out
}

// Environment is NAME=PLACEHOLDER for each credential that is exposed.
func (s *Set) Environment() []string {
	var out []string
	for _, h := range s.order {
		if h.placeholder != "" {
			out = append(out, h.spec.Expose+"="+h.placeholder)
		}
	}
	return out
}

// Warnings are remarks for the operator; none holds a value.
func (s *Set) Warnings() []string { return slices.Clone(s.warnings) }

// Secrets are all secrets that the run has had, those that were renewed since too: what
// must not come back to the sandbox. There are at most 64 of one credential. A nil Set
// has none.
func (s *Set) Secrets() []Secret {
	var out []Secret
	if s == nil {
		return nil
	}
	for _, h := range s.order {
		out = append(out, h.all()...)
	}
	return out
}

// maxHistory bounds the secrets that are remembered of one credential.
const maxHistory = 64

// held is one credential of a run.
type held struct {
	spec        Spec
	options     Options
	placeholder string

	mu      sync.Mutex // also while a command runs: others wait for its answer
	begun   time.Time
	expires time.Time
	failed  time.Time // of the last attempt to renew

	past    sync.Mutex // with mu to change history, alone to look: answers do not wait for a command
	history []Secret   // the last is in force
}

func (h *held) open(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.renew(ctx); err != nil {
		return err
	}
	if h.spec.Expose == "" {
		return nil
	}
	text, err := placeholder(h.history[0].Reveal(), h.options.Random)
	if err != nil {
		return fmt.Errorf("make a placeholder: %w", err)
	}
	h.placeholder = text
	return nil
}

func (h *held) warnings() (out []string) {
	if n := len(h.history[0].Reveal()); n < 16 {
		out = append(out, fmt.Sprintf("credential %q has fewer than 16 bytes: it is easily guessed, and cannot be told from other text in what comes back", h.spec.Name))
	}
	if h.spec.Source.open() {
		out = append(out, fmt.Sprintf("credential %q: others can read %s: chmod 600", h.spec.Name, h.spec.Source))
	}
	return out
}

func (h *held) all() []Secret {
	h.past.Lock()
	defer h.past.Unlock()
	return slices.Clone(h.history)
}

// retryAfter is how long a source that failed is left alone.
const retryAfter = time.Second

var errFailing = errors.New("it failed a moment ago")

// current is the secret in force, renewed where it is about to expire.
func (h *held) current(ctx context.Context) (Secret, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.options.Now()
	if h.due(now) {
		if err := h.attempt(ctx, now); err != nil && !now.Before(h.expires) {
			return Secret{}, err
		}
	}
	return h.history[len(h.history)-1], nil
}

// attempt renews, but not again and again.
func (h *held) attempt(ctx context.Context, now time.Time) error {
	if !h.failed.IsZero() && now.Before(h.failed.Add(retryAfter)) {
		return errFailing
	}
	if err := h.renew(ctx); err != nil {
		h.failed = now
		return err
	}
	h.failed = time.Time{}
	return nil
}

// due: in the last tenth of its life, the last 30 seconds at most.
func (h *held) due(now time.Time) bool {
	if h.expires.IsZero() {
		return false
	}
	ahead := min(h.expires.Sub(h.begun)/10, 30*time.Second)
	return !now.Before(h.expires.Add(-ahead))
}

func (h *held) renew(ctx context.Context) error {
	r, err := h.spec.Source.read(ctx, h.options)
	if err != nil {
		return err
	}
	if err := fits(h.spec.Place, r.value); err != nil {
		return err
	}
	h.begun, h.expires = h.options.Now(), r.expires
	if n := len(h.history); n > 0 && h.history[n-1].Reveal() == r.value {
		return nil
	}
	h.past.Lock()
	defer h.past.Unlock()
	if h.history = append(h.history, NewSecret(h.spec.Name, r.value)); len(h.history) > maxHistory {
		h.history = slices.Delete(h.history, 0, 1)
	}
	return nil
}
