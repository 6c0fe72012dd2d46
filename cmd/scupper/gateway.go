package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/face"
)

// GatewayCmd serves the tools.
type GatewayCmd struct {
	ToolFlags
	Stdio  bool     `help:"Serve MCP over standard input and output, as --role."`
	Listen string   `placeholder:"ADDR:PORT" default:"127.0.0.1:7717" help:"Where to serve over HTTP (MCP at /mcp, plain HTTP at /v1/tools) to the policy's callers. Without TLS: keep it on the loopback."`
	Host   []string `sep:"none" placeholder:"NAME" help:"A name that requests may be addressed to, beside those of the loopback."`
	Origin []string `sep:"none" placeholder:"ORIGIN" help:"Where pages may come from that send requests, beside the loopback, such as https://app.example.com."`
	JSON   bool     `help:"Print the summary as JSON on standard error."`
}

// Help shows an example.
func (GatewayCmd) Help() string {
	return "Example: scupper gateway --stdio --policy policy.hcl --role dev\n\n" +
		"Over HTTP each caller has a token, of which the policy has the hash:\n\n" +
		"  caller \"ci\" {\n    token_sha256 = \"...\"\n    role = \"dev\"\n  }\n\n" +
		"openssl rand -hex 32 makes a token; printf %s TOKEN | sha256sum prints its hash."
}

// Run serves until it is told to end, or nobody talks any more.
func (c *GatewayCmd) Run(app *App) error {
	if socket, inside := app.gatewaySocket(); inside && c.Stdio && c.Policy == "" {
		return c.bridge(app, socket)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	box, err := c.openToolbox(app, c.command(), false, c.roles)
	if err != nil {
		return err
	}
	err = c.serve(ctx, app, box)
	err = errors.Join(err, box.Close(codeOf(err)))
	(&RunCmd{JSON: c.JSON}).summarise(app.Stderr, box.guard.Summary())
	return err
}

// roles are those that somebody can call tools with.
func (c *GatewayCmd) roles(file *policyfile.File) []string {
	if c.Stdio {
		return []string{c.Role}
	}
	var roles []string
	for _, caller := range file.Callers {
		roles = append(roles, caller.Role)
	}
	return roles
}

func (c *GatewayCmd) command() []string {
	if c.Stdio {
		return []string{"scupper", "gateway", "--stdio"}
	}
	return []string{"scupper", "gateway", "--listen", c.Listen}
}

// serve ends when ctx does, when the log says that it must, or when stdio is closed.
func (c *GatewayCmd) serve(ctx context.Context, app *App, box *toolbox) error {
	f := face.New(box.gateway, face.Config{Version: version(), Hosts: c.Host, Origins: c.Origin})
	group, ctx := errgroup.WithContext(ctx)
	ctx, stop := context.WithCancel(ctx)
	group.Go(func() error {
		defer stop()
		if c.Stdio {
			return c.serveStdio(ctx, app, box, f)
		}
		return c.serveHTTP(ctx, app, box, f)
	})
	group.Go(func() error { return box.attend(ctx, stop) })
	group.Go(func() error { return box.watch(ctx, box.policies()) })
	return group.Wait()
}

func (c *GatewayCmd) serveStdio(ctx context.Context, app *App, box *toolbox, f *face.Face) error {
	if err := demandRole(box.file.Policy, c.Role); err != nil {
		return err
	}
	return f.ServeStdio(ctx, gateway.Principal{Role: c.Role, Caller: "operator", Face: "stdio"}, app.Stdin, app.Stdout)
}

func (c *GatewayCmd) serveHTTP(ctx context.Context, app *App, box *toolbox, f *face.Face) error {
	if len(box.file.Callers) == 0 {
		return &exitError{code: exitUsage, err: errors.New("the policy has no callers: nobody has a token"), hint: "scupper gateway --help shows how a caller is written; --stdio needs none"}
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("listen at %s: %w", c.Listen, err)}
	}
	fmt.Fprintf(app.Stderr, "scupper: tools at http://%s/mcp and http://%s/v1/tools\n", l.Addr(), l.Addr())
	return f.ServeHTTP(ctx, l, face.Door{})
}

// attend ends the gateway when the log says so.
func (b *toolbox) attend(ctx context.Context, stop func()) error {
	defer stop()
	select {
	case <-b.guard.Done():
		reason := b.guard.Cause()
		return &exitError{code: exitRun, err: fmt.Errorf("the gateway ends: %s", reason.Sentence())}
	case <-ctx.Done():
		return nil
	}
}

// bridge joins standard input and output to the gateway of the sandbox around.
func (c *GatewayCmd) bridge(app *App, socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("reach the gateway of this sandbox: %w", err)}
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, app.Stdin) // whatever ends it, the other side answers what it got
		if half, ok := conn.(*net.UnixConn); ok {
			_ = half.CloseWrite()
		}
	}()
	if _, err := io.Copy(app.Stdout, conn); err != nil && !strings.Contains(err.Error(), "closed") {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("talk to the gateway of this sandbox: %w", err)}
	}
	return nil
}
