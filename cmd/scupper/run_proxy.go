package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/sandbox"
)

// maxPassword is the longest password that is read from a file, in bytes.
const maxPassword = 4096

// useProxy sends everything through the proxy that the policy names. Its credential is
// read here, and no sandbox may get the folder that it lies in.
func useProxy(config *sandbox.Config, p *policyfile.Proxy, env func(string) string) error {
	if p == nil {
		return nil
	}
	user, password, err := proxyCredential(p, env)
	if err != nil {
		return &exitError{code: exitUsage, err: err, hint: "set it where scupper runs; a sandbox never gets it"}
	}
	if p.PasswordFile != "" {
		config.Cage.Forbidden = append(config.Cage.Forbidden, p.PasswordFile)
	}
	if err := config.Through(p.Host, p.Port, user, password); err != nil {
		return runError(err)
	}
	return nil
}

func proxyCredential(p *policyfile.Proxy, env func(string) string) (user, password string, err error) {
	user = p.User
	if p.UserEnv != "" {
		if user = env(p.UserEnv); user == "" {
			return "", "", fmt.Errorf("user of the upstream proxy: the variable %s is empty", p.UserEnv)
		}
	}
	switch {
	case p.PasswordEnv != "":
		if password = env(p.PasswordEnv); password == "" {
			return "", "", fmt.Errorf("password of the upstream proxy: the variable %s is empty", p.PasswordEnv)
		}
	case p.PasswordFile != "":
		password, err = readPassword(p.PasswordFile)
	}
	return user, password, err
}

// readPassword is the one line of a file.
func readPassword(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the password of the upstream proxy: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPassword+1))
	if err != nil {
		return "", fmt.Errorf("read the password of the upstream proxy: %w", err)
	}
	text = bytes.TrimRight(text, "\r\n")
	if len(text) == 0 || len(text) > maxPassword {
		return "", fmt.Errorf("password of the upstream proxy in %q: %w", path, errPassword)
	}
	return string(text), nil
}

var errPassword = errors.New("it is one line of 1 to 4096 bytes")
