package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/replay"
	"scupper.dev/scupper/replay/attempt"
	"scupper.dev/scupper/replay/scenario"
	"scupper.dev/scupper/replay/service"
	"scupper.dev/scupper/replay/trial"
)

// replayWord is the hidden first argument of scupper as a part of replay; the second is
// which part.
const (
	replayWord     = "__scupper-replay"
	replayWorker   = "worker"   // a pretend Internet, and scenarios beside it one after the other
	replayBox      = "box"      // one scenario under scupper
	replayAttempts = "attempts" // what is attempted, inside the sandbox
)

// isReplay reports whether this process is such a part.
func isReplay(args []string) bool { return len(args) == 3 && args[1] == replayWord }

func replayMain(app *App, part string) int {
	var err error
	switch part {
	case replayWorker:
		var code int
		if code, err = replay.Sealed(context.Background(), func() int { return app.worker() }); err == nil {
			return code
		}
		err = &exitError{code: exitEnvironment, err: err}
	case replayBox:
		err = app.box()
	case replayAttempts:
		err = makeAttempts(app.Stdin, app.Stdout)
	}
	if err != nil {
		return app.report(err)
	}
	return 0
}

// worker is one pretend Internet.
type worker struct {
	setting
	inet *replay.Internet
	ca   string // path of its authority's certificate
	dir  string
	runs int
}

// worker answers each job on standard input with a line of evidence.
func (a *App) worker() int {
	in, out := json.NewDecoder(a.Stdin), json.NewEncoder(a.Stdout)
	w := &worker{}
	if err := w.open(in); err != nil {
		return a.report(&exitError{code: exitEnvironment, err: err})
	}
	defer w.inet.Close()
	for {
		var j job
		switch err := in.Decode(&j); {
		case errors.Is(err, io.EOF):
			return 0
		case err != nil:
			return a.report(&exitError{code: exitEnvironment, err: fmt.Errorf("read the next scenario: %w", err)})
		}
		if err := out.Encode(w.replay(&j)); err != nil {
			return exitEnvironment
		}
	}
}

func (w *worker) open(in *json.Decoder) (err error) {
	if err := in.Decode(&w.setting); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	if w.dir, err = os.MkdirTemp(w.Dir, "worker-"); err != nil {
		return err
	}
	if w.inet, err = replay.Start(replay.Config{RawPorts: w.Ports, Whole: true, HTTPPorts: []uint16{alsoHTTP}, TLSPorts: []uint16{alsoTLS}}); err != nil {
		return err
	}
	w.ca = filepath.Join(w.dir, "ca.pem")
	repositories := filepath.Join(w.dir, "git")
	return errors.Join(os.Mkdir(repositories, 0o755), os.WriteFile(w.ca, w.inet.CA(), 0o644), service.Install(w.inet, w.Services, repositories))
}

// replay runs one scenario and collects what there is of it.
func (w *worker) replay(j *job) *trial.Evidence {
	e := &trial.Evidence{}
	if err := w.try(j, e); err != nil {
		e.Trouble = err.Error()
	}
	return e
}

func (w *worker) try(j *job, e *trial.Evidence) error {
	w.runs++
	p := place{dir: filepath.Join(w.dir, fmt.Sprintf("run-%d", w.runs))}
	defer os.RemoveAll(p.dir)
	if err := p.lay(&j.Scenario.Given); err != nil {
		return fmt.Errorf("lay out what is given: %w", err)
	}
	undo := w.pretend(&j.Scenario.Given)
	defer undo()
	if err := w.inet.Reset(); err != nil {
		return err
	}
	result, err := w.execute(j, p)
	if err != nil {
		return err
	}
	e.Outcomes = result.Outcomes
	if w.Without != withoutAll {
		if e.Log, err = readDecisions(p.at("audit")); err != nil {
			return err
		}
	}
	return w.collect(e)
}

// pretend has names and certificates be what the scenario says until undo.
func (w *worker) pretend(g *scenario.Given) (undo func()) {
	for _, d := range g.DNS {
		w.inet.Resolve(d.Host, answersOf(d)...)
	}
	faults := map[string]replay.Fault{"self_signed": replay.SelfSigned, "expired": replay.Expired, "wrong_name": replay.WrongName}
	for _, c := range g.Certificates {
		w.inet.Present(c.Host, faults[c.Fault])
	}
	return func() {
		for _, d := range g.DNS {
			w.inet.Resolve(d.Host)
		}
		for _, c := range g.Certificates {
			w.inet.Present(c.Host, replay.NoFault)
		}
	}
}

