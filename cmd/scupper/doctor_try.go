package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/probe"
	"scupper.dev/scupper/sandbox"
)

// probeWord is the hidden first argument of scupper as what tries to get out.
const probeWord = "__scupper-probe"

// isProbe reports whether this process is that.
func isProbe(args []string) bool { return len(args) == 3 && args[1] == probeWord }

// probeMain makes the attempts and prints what came of them.
func probeMain(app *App, scene string) int {
	var s probe.Scene
	if err := json.Unmarshal([]byte(scene), &s); err != nil {
		return app.report(&exitError{code: exitUsage, err: fmt.Errorf("read the scene: %w", err)})
	}
	if err := json.NewEncoder(app.Stdout).Encode(probe.Run(s)); err != nil {
		return app.report(err)
	}
	return 0
}

// trialTime is how long the probes may take altogether; each takes a second at most.
const trialTime = 2 * time.Minute

// try builds a sandbox as run does, without any grant, and lets the probes loose in it.
func (a *App) try(found *checkup) (err error) {
	dir, err := os.MkdirTemp("", "scupper-doctor-")
	if err != nil {
		return fmt.Errorf("make a folder for the trial: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bait, err := probe.Lay(probe.Lures{TempDirs: baitDirs(a.Env("XDG_RUNTIME_DIR")), Env: a.Env})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bait.Close()) }()
	err = a.tryIn(dir, bait.Scene, found)
	found.Reached = append(found.Reached, bait.Reached()...)
	return err
}

// baitDirs are where services of a host have their sockets.
func baitDirs(runtimeDir string) []string {
	dirs := []string{"/tmp", "/var/tmp"}
	if filepath.IsAbs(runtimeDir) && unix.Access(runtimeDir, unix.W_OK) == nil {
		dirs = append([]string{runtimeDir}, dirs...)
	}
	return dirs
}

func (a *App) tryIn(dir string, scene probe.Scene, found *checkup) error {
	config, stdout, stderr, err := a.trial(dir, scene)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), trialTime)
	defer cancel()
	result, err := sandbox.Run(ctx, config)
	found.Controls = append(found.Controls, recordedControls(config.Audit.Dir)...)
	if err != nil {
		return fmt.Errorf("%w%s", err, printed(stderr))
	}
	if result.Exit != 0 {
		return fmt.Errorf("the probes ended with %d%s", result.Exit, printed(stderr))
	}
	if err := json.Unmarshal(stdout.Bytes(), &found.Probes); err != nil {
		return fmt.Errorf("read what the probes found: %w", err)
	}
	return nil
}

// printed is what a process printed, as the end of an error.
func printed(b *bytes.Buffer) string {
	if text := bytes.TrimSpace(b.Bytes()); len(text) > 0 {
		return ": " + audit.Printable(string(text))
	}
	return ""
}

// trial is the run of the probes: this program itself, read-only, in a folder of its own.
func (a *App) trial(dir string, scene probe.Scene) (config sandbox.Config, stdout, stderr *bytes.Buffer, err error) {
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return config, nil, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return config, nil, nil, fmt.Errorf("find this program: %w", err)
	}
	text, err := json.Marshal(scene)
	if err != nil {
		return config, nil, nil, err
	}
	command := []string{self, probeWord, string(text)}
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	config = sandbox.Config{
		Cage: sandbox.CageConfig{
			Command: command, Workdir: work, RO: []string{self}, StateDir: filepath.Join(dir, "state"), LookupEnv: a.Env, Stdout: stdout, Stderr: stderr,
			// Everything is asked for, so that the report says what of it this machine can hold.
			Limits:     sandbox.Limits{CPUs: float64(runtime.NumCPU()), Time: trialTime, Output: 1 << 20},
			BestEffort: true,
		},
		Audit: audit.Config{Dir: filepath.Join(dir, "audit"), Command: []string{"scupper", "doctor"}, Version: version()},
	}
	return config, stdout, stderr, nil
}

// recordedControls reads the controls from the first record of the newest run.
func recordedControls(dir string) []sandbox.Control {
	run, err := audit.Latest(dir)
	if err != nil {
		return nil
	}
	for r, err := range audit.Records(dir, run) {
		if err != nil || r.Run == nil {
			return nil
		}
		text, err := json.Marshal(r.Run.Controls)
		var recorded []sandbox.Control
		if err != nil || json.Unmarshal(text, &recorded) != nil {
			return nil
		}
		return recorded
	}
	return nil
}
