package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/clientconfig"
)

// InitCmd writes a policy from the configuration of the clients here.
type InitCmd struct {
	Yes    bool   `help:"Use what the folder's own files name without asking."`
	Policy string `placeholder:"FILE" default:"policy.hcl" help:"Where to write the policy."`
}

// Help shows an example.
func (InitCmd) Help() string {
	return "Example: scupper init && scupper run -- npm ci\n\n" +
		"The addresses come from npm, Go, apt, pip and git as they are configured for you. What a file of the folder names came with the folder: " +
		"it is asked about, and without a terminal or --yes it is written as a comment. A policy that exists is never changed."
}

// Run finds the settings, asks about those of the folder, writes the policy, accepts it
// and says what to type next.
func (c *InitCmd) Run(app *App) error {
	state, err := app.stateDir()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(c.Policy); err == nil {
		return c.exists()
	}
	home := app.Env("HOME")
	reader := clientconfig.Reader{Dir: ".", Home: home, Root: "/", Env: app.Env}
	settings := reader.Read(context.Background())
	app.listSettings(settings)

	draft := draft{used: reader.Used(), modules: reader.GoModules(), ask: app.asker(c.Yes), lookup: lookup, owner: operator(app.Env)}
	text := draft.policy(settings)
	if draft.err != nil {
		return &exitError{code: exitUsage, err: fmt.Errorf("ask about the folder's addresses: %w", draft.err), hint: "scupper init --yes accepts them all"}
	}
	if err := c.write(text); err != nil {
		return err
	}
	return c.accept(app, state, draft)
}

func (c *InitCmd) exists() error {
	return &exitError{code: exitUsage, err: fmt.Errorf("%q exists and is left as it is", c.Policy), hint: "scupper policy check " + c.Policy + " says what is in it; scupper init --policy FILE writes another"}
}

// write makes the file; one that appeared meanwhile is left alone.
func (c *InitCmd) write(text []byte) error {
	f, err := os.OpenFile(c.Policy, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return c.exists()
	}
	if err != nil {
		return &exitError{code: exitUsage, err: fmt.Errorf("write the policy: %w", err)}
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("write the policy: %w", err)}
	}
	return nil
}

// accept records the policy as this operator's, since every address in force in it is
// the operator's own or was agreed to.
func (c *InitCmd) accept(app *App, state string, d draft) error {
	path, err := filepath.Abs(c.Policy)
	if err != nil {
		return fmt.Errorf("find policy: %w", err)
	}
	file, err := app.readPolicy(c.Policy)
	if err != nil {
		return err
	}
	if err := policyfile.Trust(state, path, file.Hash); err != nil {
		return &exitError{code: exitEnvironment, err: err}
	}
	fmt.Fprintf(app.Stdout, "wrote %s, and accepted it on this machine:\n", c.Policy)
	var grants strings.Builder
	printGrants(&grants, file.Policy.Grants())
	for line := range strings.Lines(grants.String()) {
		fmt.Fprint(app.Stdout, "  "+line)
	}
	for _, line := range d.asides() {
		fmt.Fprintln(app.Stdout, "  not in force: "+line)
	}
	fmt.Fprintln(app.Stdout, "next: "+c.next(d))
	return nil
}

// next is the command to type now.
func (c *InitCmd) next(d draft) string {
	command := "scupper run "
	if c.Policy != implicitPolicy {
		command += "--policy " + c.Policy + " "
	}
	switch {
	case exists("pnpm-lock.yaml") && d.inForce("npm"):
		return command + "-- pnpm install"
	case exists("yarn.lock") && d.inForce("npm"):
		return command + "-- yarn install"
	case exists("package-lock.json") && d.inForce("npm"):
		return command + "-- npm ci"
	case exists("package.json") && d.inForce("npm"):
		return command + "-- npm install"
	case exists("go.mod") && d.inForce("go"):
		return command + "-- go mod download"
	case d.inForce("npm"):
		return command + "-- npm install NAME"
	case d.inForce("go"):
		return command + "-- go mod download"
	}
	return command + "-- COMMAND"
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// listSettings prints what was found and where.
func (a *App) listSettings(settings []clientconfig.Setting) {
	if len(settings) == 0 {
		fmt.Fprintln(a.Stdout, "found no configuration of npm, Go, apt, pip or git")
		return
	}
	fmt.Fprintln(a.Stdout, "found:")
	for _, s := range settings {
		note := s.From
		if s.Repository {
			note += ", which came with this folder"
		}
		if s.Secret {
			note += "; its credential is not copied"
		}
		fmt.Fprintf(a.Stdout, "  %-4s %s %s (%s)\n", s.Client, audit.Printable(s.Name), audit.Printable(s.Value), note)
	}
}

// asker asks a person whether an address of the folder may be used. Where nobody can be
// asked, the answer is what yes says.
func (a *App) asker(yes bool) func(question string) (bool, error) {
	f, ok := a.Stdin.(*os.File)
	if yes || !ok || !term.IsTerminal(int(f.Fd())) {
		return func(string) (bool, error) { return yes, nil }
	}
	lines := bufio.NewReader(a.Stdin)
	return func(question string) (bool, error) {
		fmt.Fprintf(a.Stderr, "%s [y/N] ", question)
		answer, err := lines.ReadString('\n')
		if err != nil && (answer == "" || !errors.Is(err, io.EOF)) {
			return false, err
		}
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes", nil
	}
}
