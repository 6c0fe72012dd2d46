package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// Home is the home directory inside; it is empty at the start of every run.
const Home = "/home/agent"

// Inner identity, the same for every caller.
const (
	innerID   = "1000"
	innerName = "agent"
	hostname  = "sandbox"
)

const fallbackPath = "/usr/local/bin:/usr/bin:/bin"

// environment builds what the command finds in its environment. Nothing is inherited but the names listed here.
func (c *CageConfig) environment(folders []folder) []string {
	lookup := c.LookupEnv
	if lookup == nil {
		lookup = os.Getenv
	}
	var env []string
	if broken("environment") {
		env = os.Environ()
	}
	env = append(env, "HOME="+Home, "USER="+innerName, "LOGNAME="+innerName, "PATH="+visiblePath(lookup("PATH"), folders))
	for _, name := range []string{"TERM", "COLORTERM", "LANG", "LC_ALL", "TZ"} {
		if v := lookup(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	if lookup("CI") != "" {
		env = append(env, "CI=true")
	}
	env = append(append(env, trustEnvironment(c.TrustPEM != "")...), c.Env...)
	if !isRepository(c.Workdir) {
		env = append(env, "GOFLAGS="+strings.TrimSpace(valueOf(env, "GOFLAGS")+" -buildvcs=false"))
	}
	return env
}

// isRepository reports whether git would find a repository at dir. Where it would not, an empty .git stands in dir during the run, and go build would
// ask git for the version of what it takes for a repository.
func isRepository(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".git", "HEAD"))
	if err == nil {
		return true
	}
	info, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil && info.Mode().IsRegular() // of a worktree or submodule
}

// visiblePath keeps the directories of a search path that the sandbox can see.
func visiblePath(path string, folders []folder) string {
	var kept []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && visible(dir, folders) {
			kept = append(kept, dir)
		}
	}
	if len(kept) == 0 {
		return fallbackPath
	}
	return strings.Join(kept, ":")
}

// valueOf returns the last value of a name, as the command will see it.
func valueOf(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}
