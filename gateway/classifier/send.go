package classifier

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"syscall"
	"time"
)

// grace is for the output of a program that was killed.
const grace = time.Second

// run asks the program. It leads a process group, all of which ends with the deadline.
func (c *Classifier) run(ctx context.Context, text []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.Exec[0], c.Exec[1:]...)
	said := &capped{}
	cmd.Dir, cmd.Stdin, cmd.Stdout = c.Dir, bytes.NewReader(text), said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = grace
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run the inspection %q: %w", c.Exec[0], err)
	}
	return said.bytes()
}

// post asks the service. What redirects is not where the operator said.
func (c *Classifier) post(ctx context.Context, text []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("ask the inspection: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	client := c.Client
	if client == nil {
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask the inspection: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask the inspection: status %d", resp.StatusCode)
	}
	said := &capped{}
	if _, err := io.Copy(said, io.LimitReader(resp.Body, maxAnswer+1)); err != nil {
		return nil, fmt.Errorf("read the answer of the inspection: %w", err)
	}
	return said.bytes()
}

// capped holds an answer, and knows when it was too long.
type capped struct{ text []byte }

// Write keeps what there is room for and takes the rest.
func (c *capped) Write(p []byte) (int, error) {
	if room := maxAnswer + 1 - len(c.text); room > 0 {
		c.text = append(c.text, p[:min(len(p), room)]...)
	}
	return len(p), nil
}

func (c *capped) bytes() ([]byte, error) {
	if len(c.text) > maxAnswer {
		return nil, fmt.Errorf("the answer of the inspection is over %d bytes", maxAnswer)
	}
	return c.text, nil
}
