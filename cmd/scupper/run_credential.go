package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/credential"
	"scupper.dev/scupper/credential/redact"
	"scupper.dev/scupper/sandbox"
)

// useCredentials reads the secrets that the grants of the run bind. The sandbox gets
// placeholders, and nothing that a secret comes from.
func useCredentials(config *sandbox.Config, file *policyfile.File, app *App) error {
	declared := file.CredentialsOf(config.Audit.Policy)
	if len(declared) == 0 {
		return nil
	}
	specs := make([]credential.Spec, len(declared))
	var variables []string
	for i, c := range declared {
		specs[i] = specOf(c, file.Name)
		if c.Env != "" {
			variables = append(variables, c.Env)
		}
		if c.File != "" {
			config.Cage.Forbidden = append(config.Cage.Forbidden, c.File)
		}
		config.Cage.Protect = append(config.Cage.Protect, filesOf(specs[i].Source)...)
	}
	set, err := credential.Open(context.Background(), specs, credential.Options{LookupEnv: app.Env})
	if err != nil {
		return &exitError{code: exitUsage, err: err, hint: "secrets are read where scupper runs; the sandbox gets placeholders"}
	}
	if err := credential.Scrub(variables...); err != nil {
		fmt.Fprintf(app.Stderr, "scupper: %v: whoever may look at this process can read the variables\n", err)
	}
	for _, w := range set.Warnings() {
		fmt.Fprintf(app.Stderr, "scupper: %s\n", w)
	}
	config.Credentials, app.secrets = set, redact.New(set.Secrets)
	config.Audit.Command = make([]string, len(config.Cage.Command))
	for i, word := range config.Cage.Command {
		config.Audit.Command[i] = set.Conceal(word)
	}
	config.Cage.Env = append(config.Cage.Env, set.Environment()...)
	if config.Audit.Policy, err = config.Audit.Policy.WithPlaceholders(set.Placeholders()); err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	return nil
}

// specOf is the credential of a policy with paths looked up beside it.
func specOf(c policyfile.Credential, policy string) credential.Spec {
	s := credential.Spec{Name: c.Name, Place: c.Place, Expose: c.Expose}
	s.Source = credential.Source{Env: c.Env, File: c.File, Exec: c.Exec, Timeout: c.Timeout, Dir: filepath.Dir(policy)}
	if len(c.Exec) == 0 {
		return s
	}
	command := c.Exec[0]
	switch found, err := exec.LookPath(command); {
	case strings.Contains(command, "/") && !filepath.IsAbs(command):
		command = filepath.Join(s.Source.Dir, command)
	case err == nil:
		command = found
	}
	s.Source.Exec = append([]string{command}, c.Exec[1:]...)
	return s
}

// filesOf are the files that a command is made of: it runs outside, so that no sandbox
// may write them.
func filesOf(s credential.Source) (out []string) {
	for _, word := range s.Exec {
		if !filepath.IsAbs(word) {
			word = filepath.Join(s.Dir, word)
		}
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
			out = append(out, word)
		}
	}
	return out
}

// shortest secret that is looked for in other text.
const shortest = 8

// withhold refuses a run that would hand a secret to the sandbox by another way.
func withhold(config sandbox.Config) error {
	if config.Credentials == nil {
		return nil
	}
	for _, secret := range config.Credentials.Secrets() {
		value := secret.Reveal()
		if len(value) < shortest {
			continue
		}
		for _, v := range config.Cage.Env {
			if name, text, _ := strings.Cut(v, "="); strings.Contains(text, value) {
				return handsOut("the variable "+name, secret)
			}
		}
		for _, word := range config.Cage.Command {
			if strings.Contains(word, value) {
				return handsOut("the command line", secret)
			}
		}
	}
	return nil
}

func handsOut(what string, secret credential.Secret) error {
	return &exitError{
		code: exitUsage, err: fmt.Errorf("%s would hand %s to the sandbox", what, secret),
		hint: "take it out: `expose` in the policy gives the sandbox a placeholder",
	}
}
