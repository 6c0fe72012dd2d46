package main

import (
	"errors"
	"path/filepath"
)

// stateDir is where scupper keeps what outlives a run: logs, trusted policies, the
// journal of placeholders (XDG Base Directory Specification).
func (a *App) stateDir() (string, error) {
	if dir := a.Env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "scupper"), nil
	}
	home := a.Env("HOME")
	if !filepath.IsAbs(home) {
		return "", &exitError{code: exitEnvironment, err: errors.New("neither XDG_STATE_HOME nor HOME names a directory"), hint: "set HOME, or give --audit DIR and XDG_STATE_HOME"}
	}
	return filepath.Join(home, ".local", "state", "scupper"), nil
}

// auditDir is the directory of logs: the one given, or the one under the state.
func (a *App) auditDir(flag string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	state, err := a.stateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(state, "audit"), nil
}
