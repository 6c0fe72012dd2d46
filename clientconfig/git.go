package clientconfig

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// git lists the remotes of the folder's repository. git parses its own format, asked
// about this one file only: no hook, alias, pager or include of the repository runs.
func (r Reader) git(ctx context.Context) []Setting {
	path := gitConfig(r.Dir)
	if path == "" {
		return nil
	}
	neutral := []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=0"}
	text, err := r.Output(ctx, neutral, "git", "config", "--no-includes", "--file", path, "-z", "--get-regexp", `^remote\..*\.url$`)
	if err != nil {
		return nil
	}
	var all []Setting
	for entry := range strings.SplitSeq(string(text), "\x00") {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url")
		s := setting("git", "remote "+name, value, ".git/config")
		s.Repository = true
		all = append(all, s)
	}
	return all
}

// gitConfig is the configuration of the repository whose work tree dir is, or nothing.
// A linked work tree shares that of the main one.
func gitConfig(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	git := filepath.Join(abs, ".git")
	if text := file(git); text != "" {
		git = at(abs, strings.TrimPrefix(text, "gitdir:"))
		if common := file(filepath.Join(git, "commondir")); common != "" {
			git = at(git, common)
		}
	}
	path := filepath.Join(git, "config")
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

func at(dir, path string) string {
	if path = strings.TrimSpace(path); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
