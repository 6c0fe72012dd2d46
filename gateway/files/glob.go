package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"

	"scupper.dev/scupper/gateway"
)

const (
	defaultNames = 100
	maxPattern   = 1024
	maxChoices   = 1000 // ways to read the braces of a pattern
)

const (
	ignoreSchema = `{"type":"boolean","description":"Leave out what .gitignore files name. Default: %t"}`
	hiddenSchema = `{"type":"boolean","description":"Take in names that begin with a dot. .git itself never is, unless the path leads into it"}`
)

func globDefinition() gateway.Definition {
	return gateway.Definition{
		Name: "glob", Version: "1", Title: "Find files by name", Level: gateway.Read, Timeout: time.Minute, MaxOutput: maxShown,
		Description: "Lists files of the workspace whose path matches a pattern: * is anything within a name, ** any directories, ? one character, [a-z] a class, " +
			"{a,b} a choice. \"**/*.go\" finds files at any depth, \"*.go\" only in the directory itself. The newest come first. The answer says how many more there " +
			"are and what was left out. Links to files of the workspace are listed; links to directories are not followed.",
		Input: object(`"pattern"`,
			property("pattern", `{"type":"string","minLength":1,"maxLength":1024,"description":"Compared with paths below the directory"}`),
			pathProperty("The directory to search. Default: the workspace"),
			property("sort", `{"enum":["time","name"],"description":"Newest first, or by name. Default: time"}`),
			property("limit", `{"type":"integer","minimum":1,"maximum":2000,"description":"How many to list. Default: 100"}`),
			property("gitignore", fmt.Sprintf(ignoreSchema, false)),
			property("hidden", hiddenSchema)),
		Output: object(`"files","total","partial"`,
			property("files", `{"type":"array","items":{"type":"string"}}`),
			property("total", `{"type":"integer"}`),
			property("partial", `{"type":"boolean","description":"there are more than files has"}`)),
	}
}

type globArguments struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Sort    string `json:"sort"`
	Limit   int    `json:"limit"`
	Ignore  bool   `json:"gitignore"`
	Hidden  bool   `json:"hidden"`
}

type globAnswer struct {
	Files   []string `json:"files"`
	Total   int      `json:"total"`
	Partial bool     `json:"partial"`
}

func (w *Workspace) glob(ctx context.Context, c *gateway.Call) (gateway.Result, error) {
	a := globArguments{Path: ".", Sort: "time", Limit: defaultNames}
	if err := arguments(c, &a); err != nil {
		return gateway.Result{}, err
	}
	if err := checkGlob(a.Pattern); err != nil {
		return gateway.Result{}, err
	}
	f, err := w.findFolder(a.Path)
	if err != nil {
		return gateway.Result{}, w.suggest(a.Path, err)
	}
	g := &globbing{globArguments: a}
	k := &walk{w: w, ctx: ctx, hidden: a.Hidden || namesHidden(a.Pattern), ignore: a.Ignore, visit: g.visit}
	g.walk = k
	err = w.walkFound(f, k, func(rel string) { g.from = rel })
	if err = errors.Join(err, f.close()); ctx.Err() != nil {
		return gateway.Result{}, refuse(TimedOut, "the time was over after %d matches; the search was not finished. Search a smaller directory", g.total)
	} else if err != nil {
		return gateway.Result{}, w.refusal(a.Path, err)
	}
	return g.answer()
}

// walkFound walks below a directory that was found.
func (w *Workspace) walkFound(f *found, k *walk, begin func(rel string)) error {
	rel, err := w.within(f.fd)
	if err != nil {
		return err
	}
	fd, err := unix.Open(procPath(f.fd), unix.O_RDONLY|unix.O_DIRECTORY|never, 0)
	if err != nil {
		return err
	}
	begin(rel)
	return errors.Join(k.run(fd, rel), unix.Close(fd))
}

