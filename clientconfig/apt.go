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
	add := func(path string, found []source) {
		for _, f := range found {
			s := setting("apt", "source", f.uri, r.outside(path))
			i := slices.IndexFunc(all, func(o Setting) bool { return o.Value == s.Value })
			if i < 0 && web(s.Value) {
				i, all = len(all), append(all, s)
			}
			if i >= 0 {
				all[i].Suites, all[i].Components = more(all[i].Suites, f.suites), more(all[i].Components, f.components)
			}
		}
	}
	for _, path := range append([]string{filepath.Join(dir, "sources.list")}, lists...) {
		add(path, oneLine(file(path)))
	}
	for _, path := range stanzas {
		add(path, deb822(file(path)))
	}
	return all
}

// source is one archive that apt reads.
type source struct {
	uri                string
	suites, components []string
}

// more adds the words that are new.
func more(to, words []string) []string {
	for _, w := range words {
		if !slices.Contains(to, w) {
			to = append(to, w)
		}
	}
	return to
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
func oneLine(text string) []source {
	var all []source
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
		if words := strings.Fields(rest); len(words) > 1 {
			all = append(all, source{words[0], words[1:2], words[2:]})
		}
	}
	return all
}

// deb822 reads stanzas of "URIs: URI URI", unless they say "Enabled: no".
func deb822(text string) []source {
	var all []source
	for stanza := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n\n") {
		fields, field := make(map[string][]string), ""
		for line := range strings.Lines(stanza) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			value := line
			if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
				field, value, _ = strings.Cut(line, ":")
				field = strings.ToLower(field)
			}
			fields[field] = append(fields[field], strings.Fields(value)...)
		}
		if off := fields["enabled"]; len(off) > 0 && slices.Contains([]string{"no", "false", "without", "off", "disable"}, strings.ToLower(off[0])) {
			continue
		}
		for _, uri := range fields["uris"] {
			all = append(all, source{uri, fields["suites"], fields["components"]})
		}
	}
	return all
}