func answersOf(d scenario.Answers) (out []replay.Answer) {
	for _, turn := range d.Turn {
		var answer replay.Answer
		for _, word := range turn {
			if a, err := netip.ParseAddr(word); err == nil {
				answer.Addrs = append(answer.Addrs, a)
			} else {
				answer = replay.NXDomain()
			}
		}
		out = append(out, answer)
	}
	return out
}

// scenarioTime is how long one scenario may take.
const scenarioTime = 100 * time.Second

// boxed is what a scenario is run from and with.
type boxed struct {
	Policy, Role, Workdir, Audit, CA string
	Env                              map[string]string
	Credentials                      map[string]string
	Attempts                         []attempt.Attempt
	Without                          []string // layers that are taken out of the policy
}

// ended is what came of the attempts.
type ended struct {
	Outcomes []attempt.Outcome
}

// execute makes the attempts, under scupper or beside it.
func (w *worker) execute(j *job, p place) (result ended, err error) {
	s := &j.Scenario
	env := map[string]string{scenario.OutsideVariable: p.at("outside")}
	for name, value := range s.Given.Env {
		env[name] = value
	}
	policy, err := filepath.Abs(s.Policy)
	if err != nil {
		return result, err
	}
	b := boxed{policy, s.Role, p.at("work"), p.at("audit"), w.ca, env, s.Given.Credentials, s.Attempts, j.Without}
	if w.Without != withoutAll {
		err = p.start(replayBox, b, nil, &result)
		return result, err
	}
	direct := []string{scenario.OutsideVariable + "=" + p.at("outside")}
	for _, name := range []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "PIP_CERT", "npm_config_cafile"} {
		direct = append(direct, name+"="+w.ca)
	}
	for _, held := range []map[string]string{s.Given.Env, j.Exposed} {
		for name, value := range held {
			direct = append(direct, name+"="+value)
		}
	}
	err = p.start(replayAttempts, naive(s.Attempts), direct, &result.Outcomes)
	return result, err
}

// start runs a part of replay in the workspace, with input and output as JSON.
func (p place) start(part string, input any, env []string, output any) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	text, err := json.Marshal(input)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), scenarioTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, replayWord, part)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.WaitDelay = bytes.NewReader(text), &stdout, &stderr, p.at("work"), 5*time.Second
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.at("home"), "XDG_STATE_HOME=" + p.at("state"), "LANG=C.UTF-8", "TERM=dumb"}, env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w%s", err, complaint(&stderr))
	}
	if err := json.Unmarshal(stdout.Bytes(), output); err != nil {
		return fmt.Errorf("read what came of it: %w%s", err, printed(&stderr))
	}
	return nil
}

// complaint is the line of standard error that says why.
func complaint(b *bytes.Buffer) string {
	for line := range strings.Lines(b.String()) {
		if text, ok := strings.CutPrefix(line, "scupper: "); ok {
			return ": " + audit.Printable(strings.TrimSpace(text))
		}
	}
	return printed(b)
}

// collect takes over what the far side received. A request that is still being read gets
// a moment.
func (w *worker) collect(e *trial.Evidence) (err error) {
	for deadline := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		e.Requests = w.inet.Received()
		reading := false
		for i := range e.Requests {
			reading = reading || !e.Requests[i].Done
		}
		if !reading || time.Now().After(deadline) {
			break
		}
	}
	e.Queries, e.Connections = w.inet.Queries(), w.inet.Connections()
	e.Packets, err = w.inet.Packets()
	return err
}

// readDecisions reads the decisions of the one run that has its log in dir.
func readDecisions(dir string) (out []*audit.Record, err error) {
	run, err := audit.Latest(dir)
	if err != nil {
		return nil, fmt.Errorf("read the log of the scenario: %w", err)
	}
	for r, err := range audit.Records(dir, run) {
		if err != nil {
			return nil, fmt.Errorf("read the log of the scenario: %w", err)
		}
		if r.Event == audit.Decided || r.Event == audit.Ended {
			out = append(out, r)
		}
	}
	return out, nil
}