// checkGlob says no to patterns that cannot match, and to those that would take too long.
func checkGlob(pattern string) error {
	choices := 1
	for group := range strings.SplitSeq(pattern, "{") {
		if choices *= 1 + strings.Count(group, ","); choices > maxChoices {
			return refuse(Malformed, "the pattern has too many choices in braces")
		}
	}
	switch {
	case len(pattern) > maxPattern || !doublestar.ValidatePattern(pattern):
		return refuse(Malformed, "%s is not a pattern: a bracket or a brace is not closed", quote(pattern))
	case strings.HasPrefix(pattern, "/") || slices.Contains(strings.Split(pattern, "/"), ".."):
		return refuse(Outside, "%s: a pattern is compared with paths below a directory; name the directory in path", quote(pattern))
	}
	return nil
}

// namesHidden reports whether a pattern asks for names that begin with a dot.
func namesHidden(pattern string) bool {
	return strings.HasPrefix(pattern, ".") || strings.Contains(pattern, "/.")
}

// globbing is one search.
type globbing struct {
	globArguments
	walk  *walk
	from  string
	total int
	kept  []named
}

type named struct {
	rel  string
	time unix.Timespec
}

func (g *globbing) visit(e entry) error {
	below := e.rel
	if g.from != "." {
		below = strings.TrimPrefix(e.rel, g.from+"/")
	}
	if !doublestar.MatchUnvalidated(strings.TrimPrefix(g.Pattern, "./"), below) {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(e.dir, e.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil // gone meanwhile
	}
	if e.link && !g.walk.w.leadsToFile(e.rel) {
		g.walk.skipped.links++
		return nil
	}
	g.total++
	g.kept = append(g.kept, named{e.rel, st.Mtim})
	if len(g.kept) > 20*g.Limit {
		g.trim()
	}
	return nil
}

// leadsToFile reports whether a file of the workspace is at the end of a link.
func (w *Workspace) leadsToFile(rel string) bool {
	fd, err := w.open(w.fd(), rel, unix.O_PATH, true)
	if err != nil {
		return false
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	return errors.Join(err, unix.Close(fd)) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}

// trim keeps what will be listed.
func (g *globbing) trim() {
	slices.SortFunc(g.kept, func(a, b named) int {
		if newer := b.time.Nano() - a.time.Nano(); g.Sort == "time" && newer != 0 {
			return sign(newer)
		}
		return strings.Compare(a.rel, b.rel)
	})
	g.kept = g.kept[:min(len(g.kept), g.Limit)]
}

func sign(n int64) int {
	if n < 0 {
		return -1
	}
	return 1
}

func (g *globbing) answer() (gateway.Result, error) {
	g.trim()
	answer := globAnswer{Files: []string{}, Total: g.total, Partial: g.total > len(g.kept)}
	var out strings.Builder
	for _, n := range g.kept {
		answer.Files = append(answer.Files, strings.ToValidUTF8(n.rel, "\ufffd"))
		out.WriteString(show(n.rel) + "\n")
	}
	notes := []string{fmt.Sprintf("%d files match %s in %s", g.total, quote(g.Pattern), quote(path.Clean(g.from)))}
	if g.total == 0 {
		notes[0] = fmt.Sprintf("no file matches %s in %s", quote(g.Pattern), quote(path.Clean(g.from)))
	}
	if more := g.total - len(g.kept); more > 0 {
		notes = append(notes, fmt.Sprintf("%d more are not listed", more))
	}
	notes = append(notes, g.walk.notes()...)
	out.WriteString("[" + strings.Join(notes, "; ") + "]\n")
	return structured(out.String(), answer)
}

// notes say what a walk left out.
func (k *walk) notes() []string {
	var notes []string
	add := func(n int, format string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, n))
		}
	}
	if k.ignore {
		notes = append(notes, fmt.Sprintf(".gitignore was applied and left out %d", k.skipped.ignored))
	} else {
		notes = append(notes, ".gitignore was not applied")
	}
	if k.hidden {
		notes = append(notes, "hidden files were searched, but not .git")
	} else {
		add(k.skipped.hidden, "%d hidden names were left out")
	}
	add(k.skipped.links, "%d links were not followed")
	add(k.skipped.other, "%d are mounts or neither files nor directories")
	add(k.skipped.unreadable, "%d could not be read")
	return notes
}
