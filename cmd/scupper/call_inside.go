package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"scupper.dev/scupper/gateway/face"
)

// gatewayVariable names the gateway's socket inside a sandbox.
const gatewayVariable = "SCUPPER_GATEWAY"

// gatewaySocket is the socket of the gateway that the sandbox around this process has.
func (a *App) gatewaySocket() (path string, inside bool) {
	path = a.Env(gatewayVariable)
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().Type() == os.ModeSocket
}

// callInside asks the gateway of the sandbox. Whoever is in there has its role.
func (c *CallCmd) callInside(app *App, socket string, arguments []byte) error {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequest(http.MethodPost, "http://localhost/v1/tools/"+url.PathEscape(c.Name), bytes.NewReader(arguments))
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if c.Key != "" {
		r.Header.Set("Idempotency-Key", c.Key)
	}
	resp, err := client.Do(r)
	if err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("call the gateway of this sandbox: %w", err)}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("read the answer of the gateway: %w", err)}
	}
	return c.printPlain(app, resp.StatusCode, body)
}

func (c *CallCmd) printPlain(app *App, status int, body []byte) error {
	if status == http.StatusNotFound {
		return noTool(c.Name)
	}
	if status != http.StatusOK {
		return refusedInside(body)
	}
	var p face.Plain
	if err := json.Unmarshal(body, &p); err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("read the answer of the gateway: %w", err)}
	}
	if c.JSON {
		if _, err := app.Stdout.Write(body); err != nil {
			return err
		}
		return failed(p.Failed)
	}
	if _, err := fmt.Fprintln(app.Stdout, strings.TrimSuffix(p.Text(), "\n")); err != nil {
		return err
	}
	return failed(p.Failed)
}

func refusedInside(body []byte) error {
	var p struct {
		Reason string   `json:"reason"`
		Detail string   `json:"detail"`
		Faults []string `json:"faults"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return &exitError{code: exitEnvironment, err: fmt.Errorf("read the answer of the gateway: %w", err)}
	}
	text := fmt.Sprintf("refused: %s: %s", p.Reason, p.Detail)
	return &exitError{code: exitDenied, err: errors.New(strings.Join(append([]string{text}, p.Faults...), "\n"))}
}
