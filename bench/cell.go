package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// workload is what the client does.
type workload struct {
	name string // W1, W3 or W4 with its kind
	kind string // W1, W3 or W4
	load []string
}

func allWorkloads(p pace) []workload {
	timed := []string{"--warm", p.warm.String(), "--for", p.measured.String()}
	get := func(n string) []string { return append([]string{"--mode", "get", "-c", n}, timed...) }
	bytes := strconv.FormatInt(p.bulk, 10)
	return []workload{
		{"W1, 1 connection", "W1", get("1")},
		{"W1, 16", "W1", get("16")},
		{"W1, 64", "W1", get("64")},
		{"W3 down", "W3", []string{"--mode", "down", "--bytes", bytes}},
		{"W3 up", "W3", []string{"--mode", "up", "--bytes", bytes}},
		{"W4, 100 streams", "W4", append([]string{"--mode", "h2", "-c", "100"}, timed...)},
	}
}

// figure is one measurement.
type figure struct {
	rate float64       // requests or bytes per second
	cpu  float64       // processor seconds of the peer per request or byte
	p99  time.Duration // of a request
	note string        // errors that the client saw
}

// measure does one workload over one peer, which it starts anew.
func (w *world) measure(ctx context.Context, p peer, l workload) (figure, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := w.startPeer(p)
	if err != nil {
		return figure{}, err
	}
	if s != nil {
		defer s.stop()
	}
	args, err := w.client(p, l)
	if err != nil {
		return figure{}, err
	}
	cmd := command(ctx, args)
	cmd.Env = append(os.Environ(), "GOGC=400")
	used := func() time.Duration {
		switch {
		case p.way == caged:
			return w.one(cmd.Process.Pid) // the client is its descendant
		case s != nil:
			return w.tree(s.cmd.Process.Pid)
		}
		return 0
	}
	return watch(cmd, used)
}

// startPeer makes the peer's folder and starts what serves, if anything does.
func (w *world) startPeer(p peer) (*service, error) {
	dir, err := w.folder("peer")
	if err != nil {
		return nil, err
	}
	for name, text := range p.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(w.fill(text, dir)), 0o644); err != nil {
			return nil, err
		}
	}
	for _, step := range p.setup {
		args := w.fillAll(step, dir)
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("set up %s: %v: %w: %s", p.name, args, err, tail(string(out)))
		}
	}
	if len(p.command) == 0 {
		return nil, nil
	}
	return w.start("service", w.fillAll(p.command, dir), proxyAddr)
}

// client is the command line of the load generator over a peer.
func (w *world) client(p peer, l workload) ([]string, error) {
	args := append([]string{w.self, "load"}, l.load...)
	switch p.way {
	case straight:
		return append(args, "--roots", w.at("authority.pem")), nil
	case byConnect:
		return append(args, "--roots", w.at("authority.pem"), "--proxy", proxyAddr), nil
	case instead:
		return append(args, "--roots", w.at("authority.pem"), "--dial", proxyAddr), nil
	}
	run, err := w.sandbox(loadPolicy(), "--ro", w.self, "--resolve", originURL+":"+originAddr)
	// A run keeps two records for each request, and ends after 200,000.
	return append(append(run, args...), "--most", "95000"), err
}

// sandbox is the command line of a sandbox with empty folders for work and log, up to
// the two dashes.
func (w *world) sandbox(policy string, flags ...string) ([]string, error) {
	work, err := w.folder("work")
	if err != nil {
		return nil, err
	}
	log, err := w.folder("audit")
	if err != nil {
		return nil, err
	}
	file := w.at("policy.hcl")
	if err := os.WriteFile(file, []byte(policy), 0o644); err != nil {
		return nil, err
	}
	run := []string{w.scupper, "run", "--policy", file, "--workdir", work, "--audit", log, "--upstream-ca", w.at("upstream.pem")}
	return append(append(run, flags...), "--"), nil
}

var errNoScore = errors.New("the load generator gave no score")

// watch runs a load generator and reads the processor time where it says so.
func watch(cmd *exec.Cmd, used func() time.Duration) (figure, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return figure{}, err
	}
	said, err := os.CreateTemp("", "scupper-bench-said-")
	if err != nil {
		return figure{}, err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return figure{}, err
	}
	s, cpu, err := listen(out, used)
	if err = errors.Join(cmd.Wait(), err); err != nil {
		text, _ := os.ReadFile(said.Name())
		return figure{}, fmt.Errorf("%w: %s", err, tail(string(text)))
	}
	return s.figure(cpu), nil
}

func listen(out io.Reader, used func() time.Duration) (s score, cpu time.Duration, err error) {
	err = errNoScore
	var begin time.Duration
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch text := lines.Text(); text {
		case lineBegin:
			begin = used()
		case lineEnd:
			cpu = used() - begin
		default:
			err = json.Unmarshal([]byte(text), &s)
		}
	}
	return s, cpu, err
}

func (s score) figure(cpu time.Duration) figure {
	units := float64(max(s.Requests, s.Bytes))
	f := figure{rate: units / s.Took.Seconds(), cpu: cpu.Seconds() / max(units, 1), p99: s.P99}
	if s.Errors > 0 {
		f.note = fmt.Sprintf("%d errors, first: %s", s.Errors, s.First)
	}
	return f
}
