package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/face"
)

// CallCmd calls one tool.
type CallCmd struct {
	ToolFlags
	Key       string `placeholder:"KEY" help:"Makes a retry of a call the same call, inside a sandbox that has a gateway."`
	JSON      bool   `help:"Print the whole result as JSON."`
	Name      string `arg:"" help:"The tool."`
	Arguments string `arg:"" optional:"" default:"{}" help:"Its arguments as a JSON object; - reads them from standard input."`
}

// Help shows an example.
func (CallCmd) Help() string {
	return "Example: scupper call --policy policy.hcl --role dev read '{\"path\": \"README.md\"}'\n\n" +
		"Exit code 0: the tool did it. 1: it could not, or the call was refused. Inside a sandbox that was started with " +
		"'scupper run --gateway' no policy is named: its gateway is called."
}

// Run calls the tool and prints what it answers.
func (c *CallCmd) Run(app *App) error {
	arguments, err := c.arguments(app)
	if err != nil {
		return err
	}
	if socket, inside := app.gatewaySocket(); inside && c.Policy == "" {
		return c.callInside(app, socket, arguments)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	box, err := c.openToolbox(app, []string{"scupper", "call", c.Name}, true, c.roles)
	if err != nil {
		return err
	}
	if err := demandRole(box.file.Policy, c.Role); err != nil {
		return errors.Join(err, box.Close(exitUsage))
	}
	answer := box.gateway.Call(ctx, gateway.Asked{
		Principal: gateway.Principal{Role: c.Role, Caller: "operator", Face: "cli"}, Name: c.Name, Arguments: arguments, Key: c.Key,
	})
	err = c.print(app, answer)
	return errors.Join(err, box.Close(codeOf(err)))
}

// roles are those that need a sandbox.
func (c *CallCmd) roles(*policyfile.File) []string {
	if c.Name != "bash" {
		return nil
	}
	return []string{c.Role}
}

func codeOf(err error) int {
	if err != nil {
		return exitDenied
	}
	return 0
}

func (c *CallCmd) arguments(app *App) ([]byte, error) {
	if c.Arguments != "-" {
		return []byte(c.Arguments), nil
	}
	text, err := io.ReadAll(io.LimitReader(app.Stdin, maxStdin))
	if err != nil {
		return nil, &exitError{code: exitEnvironment, err: fmt.Errorf("read the arguments: %w", err)}
	}
	return text, nil
}

// maxStdin is more than a tool takes: what is longer is refused there.
const maxStdin = 16 << 20

func (c *CallCmd) print(app *App, a gateway.Answer) error {
	switch {
	case a.Hidden():
		return noTool(c.Name)
	case a.Reason != capability.Granted:
		return &exitError{code: exitDenied, err: errors.New(textOf(a.Shown())), hint: "scupper explain " + cmp.Or(a.ID, "last")}
	}
	if c.JSON {
		e := json.NewEncoder(app.Stdout)
		e.SetEscapeHTML(false)
		if err := e.Encode(face.PlainOf(a)); err != nil {
			return err
		}
		return failed(a.Result.Failed)
	}
	if _, err := fmt.Fprintln(app.Stdout, strings.TrimSuffix(textOf(a.Result), "\n")); err != nil {
		return err
	}
	return failed(a.Result.Failed)
}

// failed is the exit code of a tool that could not do it; it has said why.
func failed(failed bool) error {
	if failed {
		return &exitError{code: exitDenied, err: errSilent}
	}
	return nil
}

// noTool is the answer for every tool that the caller cannot use.
func noTool(name string) error {
	return &exitError{code: exitDenied, err: fmt.Errorf("no tool is named %q", name)}
}

func textOf(r gateway.Result) string {
	parts := make([]string, len(r.Content))
	for i, p := range r.Content {
		parts[i] = p.Text
		if p.MediaType != "" {
			parts[i] = fmt.Sprintf("[%s, %d bytes; --json has them]", p.MediaType, len(p.Image))
		}
	}
	return strings.Join(parts, "\n")
}
