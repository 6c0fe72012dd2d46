package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/replay/attempt"
	"scupper.dev/scupper/sandbox"
)

// box runs one scenario as run or call would, and prints what came of it.
func (a *App) box() error {
	var b boxed
	if err := json.NewDecoder(a.Stdin).Decode(&b); err != nil {
		return fmt.Errorf("read the scenario: %w", err)
	}
	secrets := a.pretendSecrets(b.Credentials, b.Without)
	env := a.Env
	a.Env = func(name string) string {
		if secret, ok := secrets[name]; ok {
			return secret
		}
		return env(name)
	}
	run := a.runBox
	if len(b.Attempts) > 0 && b.Attempts[0].Tool != nil {
		run = a.callBox
	}
	outcomes, err := run(&b)
	if err != nil {
		return err
	}
	return json.NewEncoder(a.Stdout).Encode(ended{outcomes})
}

// pretendSecrets has every credential of the policy come from a variable that exists only
// here. What a proxy of the policy would do is out of reach of the pretend Internet.
func (a *App) pretendSecrets(secrets map[string]string, without []string) (variables map[string]string) {
	variables = make(map[string]string)
	for name, secret := range secrets {
		variables["SCUPPER_REPLAY_SECRET_"+name] = secret
	}
	a.amend = func(file *policyfile.File) error {
		for i := range file.Credentials {
			c := &file.Credentials[i]
			c.Env, c.File, c.Exec = "SCUPPER_REPLAY_SECRET_"+c.Name, "", nil
		}
		file.Upstream.Proxy = nil
		return weaken(file, without)
	}
	return variables
}

func environ(env map[string]string) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// runBox makes the attempts in a sandbox.
func (a *App) runBox(b *boxed) ([]attempt.Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	run := &RunCmd{
		Policy: b.Policy, Role: b.Role, Workdir: b.Workdir, Audit: b.Audit, UpstreamCA: []string{b.CA}, RO: []string{self},
		Env: environ(b.Env), TTY: string(sandbox.TerminalNever), Command: []string{"--", self, replayWord, replayAttempts},
	}
	config, closing, err := run.config(a)
	if err != nil {
		return nil, err
	}
	defer closing()
	text, err := json.Marshal(b.Attempts)
	if err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	config.Cage.Stdin, config.Cage.Stdout, config.Cage.Stderr = bytes.NewReader(text), &stdout, &stderr
	config.Watch = nil
	result, err := sandbox.Run(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, printed(&stderr))
	}
	var outcomes []attempt.Outcome
	if err := json.Unmarshal(stdout.Bytes(), &outcomes); err != nil {
		// A scenario may make an end of its own sandbox: by a limit, for one.
		return []attempt.Outcome{{Exit: result.Exit, Error: "the sandbox ended with " + fmt.Sprint(result.Exit)}}, nil
	}
	return outcomes, nil
}

// makeAttempts makes attempts, and prints what came of them.
func makeAttempts(in io.Reader, out io.Writer) error {
	var attempts []attempt.Attempt
	if err := json.NewDecoder(in).Decode(&attempts); err != nil {
		return fmt.Errorf("read the attempts: %w", err)
	}
	outcomes := make([]attempt.Outcome, len(attempts))
	for i, a := range attempts {
		outcomes[i] = attempt.Do(context.Background(), a)
	}
	return json.NewEncoder(out).Encode(outcomes)
}

// callBox calls the tools one after the other.
func (a *App) callBox(b *boxed) (outcomes []attempt.Outcome, err error) {
	shelled := slices.ContainsFunc(b.Attempts, func(t attempt.Attempt) bool { return t.Tool.Name == "bash" })
	flags := &ToolFlags{Policy: b.Policy, Role: b.Role, Workdir: b.Workdir, Audit: b.Audit, UpstreamCA: []string{b.CA}, Env: environ(b.Env)}
	box, err := flags.openToolbox(a, []string{"scupper", "replay"}, false, func(*policyfile.File) []string {
		if shelled {
			return []string{b.Role}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close(0)) }()
	unescaped := strings.NewReplacer(`\u0001`, "\x01", `\u0002`, "\x02")
	for _, t := range b.Attempts {
		answer := box.gateway.Call(context.Background(), gateway.Asked{
			Principal: gateway.Principal{Role: b.Role, Caller: "scenario", Face: "cli"}, Name: t.Tool.Name,
			// JSON has the marks of variables in escaped form.
			Arguments: []byte(attempt.Fill(unescaped.Replace(string(t.Tool.Arguments)), func(name string) string { return b.Env[name] })),
		})
		outcomes = append(outcomes, outcomeOf(answer))
	}
	return outcomes, nil
}

func outcomeOf(a gateway.Answer) attempt.Outcome {
	switch {
	case a.Hidden():
		return attempt.Outcome{Exit: 1, Error: "no such tool"}
	case a.Reason != capability.Granted:
		return attempt.Outcome{Exit: 1, Error: textOf(a.Shown())}
	}
	o := attempt.Outcome{Output: textOf(a.Result)}
	if a.Result.Failed {
		o.Exit = 1
	}
	return o
}
