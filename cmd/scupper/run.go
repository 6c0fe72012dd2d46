package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/sandbox"
)

// RunCmd runs a command in a sandbox.
type RunCmd struct {
	Policy     string   `placeholder:"FILE" help:"The policy. The default is ./policy.hcl, if it was accepted with 'scupper policy trust'; without one everything is denied."`
	Role       string   `placeholder:"NAME" help:"The role of the policy whose grants hold. The default is all grants."`
	Workdir    string   `placeholder:"DIR" default:"." help:"The one writable folder, and where the command starts."`
	Audit      string   `placeholder:"DIR" help:"Where the log goes. The default is under the state directory."`
	RO         []string `name:"ro" sep:"none" placeholder:"PATH" help:"A further path that the sandbox can read."`
	RW         []string `name:"rw" sep:"none" placeholder:"PATH" help:"A further path that the sandbox can write."`
	Env        []string `sep:"none" placeholder:"NAME[=VALUE]" help:"A variable for the sandbox, by value or from this environment."`
	Resolve    []string `sep:"none" placeholder:"HOST:PORT:ADDR[:PORT]" help:"Point a name at an address in this run, as curl does."`
	UpstreamCA []string `name:"upstream-ca" sep:"none" placeholder:"FILE" help:"A PEM file of authorities that may sign upstream certificates, beside the system's."`
	Memory     byteSize `placeholder:"SIZE" help:"Memory of the whole sandbox, such as 4GiB. The default is four fifths of what there is."`
	CPUs       cpuCount `name:"cpus" placeholder:"N" help:"How many processors' time the sandbox gets, such as 1.5. The default is all."`
	Processes  uint32   `placeholder:"N" help:"Processes and threads at once. The default is 4096."`
	Time       span     `placeholder:"TIME" help:"How long the run may take, such as 30m; then it is ended with exit code 124. The default is no limit."`
	TTY        string   `name:"tty" enum:"auto,always,never" default:"auto" help:"Give the command a terminal of its own (auto, always, never). By default it has one where standard input and output are one."`
	Gateway    bool     `help:"Put a socket with the role's tools into the sandbox, for an agent that runs inside; $SCUPPER_GATEWAY names it."`
	Nested     bool     `name:"nested-sandbox" help:"Let programs inside make user namespaces, for agents and browsers that bring a sandbox of their own. This weakens a control."`
	JSON       bool     `help:"Print the summary as JSON on standard error."`
	Command    []string `arg:"" optional:"" passthrough:"" help:"The command and its arguments, after --."`
}

// Help shows an example.
func (RunCmd) Help() string {
	return "Example: scupper run --policy policy.hcl -- npm ci"
}

// Run builds the run from flags and policy, runs it, and says what happened.
func (c *RunCmd) Run(app *App) error {
	config, closing, err := c.config(app)
	if err != nil {
		return err
	}
	defer closing()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	if config.Watch == nil || app.onTerminal() {
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	config.Signals = signals
	// The run is ended in order also when nobody reads what it prints. Ignoring the signal would be inherited by the command.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)

	result, err := sandbox.Run(context.Background(), config)
	if result.Summary.Run != "" {
		c.summarise(app.Stderr, result.Summary)
	}
	if err != nil {
		return runError(err)
	}
	if result.Exit != 0 {
		return &exitError{code: result.Exit, err: errSilent}
	}
	return nil
}

// errSilent has no text: the command has said itself what went wrong.
var errSilent = errors.New("")

func (c *RunCmd) summarise(w io.Writer, s audit.Summary) {
	if c.JSON {
		writeSummaryJSON(w, s)
		return
	}
	writeSummary(w, s)
}

// runError gives err the exit code that its kind has.
func runError(err error) error {
	var known *sandbox.Error
	if errors.As(err, &known) {
		return &exitError{code: known.Code, err: err, hint: known.Hint}
	}
	return &exitError{code: exitRun, err: err}
}

// command is what runs inside. A flag that nobody knows would otherwise be taken for it.
func (c *RunCmd) command() ([]string, error) {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	} else if len(command) > 0 && strings.HasPrefix(command[0], "-") {
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("unknown flag %s", command[0]), hint: "scupper run --help lists the flags; a command comes after --"}
	}
	if len(command) == 0 {
		return nil, &exitError{code: exitUsage, err: errors.New("no command"), hint: "scupper run --policy policy.hcl -- npm ci"}
	}
	return command, nil
}

// config is the run, and what removes what was made for it outside.
func (c *RunCmd) config(app *App) (config sandbox.Config, closing func(), err error) {
	command, err := c.command()
	if err != nil {
		return config, nil, err
	}
	file, path, err := app.loadPolicy(c.Policy)
	if err != nil {
		return config, nil, err
	}
	if config, err = c.configWith(app, command, file, path); err != nil || !c.Gateway {
		return config, func() {}, err
	}
	closing, err = c.addGateway(&config, file)
	return config, closing, err
}

