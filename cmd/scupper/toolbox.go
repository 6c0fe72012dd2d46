package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/credential"
	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/classifier"
	"scupper.dev/scupper/gateway/files"
	"scupper.dev/scupper/gateway/shell"
	"scupper.dev/scupper/gateway/trim"
	"scupper.dev/scupper/sandbox"
)

// ToolFlags are the flags of what serves tools. They are those of run.
type ToolFlags struct {
	Policy     string   `placeholder:"FILE" help:"The policy. The default is ./policy.hcl, if it was accepted with 'scupper policy trust'."`
	Role       string   `placeholder:"NAME" help:"The role of the policy whose tools and grants hold."`
	Workdir    string   `placeholder:"DIR" default:"." help:"The one folder that the tools work in."`
	Audit      string   `placeholder:"DIR" help:"Where the log goes. The default is under the state directory."`
	RO         []string `name:"ro" sep:"none" placeholder:"PATH" help:"A further path that commands of the tool bash can read."`
	Env        []string `sep:"none" placeholder:"NAME[=VALUE]" help:"A variable for commands of the tool bash, by value or from this environment."`
	Resolve    []string `sep:"none" placeholder:"HOST:PORT:ADDR[:PORT]" help:"Point a name at an address, as curl does."`
	UpstreamCA []string `name:"upstream-ca" sep:"none" placeholder:"FILE" help:"A PEM file of authorities that may sign upstream certificates, beside the system's."`
}

// toolbox is a gateway with its tools, and what they hold open.
type toolbox struct {
	gateway *gateway.Gateway
	guard   *audit.Guard
	lent    bool // the guard is closed by another
	file    *policyfile.File
	watch   func(ctx context.Context, policies *sandbox.Policies) error // for new policies
	config  sandbox.Config
	single  bool            // for one call
	series  *sandbox.Series // nil: no tool runs commands
	closing []func() error  // in the order of opening
}

// openToolbox opens the tools. command is what the log says was started, and roles are
// those that will call: where none of them has the tool bash, no sandbox is made ready.
// For a single call nothing is kept of what its result leaves out. The caller closes it.
func (f *ToolFlags) openToolbox(app *App, command []string, single bool, roles func(*policyfile.File) []string) (*toolbox, error) {
	run := &RunCmd{
		Policy: f.Policy, Role: f.Role, Workdir: f.Workdir, Audit: f.Audit, RO: f.RO, Env: f.Env, Resolve: f.Resolve, UpstreamCA: f.UpstreamCA,
		TTY: string(sandbox.TerminalNever), Command: command,
	}
	file, path, err := app.loadPolicy(f.Policy)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, &exitError{code: exitUsage, err: errors.New("no policy: no tool is granted"), hint: "name a policy with --policy FILE"}
	}
	config, err := run.configWith(app, command, file, path)
	if err != nil {
		return nil, err
	}
	if err := config.Cage.CheckFolders(); err != nil {
		return nil, runError(err)
	}
	box := &toolbox{file: file, config: config, watch: config.Watch, single: single}
	shelled := slices.ContainsFunc(roles(file), func(r string) bool { return slices.Contains(config.Audit.Policy.ToolsOf(r), "bash") })
	if err := box.openGuard(shelled); err != nil {
		return nil, err
	}
	if err := box.openTools(shelled); err != nil {
		return nil, errors.Join(err, box.Close(exitRun))
	}
	return box, nil
}

// toolboxOf is the tools of a run that has its own log and is a sandbox already: bash is
// not among them.
func toolboxOf(config *sandbox.Config, file *policyfile.File, guard *audit.Guard) (*toolbox, error) {
	box := &toolbox{file: file, config: *config, guard: guard, lent: true}
	if err := box.openTools(false); err != nil {
		return nil, errors.Join(err, box.Close(0))
	}
	return box, nil
}

// openGuard opens the log. Its first record says what will hold the sandboxes of bash.
func (b *toolbox) openGuard(shelled bool) error {
	b.config.Audit.Overrides = b.config.Resolve
	if shelled {
		controls, err := sandbox.SeriesControls(context.Background(), b.config.Cage, b.config.Egress)
		if err != nil {
			return runError(err)
		}
		b.config.Audit.Controls = controls
	}
	guard, err := audit.New(b.config.Audit)
	if err != nil {
		return &exitError{code: exitRun, err: fmt.Errorf("open the audit log: %w", err), hint: "nothing runs without a log: --audit DIR names a folder for it"}
	}
	b.guard = guard
	return nil
}

// openTools makes the six tools and the gateway in front of them.
func (b *toolbox) openTools(shelled bool) error {
	store, err := b.openStore()
	if err != nil {
		return err
	}
	workspace, err := files.Open(files.Config{Folder: b.config.Cage.Workdir, Protected: b.protected(), MayWrite: b.mayWrite(), Rest: store})
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	b.closing = append(b.closing, workspace.Close)
	entries := workspace.Entries()
	if shelled {
		bash, err := b.openShell(store)
		if err != nil {
			return err
		}
		entries = append(entries, bash)
	}
	tools := make([]gateway.Registered, len(entries))
	for i, e := range entries {
		tools[i] = b.registered(e)
	}
	b.gateway, err = gateway.New(gateway.Config{Authority: b.guard, Tools: tools, Callers: b.callers(), Trimmer: &trim.Trimmer{Store: store}})
	return err
}

// openStore opens what keeps the wholes of results, for as long as the process lives.
func (b *toolbox) openStore() (*trim.Store, error) {
	if b.single {
		return nil, nil
	}
	store, err := trim.NewStore("")
	if err == nil {
		b.closing = append(b.closing, store.Close)
	}
	return store, err
}

