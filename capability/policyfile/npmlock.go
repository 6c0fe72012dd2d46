package policyfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

// npmPackage is one package that a lockfile names.
type npmPackage struct {
	name, version string
}

// values are the package's values for the variables of the preset's templates. A
// template with a variable that the package lacks is not for it.
func (n npmPackage) values() map[string]string {
	v := map[string]string{"name": n.name, "version": n.version}
	if scoped, ok := strings.CutPrefix(n.name, "@"); ok {
		v["scope"], v["base"], _ = strings.Cut(scoped, "/")
		return v
	}
	v["package"] = n.name
	return v
}

// npmLock is package-lock.json, versions 2 and 3.
type npmLock struct {
	LockfileVersion int `json:"lockfileVersion"`
	Packages        map[string]struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		Resolved string `json:"resolved"`
		Link     bool   `json:"link"`
		InBundle bool   `json:"inBundle"`
	} `json:"packages"`
}

// lockfile reads the packages that come from the registry at host. It is never nil: a
// lockfile without any grants nothing.
func (p *parser) lockfile(e hcl.Expression, host capability.Host) []npmPackage {
	text, path, ok := p.namedFile(e)
	if !ok {
		return []npmPackage{}
	}
	lock, err := parseNPMLock(text)
	if err != nil {
		p.fail(e.Range(), fmt.Sprintf("%q is not a lockfile of npm", path), err.Error())
		return []npmPackage{}
	}
	packages, elsewhere := lock.split(string(host))
	if len(elsewhere) > 0 {
		p.warn(e.Range(), fmt.Sprintf("packages of the lockfile that do not come from the registry: %d", len(elsewhere)), "they are not granted: "+someOf(elsewhere, 5))
	}
	return packages
}

func parseNPMLock(text []byte) (npmLock, error) {
	var lock npmLock
	if err := json.Unmarshal(text, &lock); err != nil {
		return lock, errors.New("it is not JSON of that form")
	}
	if lock.LockfileVersion < 2 || lock.Packages == nil {
		return lock, fmt.Errorf("it has lockfileVersion %d, versions 2 and 3 are read: run npm install --package-lock-only --lockfile-version 3", lock.LockfileVersion)
	}
	return lock, nil
}

// split tells the packages that npm asks the registry at host for from the others.
func (l npmLock) split(host string) (packages []npmPackage, elsewhere []string) {
	usual := l.usualHost()
	packages = []npmPackage{}
	for key, entry := range l.Packages {
		i := strings.LastIndex(key, "node_modules/")
		if i < 0 || entry.Link || entry.InBundle {
			continue // the project itself, its workspaces, and what comes inside another package
		}
		n := npmPackage{key[i+len("node_modules/"):], entry.Version}
		if entry.Name != "" {
			n.name = entry.Name
		}
		at, ok := n.resolvedAt(entry.Resolved)
		if !n.valid() || !ok || at != "" && at != host && at != usual {
			elsewhere = append(elsewhere, fmt.Sprintf("%s (%q)", n.name, entry.Resolved))
			continue
		}
		packages = append(packages, n)
	}
	slices.SortFunc(packages, func(a, b npmPackage) int {
		return strings.Compare(a.name+"\x00"+a.version, b.name+"\x00"+b.version)
	})
	slices.Sort(elsewhere)
	return slices.Compact(packages), elsewhere
}

// usualHost is the host that most packages are resolved at. npm writes its public
// registry there and asks the configured one instead, for that one host only.
func (l npmLock) usualHost() string {
	count := make(map[string]int)
	usual := ""
	for _, entry := range l.Packages {
		u, err := url.Parse(entry.Resolved)
		if err != nil || u.Host == "" {
			continue
		}
		count[u.Hostname()]++
		if n := count[u.Hostname()]; n > count[usual] || n == count[usual] && u.Hostname() < usual {
			usual = u.Hostname()
		}
	}
	return usual
}

func (n npmPackage) valid() bool {
	name, _ := capability.Named("npm_name")
	version, _ := capability.Named("semver")
	return name.Match(n.name) && version.Match(n.version)
}

// resolvedAt is the host of the tarball's address, "" where the lockfile leaves it
// out; ok is false where the address is not a registry's.
func (n npmPackage) resolvedAt(resolved string) (host string, ok bool) {
	if resolved == "" {
		return "", true
	}
	u, err := url.Parse(resolved)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" {
		return "", false
	}
	base := n.name[strings.LastIndexByte(n.name, '/')+1:]
	return u.Hostname(), strings.HasSuffix(u.Path, "/"+n.name+"/-/"+base+"-"+n.version+".tgz")
}

// narrow makes one literal allow block of a for every package that its template fits.
func narrow(a *capability.Allow, prefix string, packages []npmPackage) []*capability.Allow {
	var out []*capability.Allow
	seen := make(map[string]bool)
	for _, n := range packages {
		path, ok := fill(a.Path, n.values())
		if !ok || seen[path] {
			continue
		}
		seen[path] = true
		if literal, ok := withPath(a, prefix+path); ok {
			out = append(out, literal)
		}
	}
	return out
}

// fill writes a template with the values of its variables; ok is false where one is
// missing or does not match.
func fill(t *capability.Template, values map[string]string) (path string, ok bool) {
	path = t.String()
	names, patterns := t.Variables()
	for i, name := range names {
		v, given := values[name]
		if !given || !patterns[i].Match(v) {
			return "", false
		}
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(v))
	}
	return path, true
}

// withPath is a with another path.
func withPath(a *capability.Allow, path string) (*capability.Allow, bool) {
	names, patterns := a.Path.Variables()
	where := make(map[string]capability.Pattern)
	for i, name := range names {
		if strings.Contains(path, "{"+name+"}") || strings.Contains(path, "{"+name+"...}") {
			where[name] = patterns[i]
		}
	}
	t, err := capability.ParseTemplate(path, where)
	if err != nil {
		return nil, false
	}
	b := *a
	b.Path = t
	return &b, true
}

func someOf(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
