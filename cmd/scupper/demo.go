package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"scupper.dev/scupper/replay"
)

// DemoCmd shows the main job against a pretend Internet, offline.
type DemoCmd struct {
	Policy string `placeholder:"FILE" help:"The policy to run under. The default is the one that comes with the demo."`
}

// Help shows an example.
func (DemoCmd) Help() string {
	return "Example: scupper demo"
}

const demoRegistry = "https://npm.example.com"

const demoPolicy = `version = 1

use "npm" {
  registry = "https://npm.example.com"
}
`

// Run installs packages under the policy, tries an upload that it does not grant, and
// explains the refusal.
func (c *DemoCmd) Run(app *App) error {
	code, err := replay.Sealed(context.Background(), func() int {
		if err := c.inside(app); err != nil {
			return app.report(err)
		}
		return 0
	})
	if err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("start the demo's network: %w", err), hint: "the demo needs user namespaces, or root"}
	}
	if code != 0 {
		return &exitError{code: code, err: errSilent}
	}
	return nil
}

// inside runs in a network namespace that has no exit.
func (c *DemoCmd) inside(app *App) error {
	inet, err := replay.Start(replay.Config{})
	if err != nil {
		return err
	}
	defer inet.Close()
	registry, err := replay.NewRegistry(demoRegistry, "1.0.0", "left-pad", "is-number", "@demo/colors", "@demo/paths")
	if err != nil {
		return err
	}
	inet.Handle("npm.example.com", registry)

	dir, err := os.MkdirTemp("", "scupper-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{app: app, dir: dir, work: filepath.Join(dir, "project"), inet: inet}
	if err := d.prepare(c.Policy, registry); err != nil {
		return err
	}
	return d.show()
}

// demo is one showing: a project folder, a policy, and the Internet behind them.
type demo struct {
	app       *App
	dir, work string
	policy    string
	inet      *replay.Internet
}

// prepare writes the project, the policy and the Internet's CA.
func (d *demo) prepare(policy string, registry *replay.Registry) error {
	manifest, lockfile, err := registry.Project()
	if err != nil {
		return err
	}
	text := []byte(demoPolicy)
	if policy != "" {
		if text, err = os.ReadFile(policy); err != nil {
			return &exitError{code: exitUsage, err: fmt.Errorf("read the demo's policy: %w", err)}
		}
	}
	if err := os.Mkdir(d.work, 0o755); err != nil {
		return err
	}
	d.policy = filepath.Join(d.dir, "policy.hcl")
	for path, content := range map[string][]byte{
		filepath.Join(d.work, "package.json"):      manifest,
		filepath.Join(d.work, "package-lock.json"): lockfile,
		filepath.Join(d.dir, "ca.pem"):             d.inet.CA(),
		d.policy:                                   text,
	} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// show runs the three acts, and fails when one of them is not as it should be.
func (d *demo) show() error {
	install := "npm ci"
	if _, err := exec.LookPath("npm"); err != nil {
		install = "curl -sS --fail -o left-pad.json " + demoRegistry + "/left-pad"
	}
	d.say("1. An install, under a policy that grants one registry:", "", d.policyText(), "")
	if code := d.run(d.app.Stdout, install); code != 0 {
		return &exitError{code: exitDenied, err: fmt.Errorf("the install ended with %d", code)}
	}
	arrived := len(d.inet.Received())
	d.say(fmt.Sprintf("   The registry received %d requests.", arrived))

	d.say("2. An upload to the same registry, as a poisoned file might ask for:")
	var answer strings.Builder
	d.run(io.MultiWriter(d.app.Stdout, &answer), "curl -sS -X PUT -H 'Content-Type: application/json' --data-binary @package.json "+demoRegistry+"/left-pad")
	if n := len(d.inet.Received()) - arrived; n != 0 || !strings.Contains(answer.String(), "method_not_granted") {
		return &exitError{code: exitDenied, err: fmt.Errorf("the upload was not refused: the registry received %d requests", n)}
	}
	d.say("", "   The registry received nothing: the request was refused.")

	d.say("3. Why, and what would permit it:")
	return (&ExplainCmd{ID: "last", Audit: filepath.Join(d.dir, "audit")}).Run(d.app)
}

func (d *demo) say(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(d.app.Stdout, line)
	}
}

// policyText is the policy without its comments.
func (d *demo) policyText() string {
	text, err := os.ReadFile(d.policy)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		code, _, _ := strings.Cut(line, "#")
		if strings.TrimSpace(code) != "" {
			b.WriteString("   " + strings.TrimRight(code, " \n") + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// run starts scupper itself, as a person would, and returns its exit code.
func (d *demo) run(stdout io.Writer, command string) int {
	d.say("   $ scupper run -- " + command)
	self, err := os.Executable()
	if err != nil {
		return exitRun
	}
	cmd := exec.Command(self, "run", "--policy", d.policy, "--audit", filepath.Join(d.dir, "audit"), "--workdir", d.work,
		"--upstream-ca", filepath.Join(d.dir, "ca.pem"), "--", "sh", "-c", command)
	cmd.Stdout, cmd.Stderr = stdout, d.app.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(d.app.Stderr, err)
		return exitRun
	}
	return cmd.ProcessState.ExitCode()
}
