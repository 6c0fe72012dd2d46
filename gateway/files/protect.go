package files

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
	"golang.org/x/text/unicode/norm"
)

// DefaultProtected are the names that decide what runs, or what an agent is told, later
// and elsewhere. A name is some components of a path, wherever in the folder they are; one
// that begins with a slash counts only at the top of it. All below a name is protected,
// and so is a file in the place of one of its directories.
func DefaultProtected() []string {
	return []string{
		// What git executes, or what can point it elsewhere; the sandbox has the same.
		".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/modules", ".git/worktrees",
		// What CI executes.
		".github/workflows", ".github/actions", ".gitlab-ci.yml", ".gitea/workflows", ".forgejo/workflows", ".circleci",
		".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".woodpecker", ".woodpecker.yml", ".drone.yml", "Jenkinsfile",
		// What agents and editors execute, or are told.
		".mcp.json", "mcp.json", ".claude", ".claude.json", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md",
		".cursor", ".cursorrules", ".codex", ".gemini", ".opencode", "opencode.json", "opencode.jsonc", ".github/copilot-instructions.md",
		".windsurf", ".windsurfrules", ".vscode", ".idea", ".devcontainer", ".devcontainer.json", ".envrc",
		// Where package managers take code from.
		".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pypirc", "pip.conf", ".cargo/config", ".cargo/config.toml",
		// What decides here.
		"policy.hcl",
	}
}

// protectedName is a name of the list, folded for comparing.
type protectedName struct {
	name  string
	parts []string
	top   bool // only at the top of the workspace
}

func newProtectedName(name string) (protectedName, error) {
	p := protectedName{name: name, top: strings.HasPrefix(name, "/")}
	for part := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
		folded := fold(part)
		if folded == "" || part == ".." || part == "." {
			return p, fmt.Errorf("protected name %q: a component is empty or only dots", name)
		}
		p.parts = append(p.parts, folded)
	}
	return p, nil
}

// covers reports whether writing a file at the path, of folded components, would write
// below the name or put a file in its place.
func (p protectedName) covers(parts []string) bool {
	for i := range parts {
		if i > 0 && p.top {
			break
		}
		n := min(len(p.parts), len(parts)-i)
		if slices.EqualFunc(parts[i:i+n], p.parts[:n], same) {
			return true
		}
	}
	return false
}

// same compares folded components. A Windows file system also knows a name by its short
// form: .git is GIT~1.
func same(part, protected string) bool {
	if part == protected {
		return true
	}
	stem, number, short := strings.Cut(part, "~")
	number, _, _ = strings.Cut(number, ".")
	full := strings.ReplaceAll(protected, ".", "")
	return short && number != "" && strings.Trim(number, "0123456789") == "" && len(stem) >= 3 && strings.HasPrefix(full, stem)
}

// fold is the form in which two names are one on some file system: without case and
// compatibility forms, without what is ignored, without the dots and blanks at the end and
// the stream names that Windows cuts off.
func fold(part string) string {
	part, _, _ = strings.Cut(part, ":")
	var out strings.Builder
	for _, r := range norm.NFKD.String(part) {
		switch {
		case ignorable(r):
		case r == 'ß' || r == 'ẞ':
			out.WriteString("ss")
		default:
			out.WriteRune(foldRune(r))
		}
	}
	return strings.TrimRight(norm.NFKD.String(out.String()), ". ")
}

// foldRune is the least of the characters that differ only in case, in lower case where
// it is ASCII.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}

func foldPath(rel string) []string {
	var parts []string
	for part := range strings.SplitSeq(rel, "/") {
		if f := fold(part); f != "" {
			parts = append(parts, f)
		}
	}
	return parts
}

// protects returns the protected names that the path falls under: as it is spelled,
// and as it is where the names of the list lead when they are links.
func (w *Workspace) protects(rels ...string) (names []string) {
	for _, p := range w.protected {
		covered := slices.ContainsFunc(rels, func(rel string) bool { return p.covers(foldPath(path.Clean(rel))) })
		if covered || w.linkedTo(p, rels) {
			names = append(names, p.name)
		}
	}
	return names
}

// linkedTo reports whether a protected name at the top of the workspace is, or goes
// through, a link to something that the path is or lies below: CLAUDE.md -> notes.md
// protects notes.md.
func (w *Workspace) linkedTo(p protectedName, rels []string) bool {
	real, err := w.target(strings.Trim(p.name, "/"))
	if err != nil {
		// What leads out of the workspace is not written anyway.
		return !errors.Is(err, unix.EXDEV) && (w.escapes == nil || !errors.Is(err, w.escapes))
	}
	target := protectedName{parts: foldPath(real), top: true}
	return slices.ContainsFunc(rels, func(rel string) bool { return target.covers(foldPath(path.Clean(rel))) })
}

// target is where a name leads, also when nothing or not all of it is there yet.
func (w *Workspace) target(name string) (string, error) {
	fd, err := w.open(w.fd(), name, unix.O_PATH, true)
	if err == nil {
		real, err := w.within(fd)
		return real, errors.Join(err, unix.Close(fd))
	}
	if odd := odd(0); errors.As(err, &odd) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return name, nil // nothing can be written through it
	}
	if !errors.Is(err, unix.ENOENT) {
		return "", err
	}
	if to, err := w.root.Readlink(name); err == nil && !strings.HasPrefix(to, "/") {
		return path.Join(path.Dir(name), to), nil
	}
	if !strings.Contains(name, "/") {
		return name, nil
	}
	dir, err := w.target(path.Dir(name))
	return path.Join(dir, path.Base(name)), err
}
