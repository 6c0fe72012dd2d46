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
// placeholders, and nothing that a secret of the policy comes from, whether the run binds
// it or not.
func useCredentials(config *sandbox.Config, file *policyfile.File, app *App) error {
	idle := sourcesOutside(config, file, app)
	if err := bindCredentials(config, file, app); err != nil {
		return err
	}
	return withhold(*config, append(idle, config.Credentials.Secrets()...))
}

// sourcesOutside keeps files and variables that secrets come from out of the sandbox, and
// out of what the host shows of this process. It returns the secrets in variables.
func sourcesOutside(config *sandbox.Config, file *policyfile.File, app *App) (held []credential.Secret) {
	for _, c := range file.Credentials {
		if c.Env != "" {
			held = append(held, credential.NewSecret(c.Name, app.Env(c.Env)))
		}
		if c.File != "" {
			config.Cage.Forbidden = append(config.Cage.Forbidden, c.File)
		}
		config.Cage.Protect = append(config.Cage.Protect, filesOf(specOf(c, file.Name).Source)...)
	}
	return held
}

// bindCredentials opens what the run binds, and forgets the variables of all.
func bindCredentials(config *sandbox.Config, file *policyfile.File, app *App) error {
	declared := file.CredentialsOf(config.Audit.Policy)
	specs := make([]credential.Spec, len(declared))
	for i, c := range declared {
		specs[i] = specOf(c, file.Name)
	}
	set, err := credential.Open(context.Background(), specs, credential.Options{LookupEnv: app.Env})
	if err != nil {
		return &exitError{code: exitUsage, err: err, hint: "secrets are read where scupper runs; the sandbox gets placeholders"}
	}
	scrub(file, app)
	if len(specs) == 0 {
		return nil
	}
	for _, w := range set.Warnings() {
		fmt.Fprintf(app.Stderr, "scupper: %s\n", w)
	}
	config.Credentials, app.secrets = set, redact.New(set.Secrets)
	key := config.Audit.Key
	config.Audit.Fingerprint = func(name string) string { return set.Fingerprint(name, key) }
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

// scrub takes the variables that secrets come from out of this process.
func scrub(file *policyfile.File, app *App) {
	var variables []string
	for _, c := range file.Credentials {
		if c.Env != "" {
			variables = append(variables, c.Env)
		}
	}
	if len(variables) == 0 {
		return
	}
	if err := credential.Scrub(variables...); err != nil {
		fmt.Fprintf(app.Stderr, "scupper: %v: whoever may look at this process can read the variables\n", err)
	}
}

// reviewSecrets remarks on secrets that are at hand where a policy is checked. No command
// is run for one, and one that is not there is no mistake.
func reviewSecrets(file *policyfile.File, app *App) {
	for _, c := range file.Credentials {
		if len(c.Exec) > 0 {
			continue
		}
		set, err := credential.Open(context.Background(), []credential.Spec{specOf(c, file.Name)}, credential.Options{LookupEnv: app.Env})
		if err != nil {
			continue
		}
		for _, w := range set.Warnings() {
			fmt.Fprintf(app.Stderr, "%s\n", w)
		}
	}
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
func withhold(config sandbox.Config, secrets []credential.Secret) error {
	for _, secret := range secrets {
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
