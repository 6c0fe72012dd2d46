package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"scupper.dev/scupper/replay"
)

// patience is how long one client may take; longer is a hang.
const patience = 60 * time.Second

// world is one user's machine beside a pretend Internet.
type world struct {
	t     *testing.T
	user  user
	inet  *replay.Internet
	dir   string     // dir/home, dir/work, dir/policy.hcl, dir/ca.pem
	flags []string   // further flags of scupper run
	env   []string   // further environment of whatever is started
	extra []*os.File // descriptors from 3 on that whatever is started inherits
	runs  int
}

// newWorld starts a pretend Internet and makes u a home and a work folder. It ends
// with the test.
func newWorld(t *testing.T, u user) *world { return newWorldWith(t, u, replay.Config{}) }

// newWorldWith has further ports.
func newWorldWith(t *testing.T, u user, cfg replay.Config) *world {
	t.Helper()
	inet, err := replay.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inet.Close() })
	w := &world{t: t, user: u, inet: inet, dir: u.folder(t, "home", "work", "audit")}
	u.file(t, w.at("ca.pem"), inet.CA())
	return w
}

func (w *world) at(name string) string { return filepath.Join(w.dir, name) }

// policy is what the following runs are under. Without it there is no --policy.
func (w *world) policy(text string) { w.user.file(w.t, w.at("policy.hcl"), []byte(text)) }

// work writes a file into the folder that the sandbox may write.
func (w *world) work(name, content string) string {
	w.t.Helper()
	return w.user.file(w.t, w.at("work/"+name), []byte(content))
}

// control runs a client in a sandbox: what is granted must work.
func (w *world) control(c client) *attempt {
	w.t.Helper()
	return w.run(c).wantExit(0)
}

// attack runs a client in a sandbox. The test must then look at the client's view
// (wantStatus or wantExit), at the far side and at the log.
func (w *world) attack(c client) *attempt {
	w.t.Helper()
	a := w.run(c)
	w.t.Cleanup(func() {
		if unseen := a.unseen(); len(unseen) > 0 && !w.t.Failed() {
			w.t.Errorf("%s: the test did not look at %v", a, unseen)
		}
	})
	return a
}

// run runs a client under scupper run.
func (w *world) run(c client) *attempt {
	w.t.Helper()
	argv, audit := w.runArgs(c)
	a := w.start(c, argv, nil)
	a.audit, a.log = audit, readLog(w.t, audit)
	return a
}

// runArgs is the command line that runs a client under scupper run, and where the log
// will be.
func (w *world) runArgs(c client) (argv []string, audit string) {
	w.runs++
	audit = w.at(fmt.Sprintf("audit/%d", w.runs))
	args := []string{prepared("scupper"), "run", "--audit", audit, "--workdir", w.at("work"), "--upstream-ca", w.at("ca.pem")}
	if _, err := os.Stat(w.at("policy.hcl")); err == nil {
		args = append(args, "--policy", w.at("policy.hcl"))
	}
	return append(append(append(args, w.flags...), "--"), c.argv...), audit
}

// direct runs a client without scupper: it shows what would get through.
func (w *world) direct(c client) *attempt {
	w.t.Helper()
	ca := w.at("ca.pem")
	return w.start(c, c.argv, []string{"CURL_CA_BUNDLE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca, "SSL_CERT_FILE=" + ca, "npm_config_cafile=" + ca})
}

// scupper runs any command of scupper and returns it when it has ended.
func (w *world) scupper(args ...string) *attempt {
	w.t.Helper()
	return w.start(client{argv: args}, append([]string{prepared("scupper")}, args...), nil)
}

// start forgets what the far side has, runs argv to its end as the user, and collects
// what the far side has then.
func (w *world) start(c client, argv, env []string) *attempt {
	w.t.Helper()
	if err := w.inet.Reset(); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := w.command(ctx, argv, env)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		w.t.Fatalf("%v: %v after %v\n%s%s", argv, err, time.Since(begin), &stdout, &stderr)
	}
	a := &attempt{
		t: w.t, client: c, took: time.Since(begin), exit: cmd.ProcessState.ExitCode(),
		stdout: stdout.String(), stderr: stderr.String(), looked: map[string]bool{},
	}
	a.parse()
	a.collect(w.inet)
	return a
}

// command is argv as the user in the work folder, with an environment that has
// nothing of the tests' own.
func (w *world) command(ctx context.Context, argv, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if filepath.Base(argv[0]) == argv[0] {
		cmd = exec.CommandContext(ctx, "/usr/bin/env", argv...)
	}
	cmd.Dir, cmd.SysProcAttr, cmd.WaitDelay = w.at("work"), w.user.attributes(), 5*time.Second
	cmd.Env = append([]string{"PATH=" + w.user.path(), "HOME=" + w.at("home"), "TERM=dumb", "LANG=C.UTF-8"}, append(env, w.env...)...)
	cmd.ExtraFiles = w.extra
	return cmd
}
