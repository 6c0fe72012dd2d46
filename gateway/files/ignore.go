package files

import (
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"
)

const (
	maxIgnoreFile = 1 << 20
	maxRules      = 10_000 // of one file
)

// rules are those of one .gitignore and, behind it, of the ones above (gitignore(5)).
type rules struct {
	dir   string // where the file is, relative to the workspace
	list  []rule
	above *rules
}

// rule is one line.
type rule struct {
	keep     bool   // "!": what matches is not ignored after all
	folder   bool   // only directories
	name     string // compared with the last component, where it is all of the pattern
	suffix   string // likewise: "*.o"
	pattern  string // for doublestar
	anchored bool   // compared with the path below dir, otherwise with the last component
}

// ignores reports whether git would ignore the path. The last rule that matches counts,
// and the innermost file.
func (r *rules) ignores(rel string, folder bool) bool {
	base := path.Base(rel)
	for ; r != nil; r = r.above {
		below := rel
		if r.dir != "." {
			below = strings.TrimPrefix(rel, r.dir+"/")
		}
		for i := len(r.list) - 1; i >= 0; i-- {
			if rule := &r.list[i]; (folder || !rule.folder) && rule.matches(below, base) {
				return !rule.keep
			}
		}
	}
	return false
}

func (r *rule) matches(below, base string) bool {
	switch {
	case r.name != "":
		return base == r.name
	case r.suffix != "":
		return strings.HasSuffix(base, r.suffix)
	case r.anchored:
		return doublestar.MatchUnvalidated(r.pattern, below)
	}
	return doublestar.MatchUnvalidated(r.pattern, base)
}

// rulesAbove are the rules that hold in a directory of the workspace, without its own.
func (w *Workspace) rulesAbove(rel string) *rules {
	all := w.rulesFrom(w.fd(), ".git/info/exclude", ".", nil)
	if rel == "." {
		return all
	}
	at := "."
	for part := range strings.SplitSeq(rel, "/") {
		all = w.rulesFrom(w.fd(), path.Join(at, ".gitignore"), at, all)
		at = path.Join(at, part)
	}
	return all
}

// rulesIn adds the rules of a directory to those above it.
func (w *Workspace) rulesIn(dir int, rel string, above *rules) *rules {
	return w.rulesFrom(dir, ".gitignore", rel, above)
}

func (w *Workspace) rulesFrom(dir int, name, rel string, above *rules) *rules {
	fd, err := w.open(dir, name, unix.O_RDONLY, false)
	if err != nil {
		return above
	}
	f := os.NewFile(uintptr(fd), "")
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = f.Close()
		return above
	}
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if errors.Join(err, f.Close()) != nil {
		return above
	}
	r := &rules{dir: rel, above: above}
	for line := range strings.Lines(string(text)) {
		if one, ok := newRule(line); ok && len(r.list) < maxRules {
			r.list = append(r.list, one)
		}
	}
	return r
}

func newRule(line string) (rule, bool) {
	line = strings.TrimRight(line, "\r\n")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	var r rule
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.folder = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	const special = `*?[\{}`
	switch rest, star := strings.CutPrefix(line, "*"); {
	case !r.anchored && !strings.ContainsAny(line, special):
		r.name = line
	case !r.anchored && star && rest != "" && !strings.ContainsAny(rest, special):
		r.suffix = rest
	default:
		r.pattern = strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`).Replace(line) // git knows no braces
	}
	return r, line != "" && doublestar.ValidatePattern(r.pattern)
}
