package clientconfig

import (
	"context"
	"path/filepath"
	"strings"
)

// pip reads the index from the environment and from the files that pip merges, the
// user's last.
func (r Reader) pip(context.Context) []Setting {
	var all []Setting
	if v := r.Env("PIP_INDEX_URL"); v != "" {
		all = append(all, setting("pip", "index-url", v, "the environment"))
	}
	files := []string{filepath.Join(r.Root, "etc/pip.conf")}
	if r.Home != "" {
		files = append(files, filepath.Join(r.Home, ".pip/pip.conf"), filepath.Join(r.Home, ".config/pip/pip.conf"))
	}
	for _, path := range files {
		if r.Root == "" && path == files[0] {
			continue
		}
		for line := range strings.Lines(file(path)) {
			name, value, ok := strings.Cut(line, "=")
			name = strings.TrimSpace(name)
			if ok && (name == "index-url" || name == "extra-index-url") {
				all = append(all, setting("pip", name, value, filepath.Base(path)))
			}
		}
	}
	return all
}
