package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"scupper.dev/scupper/replay/scenario"
	"scupper.dev/scupper/replay/trial"
)

// setting is what a worker is told before its first job.
type setting struct {
	Services []scenario.Service `json:"services"`
	Ports    []uint16           `json:"ports"`
	Without  string             `json:"without"`
	Dir      string             `json:"dir"` // where it may write
}

func portOf(endpoint string) uint16 {
	_, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}

// run replays all jobs with n workers. Each worker is a pretend Internet of its own, so
// that whatever arrives there belongs to the one scenario that runs beside it.
func (x *exercise) run(app *App, n int) (report *trial.Report, err error) {
	dir, err := os.MkdirTemp("", "scupper-replay-")
	if err != nil {
		return nil, &exitError{code: exitEnvironment, err: fmt.Errorf("make a folder for the scenarios: %w", err)}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	q := &queue{exercise: x, results: make([]*trial.Result, len(x.jobs))}
	group, ctx := errgroup.WithContext(ctx)
	for range min(n, len(x.jobs)) {
		group.Go(func() error { return q.work(ctx, app, setting{x.services, x.rawPorts(), x.without, dir}) })
	}
	if err := group.Wait(); err != nil {
		return nil, &exitError{code: exitEnvironment, err: fmt.Errorf("replay: %w", err), hint: "scenarios need user namespaces, or root: scupper doctor"}
	}
	return &trial.Report{Results: q.results, Without: x.without}, nil
}

// queue hands out jobs and keeps their results in order.
type queue struct {
	*exercise
	results []*trial.Result

	mu   sync.Mutex
	next int
}

func (q *queue) take() (i int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i = q.next
	q.next++
	return i, i < len(q.jobs)
}

// work starts a worker and gives it jobs until there are no more.
func (q *queue) work(ctx context.Context, app *App, s setting) (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, replayWord, replayWorker)
	cmd.Stderr = app.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	err = q.converse(s, json.NewEncoder(in), json.NewDecoder(out))
	return errors.Join(err, in.Close(), ignoreEnd(cmd.Wait(), err))
}

// ignoreEnd leaves out how a worker ended where the reason is known already.
func ignoreEnd(end, reason error) error {
	if reason != nil {
		return nil
	}
	return end
}

func (q *queue) converse(s setting, to *json.Encoder, from *json.Decoder) error {
	if err := to.Encode(s); err != nil {
		return fmt.Errorf("tell a worker what to do: %w", err)
	}
	for i, ok := q.take(); ok; i, ok = q.take() {
		j := &q.jobs[i]
		if err := to.Encode(j); err != nil {
			return fmt.Errorf("give a worker %s: %w", j.Scenario.Name, err)
		}
		var e trial.Evidence
		if err := from.Decode(&e); errors.Is(err, io.EOF) {
			return fmt.Errorf("a worker ended at %s", j.Scenario.Name)
		} else if err != nil {
			return fmt.Errorf("read what came of %s: %w", j.Scenario.Name, err)
		}
		if q.without == withoutAll {
			q.results[i] = trial.Alive(&j.Scenario, &e)
			continue
		}
		q.results[i] = trial.Judge(&j.Scenario, &e, q.bounds[i])
	}
	return nil
}
