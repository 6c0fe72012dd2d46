package clientconfig

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// golang asks Go. It is the user's word alone: a folder has no settings of its own, and
// a toolchain that the folder's go.mod asks for is not fetched.
func (r Reader) golang(ctx context.Context) []Setting {
	names := []string{"GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GONOSUMDB"}
	text, err := r.Output(ctx, []string{"GOTOOLCHAIN=local", "GOWORK=off"}, append([]string{"go", "env", "-json"}, names...)...)
	values := make(map[string]string)
	if err != nil || json.Unmarshal(text, &values) != nil {
		return nil
	}
	var all []Setting
	for _, name := range names {
		if values[name] == "" {
			continue
		}
		from := "go env"
		if r.Env(name) != "" {
			from = "the environment"
		}
		all = append(all, Setting{Client: "go", Name: name, Value: values[name], From: from})
	}
	return all
}

// GoModules are the modules that the folder's go.sum names. They are the folder's word.
func (r Reader) GoModules() []string {
	var modules []string
	for line := range strings.Lines(file(filepath.Join(r.Dir, "go.sum"))) {
		if words := strings.Fields(line); len(words) == 3 {
			modules = append(modules, words[0])
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}
