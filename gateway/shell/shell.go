package shell

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/trim"
	"scupper.dev/scupper/sandbox"
)

// Times of a command.
const (
	DefaultTime = 2 * time.Minute
	MaxTime     = 10 * time.Minute
)

// DefaultMaxOutput is how many bytes of a result are shown.
const DefaultMaxOutput = 32 << 10

// Sandboxes runs commands, each in a sandbox of its own; a *sandbox.Series does. Run
// returns when nothing of the sandbox is left, and ends it when ctx ends.
type Sandboxes interface {
	Run(ctx context.Context, call sandbox.Call, config sandbox.CageConfig) (sandbox.End, error)
}

// Config says what the tool works with.
type Config struct {
	Sandboxes Sandboxes
	Cage      sandbox.CageConfig // of every call; the command, its output and its time are filled in
	Store     *trim.Store        // for what is not shown; nil: it is gone

	// Protected are paths that the commands of a role must not change, beside those of
	// Cage; nil: none. It is asked at each call, and all of them exist.
	Protected func(role string) []string

	MaxOutput    int64         // bytes of a result that are shown; 0: DefaultMaxOutput
	MaxTime      time.Duration // of a command in the foreground; 0: MaxTime
	DenyCommands []string      // advice: "sudo", "git push"
}

// Tool is the tool. It is safe for concurrent use.
type Tool struct {
	config Config
	deny   denyList
	ctx    context.Context // of what runs in the background
	end    context.CancelFunc

	mu   sync.Mutex
	jobs []*job
	wait sync.WaitGroup
}

// New makes the tool. The caller calls Close.
func New(c Config) (*Tool, error) {
	if c.MaxOutput <= 0 {
		c.MaxOutput = DefaultMaxOutput
	}
	if c.MaxTime <= 0 {
		c.MaxTime = MaxTime
	}
	deny, err := newDenyList(c.DenyCommands)
	if err != nil {
		return nil, err
	}
	c.Cage.LookupEnv = plainEnvironment(c.Cage.LookupEnv)
	c.Cage.Env = append(environment(), c.Cage.Env...)
	c.Cage.Stdin, c.Cage.Terminal = nil, sandbox.TerminalNever
	ctx, end := context.WithCancel(context.Background())
	return &Tool{config: c, deny: deny, ctx: ctx, end: end}, nil
}

// Close ends what runs in the background and waits for it.
func (t *Tool) Close() error {
	t.end()
	t.wait.Wait()
	return nil
}

// environment is set for every command: nobody is there to page or to colour for.
func environment() []string {
	return []string{"NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "LANG=C.UTF-8"}
}

// plainEnvironment hides what of the gateway's own environment would speak against that.
func plainEnvironment(lookup func(string) string) func(string) string {
	if lookup == nil {
		lookup = os.Getenv
	}
	return func(name string) string {
		switch name {
		case "TERM":
			return "dumb"
		case "COLORTERM", "LANG", "LC_ALL":
			return ""
		}
		return lookup(name)
	}
}

// command is what runs inside for a script.
func command(script string) []string {
	for _, shell := range []string{"/bin/bash", "/usr/bin/bash"} {
		if _, err := os.Stat(shell); err == nil {
			return []string{shell, "-c", "--", script}
		}
	}
	return []string{filepath.Join("/bin", "sh"), "-c", "--", script}
}

// longest is how many bytes a script may have: Linux takes 128 KiB in one argument.
const longest = 100_000

// refusal says why a script cannot run; empty: it can.
func (t *Tool) refusal(script string) string {
	switch {
	case strings.TrimSpace(script) == "":
		return "there is no command"
	case len(script) > longest:
		return "the command is longer than 100000 bytes: write it to a file and run that"
	case strings.ContainsRune(script, 0):
		return "the command has a NUL character, which no argument can have"
	}
	return t.deny.advice(script)
}

// Call runs a command, or looks after one in the background.
func (t *Tool) Call(ctx context.Context, c *gateway.Call) gateway.Result {
	a, err := parse(c.Arguments)
	if err != nil {
		return gateway.Failure(err.Error())
	}
	if a.Handle != "" {
		return t.attend(ctx, c, a)
	}
	if why := t.refusal(a.Command); why != "" {
		return gateway.Failure(why)
	}
	if a.Background {
		return t.begin(c, a)
	}
	return t.run(ctx, c, a)
}
