package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/face"
	"scupper.dev/scupper/sandbox"
)

// addGateway puts a socket into the sandbox, in a folder that is read-only there, and
// serves the tools of the run's role to whoever connects: inside, everybody is the role.
// closing removes the socket.
func (c *RunCmd) addGateway(config *sandbox.Config, file *policyfile.File) (closing func(), err error) {
	if file == nil {
		return nil, &exitError{code: exitUsage, err: errors.New("no policy: no tool is granted"), hint: "name a policy with --policy FILE"}
	}
	if err := demandRole(file.Policy, c.Role); err != nil {
		return nil, err
	}
	// Nobody else of this host gets through the outer folder; into the sandbox goes the
	// inner one.
	dir, err := os.MkdirTemp("", "scupper-gateway-")
	if err != nil {
		return nil, &exitError{code: exitRun, err: fmt.Errorf("make a folder for the gateway's socket: %w", err)}
	}
	closing = func() { _ = os.RemoveAll(dir) } // a folder that stays does no harm
	l, err := listenFor(filepath.Join(dir, "run"))
	if err != nil {
		closing()
		return nil, &exitError{code: exitRun, err: fmt.Errorf("open the gateway's socket: %w", err)}
	}
	config.Cage.RO = append(config.Cage.RO, filepath.Join(dir, "run"))
	config.Cage.Env = append(config.Cage.Env, gatewayVariable+"="+l.Addr().String())
	run := *config
	config.Serve = func(ctx context.Context, guard *audit.Guard) error { return c.serveInside(ctx, &run, file, guard, l) }
	return closing, nil
}

// listenFor listens in a new folder, for every user that gets there.
func listenFor(folder string) (net.Listener, error) {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "gateway.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Chmod(folder, 0o755), os.Chmod(path, 0o666)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (c *RunCmd) serveInside(ctx context.Context, config *sandbox.Config, file *policyfile.File, guard *audit.Guard, l net.Listener) error {
	box, err := toolboxOf(config, file, guard)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	f := face.New(box.gateway, face.Config{Version: version()})
	err = f.ServeSocket(ctx, l, gateway.Principal{Role: c.Role, Caller: "sandbox", Face: "sandbox"})
	return errors.Join(err, box.Close(0))
}
