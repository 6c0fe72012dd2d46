package service

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// repositories are git's own server in front of a few repositories, which are made when
// they are first asked for. Everybody may push.
type repositories struct {
	dir     string
	made    sync.Once
	backend string
	err     error
}

// names of the repositories: ours, and the attacker's.
func (*repositories) names() []string { return []string{"acme/app", "acme/lib", "evil/loot"} }

// ServeHTTP answers git for the repositories that there are, and like the host's API
// everything else.
func (g *repositories) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	if !found || !slices.Contains(g.names(), name) || !isGit(rest) {
		gitHost(w, r)
		return
	}
	g.made.Do(func() { g.err = g.make() })
	if g.err != nil {
		gitHost(w, r)
		return
	}
	handler := &cgi.Handler{Path: g.backend, Root: "/", Dir: g.dir, Stderr: io.Discard, Env: append(g.environment(), "GIT_PROJECT_ROOT="+g.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=anybody")}
	handler.ServeHTTP(w, r)
}

func isGit(rest string) bool {
	return rest == "info/refs" || rest == "git-upload-pack" || rest == "git-receive-pack"
}

// environment keeps git from the configuration of whoever replays.
func (g *repositories) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir, "GIT_CONFIG_NOSYSTEM=1"}
}

func (g *repositories) make() error {
	path, err := g.git("", "", "--exec-path")
	if err != nil {
		return err
	}
	g.backend = filepath.Join(path, "git-http-backend")
	for _, name := range g.names() {
		if _, err := g.git("", "", "init", "-q", "--bare", "-b", "main", name+".git"); err != nil {
			return err
		}
		if _, err := g.git(name+".git", firstCommit(name), "fast-import", "--quiet"); err != nil {
			return err
		}
	}
	return nil
}

// firstCommit is a file, as git fast-import reads it; the date makes it the same everywhere.
func firstCommit(name string) string {
	text := "# " + name + "\n"
	return fmt.Sprintf("commit refs/heads/main\ncommitter Dev <dev@example.com> 1767323045 +0000\ndata 5\nfirst\nM 100644 inline README.md\ndata %d\n%s\n", len(text), text)
}

// git runs git and returns what it printed.
func (g *repositories) git(dir, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = filepath.Join(g.dir, dir), g.environment(), strings.NewReader(stdin)
	out, err := cmd.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, ended.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
