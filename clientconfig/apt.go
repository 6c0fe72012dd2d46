package clientconfig

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// apt reads the sources of packages, in both formats of sources.list(5).
func (r Reader) apt(context.Context) []Setting {
	if r.Root == "" {
		return nil
	}
	dir := filepath.Join(r.Root, "etc/apt")
	lists, _ := filepath.Glob(filepath.Join(dir, "sources.list.d", "*.list"))
	stanzas, _ := filepath.Glob(filepath.Join(dir, "sources.list.d", "*.sources"))
	var all []Setting
	add := func(uri, path string) {
		s := setting("apt", "source", uri, path)
		known := slices.ContainsFunc(all, func(o Setting) bool { return o.Value == s.Value })
		if web(s.Value) && !known {
			all = append(all, s)
		}
	}
	for _, path := range append([]string{filepath.Join(dir, "sources.list")}, lists...) {
		for _, uri := range oneLine(file(path)) {
			add(uri, r.outside(path))
		}
	}
	for _, path := range stanzas {
		for _, uri := range deb822(file(path)) {
			add(uri, r.outside(path))
		}
	}
	return all
}

// outside is path as it is without Root.
func (r Reader) outside(path string) string {
	rel, err := filepath.Rel(r.Root, path)
	if err != nil {
		return path
	}
	return "/" + rel
}

func web(value string) bool {
	return strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://")
}

// oneLine reads "deb [option=value] URI suite component".
func oneLine(text string) []string {
	var uris []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		if kind != "deb" && kind != "deb-src" {
			continue
		}
		if strings.HasPrefix(rest, "[") {
			_, rest, _ = strings.Cut(rest, "]")
		}
		if words := strings.Fields(rest); len(words) > 0 {
			uris = append(uris, words[0])
		}
	}
	return uris
}

// deb822 reads stanzas of "URIs: URI URI", unless they say "Enabled: no".
func deb822(text string) []string {
	var uris []string
	for stanza := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n\n") {
		var found []string
		enabled, field := true, ""
		for line := range strings.Lines(stanza) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			value := line
			if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
				field, value, _ = strings.Cut(line, ":")
				field = strings.ToLower(field)
			}
			switch value = strings.TrimSpace(value); field {
			case "uris":
				found = append(found, strings.Fields(value)...)
			case "enabled":
				enabled = !slices.Contains([]string{"no", "false", "without", "off", "disable"}, strings.ToLower(value))
			}
		}
		if enabled {
			uris = append(uris, found...)
		}
	}
	return uris
}
