package clientconfig

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// npm asks npm for what the user's own configuration comes to, its built-in default
// included; where there is no npm, for pnpm, yarn and bun, it reads the files that they
// share. What the folder says follows.
func (r Reader) npm(ctx context.Context) []Setting {
	user := npmrc(file(filepath.Join(r.Home, ".npmrc")))
	values := r.npmValues(ctx, user)
	var all []Setting
	for _, name := range registryNames(values) {
		s := setting("npm", name, values[name], r.npmOrigin(name, user))
		s.Secret = s.Secret || hasToken(user, s.Value)
		all = append(all, s)
	}
	return append(all, r.npmOfFolder(user)...)
}

func (r Reader) npmValues(ctx context.Context, user map[string]string) map[string]string {
	values := make(map[string]string)
	maps.Copy(values, user)
	if v := r.npmVariable(); v != "" {
		values["registry"] = v
	}
	text, err := r.Output(ctx, nil, "npm", "config", "list", "--json")
	var told map[string]any
	if err != nil || json.Unmarshal(text, &told) != nil {
		return values
	}
	// npm leaves out, or masks, what holds a credential.
	for name, v := range told {
		if s, ok := v.(string); ok && web(s) {
			values[name] = s
		}
	}
	return values
}

// npmVariable is the registry that the environment names; it is above every file.
func (r Reader) npmVariable() string {
	for _, name := range []string{"npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		if v := r.Env(name); v != "" {
			return v
		}
	}
	return ""
}

func (r Reader) npmOrigin(name string, user map[string]string) string {
	switch {
	case name == "registry" && r.npmVariable() != "":
		return "the environment"
	case user[name] != "":
		return "~/.npmrc"
	}
	return "npm's own configuration"
}

// npmOfFolder is what the files of the folder say, of npm and of its relatives.
func (r Reader) npmOfFolder(user map[string]string) []Setting {
	var all []Setting
	add := func(name, value, from string, project map[string]string) {
		// The environment is above the folder's files, and what is not expanded cannot be used.
		if value == "" || strings.Contains(value, "${") || name == "registry" && r.npmVariable() != "" {
			return
		}
		s := setting("npm", name, value, from)
		s.Repository, s.Secret = true, s.Secret || hasToken(user, s.Value) || hasToken(project, s.Value)
		all = append(all, s)
	}
	project := npmrc(file(filepath.Join(r.Dir, ".npmrc")))
	for _, name := range registryNames(project) {
		add(name, project[name], ".npmrc", project)
	}
	add("registry", yarnSetting(file(filepath.Join(r.Dir, ".yarnrc.yml")), "npmRegistryServer"), ".yarnrc.yml", nil)
	add("registry", yarnSetting(file(filepath.Join(r.Dir, ".yarnrc")), "registry"), ".yarnrc", nil)
	return all
}

// registryNames are the names of registries among settings, the general one first.
func registryNames(values map[string]string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strings.HasPrefix(name, "@") && strings.HasSuffix(name, ":registry") {
			names = append(names, name)
		}
	}
	if values["registry"] != "" {
		names = slices.Insert(names, 0, "registry")
	}
	return names
}

// npmrc reads the lines of an .npmrc: NAME = VALUE, with # and ; before comments.
func npmrc(text string) map[string]string {
	values := make(map[string]string)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if !ok || line[0] == '#' || line[0] == ';' {
			continue
		}
		values[strings.Trim(strings.TrimSpace(name), `"'`)] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	return values
}

// hasToken reports whether settings have a credential for the registry: npm binds it to
// the URL without its scheme.
func hasToken(values map[string]string, registry string) bool {
	_, place, ok := strings.Cut(registry, "://")
	if !ok {
		return false
	}
	host, _, _ := strings.Cut(place, "/")
	for name := range values {
		if strings.HasPrefix(name, "//"+host+"/") && strings.Contains(name, ":_") {
			return true
		}
	}
	return false
}

// yarnSetting is one setting at the top level of a .yarnrc.yml (NAME: VALUE) or a
// .yarnrc (NAME "VALUE").
func yarnSetting(text, name string) string {
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `:?[ \t]+["']?([^"'\s#]+)["']?[ \t]*(?:#.*)?$`)
	if m := line.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