// configWith is the run of a command under a policy; file is nil where there is none.
func (c *RunCmd) configWith(app *App, command []string, file *policyfile.File, path string) (sandbox.Config, error) {
	state, err := app.stateDir()
	if err != nil {
		return sandbox.Config{}, err
	}
	auditDir, err := app.auditDir(c.Audit)
	if err != nil {
		return sandbox.Config{}, err
	}
	key, err := fingerprints(state)
	if err != nil {
		return sandbox.Config{}, err
	}
	config := sandbox.Config{
		Cage: sandbox.CageConfig{
			Command: command, Workdir: c.Workdir, RO: c.RO, RW: c.RW, StateDir: state, Forbidden: []string{auditDir}, Nested: c.Nested,
			LookupEnv: app.Env, Terminal: sandbox.TerminalUse(c.TTY), Stdin: app.Stdin, Stdout: app.Stdout, Stderr: app.Stderr,
		},
		Audit: audit.Config{Dir: auditDir, State: state, Role: c.Role, Command: command, Version: version(), Key: key},
	}
	if err := c.usePolicy(&config, file, path, app); err != nil {
		return sandbox.Config{}, err
	}
	if err := app.ensureKey(state, auditDir); err != nil {
		return sandbox.Config{}, err
	}
	app.recoverLogs(state, auditDir)
	if file != nil {
		config.Watch = c.newWatcher(app, file, path).watch
	}
	if err := c.useFlags(&config, app); err != nil {
		return sandbox.Config{}, err
	}
	if file == nil {
		return config, nil
	}
	return config, useCredentials(&config, file, app) // after the flags, which may name what it scrubs
}

// usePolicy puts what the policy says into config. Without a policy everything is
// denied, and the place where one would be looked for is protected all the same.
func (c *RunCmd) usePolicy(config *sandbox.Config, file *policyfile.File, path string, app *App) error {
	config.Cage.Protect = []string{filepath.Join(c.Workdir, implicitPolicy)}
	if file == nil {
		config.Cage.Limits = c.limits(policyfile.Sandbox{})
		if c.Role != "" {
			return &exitError{code: exitUsage, err: fmt.Errorf("role %q: there is no policy", c.Role), hint: "name a policy with --policy FILE"}
		}
		return nil
	}
	policy, err := file.Policy.ForRole(c.Role)
	if err != nil {
		return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", path, err)}
	}
	config.Cage.Limits, config.Cage.BestEffort = c.limits(file.Sandbox), file.BestEffort
	config.Audit.Policy, config.Audit.PolicyText, config.Audit.PolicyPath = policy, file.Text, path
	config.Audit.PolicyFiles = file.Digests
	config.Cage.Protect = append(append(config.Cage.Protect, path), file.Files...)
	for _, t := range file.Tools {
		if t.Inspect != nil { // which runs outside of every sandbox
			config.Cage.Protect = append(config.Cage.Protect, filesOf(classifierOf(t.Inspect))...)
		}
	}
	for _, v := range file.EnvironmentFor(c.Role) {
		config.Cage.Env = append(config.Cage.Env, v.Name+"="+v.Value)
	}
	useConnections(config, file.Connections)
	useAudit(config, file.Audit)
	if len(file.Upstream.ExtraCA) > 0 {
		if err := addRoots(config, file.Upstream.ExtraCA); err != nil {
			return fmt.Errorf("%s: upstream ca: %w", path, err)
		}
	}
	if file.Upstream.Resolver != "" {
		config.Resolver = resolver(file.Upstream.Resolver)
	}
	return useProxy(config, file.Upstream.Proxy, app.Env)
}

// resolver asks one DNS server instead of the system's.
func resolver(server string) *net.Resolver {
	var d net.Dialer
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return d.DialContext(ctx, network, server)
	}}
}

// useFlags puts the operator's word into config, above the policy's.
func (c *RunCmd) useFlags(config *sandbox.Config, app *App) error {
	config.Resolve = c.Resolve
	for _, path := range c.UpstreamCA {
		pem, err := os.ReadFile(path)
		if err != nil {
			return &exitError{code: exitUsage, err: fmt.Errorf("read upstream authorities: %w", err)}
		}
		if err := addRoots(config, pem); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, s := range c.Env {
		name, _, valued := strings.Cut(s, "=")
		switch {
		case name == "":
			return &exitError{code: exitUsage, err: fmt.Errorf("--env %q has no name", s), hint: "--env NAME or --env NAME=VALUE"}
		case valued:
			config.Cage.Env = append(config.Cage.Env, s)
		default:
			config.Cage.Env = append(config.Cage.Env, name+"="+app.Env(name))
		}
	}
	return nil
}

// addRoots lets authorities sign upstream certificates beside the system's. Without
// any the system's are read only when the first certificate is verified.
func addRoots(config *sandbox.Config, pem []byte) (err error) {
	if config.UpstreamRoots == nil {
		if config.UpstreamRoots, err = x509.SystemCertPool(); err != nil {
			return &exitError{code: exitEnvironment, err: fmt.Errorf("read the system's root certificates: %w", err), hint: "apt-get install ca-certificates"}
		}
	}
	if !config.UpstreamRoots.AppendCertsFromPEM(pem) {
		return &exitError{code: exitUsage, err: errors.New("no PEM certificate in it")}
	}
	return nil
}
