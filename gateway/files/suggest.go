package files

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"golang.org/x/sys/unix"
)

const (
	mostLooked    = 1000 // names of a directory that a misspelt one is compared with
	mostSuggested = 3
)

// suggest adds to a refusal of a missing path what in the same directory has nearly its
// name. Only names that the caller could list are suggested.
func (w *Workspace) suggest(asked string, err error) error {
	refused := (*Refusal)(nil)
	if !errors.As(err, &refused) || refused.Reason != Missing {
		return err
	}
	rel, failed := w.relative(asked)
	if failed != nil {
		return err
	}
	names := w.namesLike(path.Dir(path.Clean(rel)), path.Base(path.Clean(rel)))
	if len(names) == 0 {
		return err
	}
	return refuse(Missing, "%s. Did you mean %s?", refused.Text, strings.Join(names, " or "))
}

func (w *Workspace) namesLike(dir, base string) []string {
	fd, err := w.open(w.fd(), dir, unix.O_RDONLY|unix.O_DIRECTORY, true)
	if err != nil {
		return nil
	}
	entries, err := readDirectory(fd)
	if errors.Join(err, unix.Close(fd)) != nil || len(base) > 255 {
		return nil
	}
	type near struct {
		name  string
		score float64
	}
	var all []near
	for _, e := range entries[:min(len(entries), mostLooked)] {
		score := levenshtein.Similarity(strings.ToLower(e.name), strings.ToLower(base), nil)
		hidden := strings.HasPrefix(e.name, ".") && !strings.HasPrefix(base, ".")
		if (e.kind == unix.DT_REG || e.kind == unix.DT_DIR) && !hidden && score >= 0.6 && e.name != base {
			all = append(all, near{e.name, score})
		}
	}
	slices.SortFunc(all, func(a, b near) int {
		if a.score != b.score {
			return int(1e6 * (b.score - a.score))
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, n := range all[:min(len(all), mostSuggested)] {
		names = append(names, quote(path.Join(dir, n.name)))
	}
	return names
}
