package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"scupper.dev/scupper/capability/policyfile"
)

// implicitPolicy is looked for where no policy is named.
const implicitPolicy = "policy.hcl"

// loadPolicy loads the policy of a run: the file given, which is the operator's word,
// or ./policy.hcl if its hash was accepted, or none. Without a policy everything is
// denied, and file is nil. path is absolute.
func (a *App) loadPolicy(flag string) (file *policyfile.File, path string, err error) {
	path = flag
	if path == "" {
		path = implicitPolicy
		if none(path) {
			fmt.Fprintln(a.Stderr, "scupper: no policy: everything is denied")
			fmt.Fprintln(a.Stderr, "  scupper init writes ./policy.hcl from what is configured here; --policy FILE names another")
			return nil, "", nil
		}
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, "", &exitError{code: exitUsage, err: fmt.Errorf("find policy: %w", err)}
	}
	file, err = a.readPolicy(path)
	if err != nil {
		return nil, "", err
	}
	if flag == "" {
		return file, path, a.checkTrust(file, path)
	}
	return file, path, nil
}

// none reports whether there is no policy at the implicit place. While another run has
// no policy there, an empty file keeps its sandbox from making one.
func none(path string) bool {
	info, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// checkTrust refuses a policy that came with the folder and that nobody accepted.
func (a *App) checkTrust(file *policyfile.File, path string) error {
	state, err := a.stateDir()
	if err != nil {
		return err
	}
	if policyfile.Trusted(state, path, file.Hash) {
		return nil
	}
	return &exitError{
		code: exitUsage,
		err:  fmt.Errorf("%s has not been accepted on this machine, or has changed since", path),
		hint: "read it, then: scupper policy trust " + filepath.Base(path),
	}
}