func (b *toolbox) openShell(store *trim.Store) (gateway.Entry, error) {
	series, err := sandbox.NewSeries(sandbox.SeriesConfig{Guard: b.guard, Egress: b.config.Egress})
	if err != nil {
		return gateway.Entry{}, runError(err)
	}
	b.series = series
	b.closing = append(b.closing, series.Close)
	t := b.tuning("bash")
	bash, err := shell.New(shell.Config{Sandboxes: series, Cage: b.config.Cage, Store: store, MaxOutput: t.MaxOutput, MaxTime: t.Timeout, DenyCommands: t.DenyCommands, Protected: b.protectedFrom})
	if err != nil {
		return gateway.Entry{}, err
	}
	b.closing = append(b.closing, bash.Close)
	return bash.Entry(), nil
}

// policies is where new ones are put into force.
func (b *toolbox) policies() *sandbox.Policies {
	if b.series != nil {
		return b.series.Policies(b.config.Credentials)
	}
	return sandbox.NewPolicies(b.guard, b.config.Credentials)
}

func (b *toolbox) tuning(name string) policyfile.Tool {
	i := slices.IndexFunc(b.file.Tools, func(t policyfile.Tool) bool { return t.Name == name })
	if i < 0 {
		return policyfile.Tool{}
	}
	return b.file.Tools[i]
}

// registered is a tool as the policy tunes it.
func (b *toolbox) registered(e gateway.Entry) gateway.Registered {
	t, d := b.tuning(e.Definition.Name), &e.Definition
	d.Version, d.Title, d.Description = cmp.Or(t.Version, d.Version), cmp.Or(t.Title, d.Title), cmp.Or(t.Description, d.Description)
	d.Level, d.Fields = cmp.Or(gateway.Level(t.Level), d.Level), t.Output
	if d.Name != "bash" { // which was told before, and needs some time more than its commands
		d.Timeout, d.MaxOutput = cmp.Or(t.Timeout, d.Timeout), cmp.Or(t.MaxOutput, d.MaxOutput)
	}
	r := gateway.Registered{Entry: e, Calls: t.Calls, Approval: t.Approval}
	if t.Input != nil {
		r.Narrow = t.Input
	}
	if i := t.Inspect; i != nil {
		r.Inspector = &classifier.Classifier{Exec: classifierOf(i).Exec, Dir: i.Dir, URL: i.URL, Deadline: i.Deadline, FailOpen: i.FailOpen}
	}
	return r
}

// classifierOf is the command of a classifier. A program without a path is looked for
// now, and not again: one that is made later under its name is another.
func classifierOf(i *policyfile.Inspect) credential.Source {
	s := credential.Source{Exec: slices.Clone(i.Exec), Dir: i.Dir}
	if len(s.Exec) > 0 && !strings.Contains(s.Exec[0], "/") {
		if found, err := exec.LookPath(s.Exec[0]); err == nil {
			s.Exec[0] = found
		}
	}
	return s
}

func (b *toolbox) callers() []gateway.Caller {
	callers := make([]gateway.Caller, len(b.file.Callers))
	for i, c := range b.file.Callers {
		callers[i] = gateway.Caller{Name: c.Name, Role: c.Role, Token: c.Token}
	}
	return callers
}

// protected are the names that no file tool writes without a grant: those that decide
// something everywhere, and what decides here.
func (b *toolbox) protected() []string {
	names := files.DefaultProtected()
	folder := realPath(b.config.Cage.Workdir)
	for _, path := range b.config.Cage.Protect {
		if rel, err := filepath.Rel(folder, realPath(path)); err == nil && filepath.IsLocal(rel) && rel != "." {
			names = append(names, "/"+rel)
		}
	}
	return append(names, b.file.Protected...)
}

// protectedFrom are the protected files and directories at the top of the workspace that
// a role may not write. A command may still make those that are not there.
func (b *toolbox) protectedFrom(role string) []string {
	folder, may := realPath(b.config.Cage.Workdir), b.mayWrite()
	var paths []string
	for _, name := range b.protected() {
		path := filepath.Join(folder, name)
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || info.Mode().IsRegular()) && !may(context.Background(), role, name) {
			paths = append(paths, path)
		}
	}
	return paths
}

func (b *toolbox) mayWrite() func(context.Context, string, string) bool {
	granted := make(map[string][]string)
	for _, r := range b.file.Roles {
		granted[r.Name] = b.file.Writes[r.Name]
	}
	// What decides here has a slash in front, and nobody is granted that.
	return func(_ context.Context, role, name string) bool {
		return slices.Contains(granted[role], name) && !strings.HasPrefix(name, "/")
	}
}

// realPath is path, absolute and without links as far as it is there.
func realPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	if dir := filepath.Dir(abs); dir != abs {
		return filepath.Join(realPath(dir), filepath.Base(abs))
	}
	return abs
}

// Close ends the tools, and the log with an exit code.
func (b *toolbox) Close(exit int) error {
	var errs []error
	for _, c := range slices.Backward(b.closing) {
		errs = append(errs, c())
	}
	if b.guard != nil && !b.lent {
		errs = append(errs, b.guard.Close(exit))
	}
	return errors.Join(errs...)
}

// demandRole refuses to serve without a role: tools come with roles alone.
func demandRole(policy *capability.Policy, role string) error {
	if role == "" {
		return &exitError{code: exitUsage, err: errors.New("no role: tools come with roles"), hint: `name one with --role NAME; in the policy: role "dev" { tools = ["read", "grep"] }`}
	}
	_, err := policy.ForRole(role)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	return nil
}
