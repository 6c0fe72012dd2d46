package clientconfig

import (
	"context"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Setting is one thing that a client is configured for.
type Setting struct {
	Client     string // "npm", "go", "apt", "pip", "git"
	Name       string // as the client calls it: "registry", "@scope:registry", "GOPROXY", "remote origin"
	Value      string // as it is written, without credentials
	From       string // where it is said, for people
	Repository bool   // in a file of the folder: whoever made the folder said it
	Secret     bool   // the configuration has a credential for it, which is left out

	Suites, Components []string // of an apt source
}

// Reader says where to look. The zero Reader finds nothing.
type Reader struct {
	Dir  string              // the folder
	Home string              // the user's; empty: none
	Root string              // in front of /etc; "/" outside tests
	Env  func(string) string // of the user

	// Output runs a client outside the folder and returns what it prints. nil is the real thing, with a time limit; a client that is not
	// installed is an error.
	Output func(ctx context.Context, env []string, argv ...string) ([]byte, error)
}

// Read returns all settings; those of the folder come after the user's.
func (r Reader) Read(ctx context.Context) []Setting {
	if r.Env == nil {
		r.Env = func(string) string { return "" }
	}
	if r.Output == nil {
		r.Output = output
	}
	var all []Setting
	for _, read := range []func(context.Context) []Setting{r.npm, r.golang, r.apt, r.pip, r.git} {
		all = append(all, read(ctx)...)
	}
	return all
}

// Used reports which clients the folder shows traces of.
func (r Reader) Used() map[string]bool {
	traces := map[string][]string{
		"npm": {"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"},
		"go":  {"go.mod", "go.work"},
		"pip": {"requirements.txt", "pyproject.toml", "setup.py"},
	}
	used := make(map[string]bool)
	for client, names := range traces {
		for _, name := range names {
			if _, err := os.Lstat(filepath.Join(r.Dir, name)); err == nil {
				used[client] = true
			}
		}
	}
	return used
}

// patience is how long a client may take to say what it is configured for.
const patience = 20 * time.Second

// output runs a client where no folder can influence it.
func output(ctx context.Context, env []string, argv ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = "/", append(os.Environ(), env...), time.Second
	return cmd.Output()
}

const maxFile = 1 << 20

// file is the text of a file, or nothing where it cannot be read or is no regular file.
func file(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	return string(text)
}

// withoutSecret takes the user information out of a URL.
func withoutSecret(value string) (clean string, secret bool) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		// Not a URL that can be taken apart: what stands before an @ may be a secret.
		if scheme, rest, ok := strings.Cut(value, "://"); ok {
			if i := strings.LastIndexByte(rest, '@'); i >= 0 {
				return scheme + "://" + rest[i+1:], true
			}
		}
		return value, false
	}
	secret = u.User != nil
	if secret {
		u.User = nil
		value = u.String()
	}
	return value, secret
}

// setting makes a Setting of a value that may hold a credential.
func setting(client, name, value, from string) Setting {
	clean, secret := withoutSecret(strings.TrimSpace(value))
	return Setting{Client: client, Name: name, Value: clean, From: from, Secret: secret}
}
