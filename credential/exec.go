package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// maxAnswer bounds what a command may print, in bytes.
const maxAnswer = 64 << 10

// defaultTimeout of a command.
const defaultTimeout = 10 * time.Second

var (
	errAnswer  = errors.New("the command printed JSON in which there is no secret, or an expiry that is no time")
	errExpired = errors.New("the command printed a secret that has expired")
	errTimeout = errors.New("the command took too long")
	errPrinted = errors.New("the command printed too much")
)

// run asks a command. What it writes to standard error may hold secrets and goes
// nowhere.
func (s Source) run(ctx context.Context, o Options) (reading, error) {
	timeout := s.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out limited
	cmd := exec.CommandContext(ctx, s.Exec[0], s.Exec[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout = s.Dir, o.Environ, &out
	// The whole group ends: a shell's children hold the pipe open.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case out.over:
		return reading{}, errPrinted
	case ctx.Err() != nil:
		return reading{}, errTimeout
	case err != nil:
		return reading{}, cause(withoutArguments(err))
	}
	return parseAnswer(out.text.Bytes(), o.Now())
}

// withoutArguments keeps what an error of os/exec says about how it ended.
func withoutArguments(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("the command ended with %s", exit.ProcessState)
	}
	var missing *exec.Error
	if errors.As(err, &missing) {
		return missing.Err
	}
	return err
}

// limited holds what a command prints, up to a limit.
type limited struct {
	text bytes.Buffer
	over bool
}

// Write takes everything, so that the command does not fail of it.
func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > maxAnswer {
		l.over = true
		return len(p), nil
	}
	return l.text.Write(p)
}

// answer is what a command may print. Several names are in use for one thing.
type answer struct {
	Secret      string  `json:"secret"`
	Token       string  `json:"token"`
	AccessToken string  `json:"access_token"`
	Expires     string  `json:"expires"`    // RFC 3339
	ExpiresAt   string  `json:"expires_at"` // RFC 3339
	ExpiresIn   float64 `json:"expires_in"` // seconds
}

// parseAnswer reads an object of JSON, or text that is the secret itself.
func parseAnswer(out []byte, now time.Time) (reading, error) {
	text := strings.TrimSpace(string(out))
	if !strings.HasPrefix(text, "{") {
		return checked(reading{value: withoutLineEnd(string(out))})
	}
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return reading{}, errAnswer // the error would hold a piece of it
	}
	r := reading{value: first(a.Secret, a.Token, a.AccessToken)}
	if at := first(a.Expires, a.ExpiresAt); at != "" {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return reading{}, errAnswer
		}
		r.expires = t
	} else if a.ExpiresIn != 0 {
		r.expires = now.Add(time.Duration(min(a.ExpiresIn, 1e9) * float64(time.Second)))
	}
	switch {
	case r.value == "":
		return reading{}, errAnswer
	case !r.expires.IsZero() && !now.Before(r.expires):
		return reading{}, errExpired
	}
	return checked(r)
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
