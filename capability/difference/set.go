package difference

import (
	"slices"
	"strings"
	"time"
)

// relation is what a set is to another.
type relation int

const (
	partly  relation = iota // some of it is in the other, or that is not known
	covered                 // all of it is
	apart                   // nothing is
)

// set is one dimension of a box: the methods, the paths, the values of a parameter.
type set interface {
	// minus is what of the set is not in o, which stands as its policy has it.
	minus(c *comparison, o set) (set, relation)
	// key is equal for equal sets.
	key() string
	// String is the set as people read it.
	String() string
	// unsure reports that the set may be empty after all.
	unsure() bool
}

// words is a finite set of names.
type words []string

func (w words) minus(_ *comparison, other set) (set, relation) {
	o, ok := other.(words)
	if !ok {
		return w, partly
	}
	rest := slices.DeleteFunc(slices.Clone(w), func(s string) bool { return slices.Contains(o, s) })
	switch len(rest) {
	case 0:
		return nil, covered
	case len(w):
		return w, apart
	}
	return rest, partly
}

func (w words) key() string {
	sorted := slices.Clone(w)
	slices.Sort(sorted)
	return strings.Join(sorted, "\x00")
}

func (w words) String() string { return strings.Join(w, ", ") }
func (w words) unsure() bool   { return false }

// span is a time from a moment to another, which is not part of it. The zero time is no
// bound.
type span struct{ from, until time.Time }

func (s span) minus(_ *comparison, other set) (set, relation) {
	o, ok := other.(span)
	switch {
	case !ok:
		return s, partly
	case o.until.IsZero() || !s.until.IsZero() && !o.until.Before(s.until):
		return nil, covered
	case !s.from.IsZero() && !s.from.Before(o.until):
		return s, apart
	}
	return span{o.until, s.until}, partly
}

func (s span) key() string { return s.String() }

func (s span) String() string {
	switch {
	case s.from.IsZero() && s.until.IsZero():
		return "always"
	case s.from.IsZero():
		return "until " + lastDay(s.until)
	case s.until.IsZero():
		return "from " + moment(s.from) + " on"
	}
	return "from " + moment(s.from) + " until " + lastDay(s.until)
}

func (s span) unsure() bool { return false }

// moment leaves out the time of the day where it is midnight.
func moment(t time.Time) string {
	t = t.UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04:05")
}

// size is the length of a body in bytes: more than the first, up to the second.
type size struct{ over, most int64 }

func (s size) minus(_ *comparison, other set) (set, relation) {
	o, ok := other.(size)
	switch {
	case !ok:
		return s, partly
	case o.most >= s.most:
		return nil, covered
	case o.most <= s.over:
		return s, apart
	}
	return size{o.most, s.most}, partly
}

func (s size) key() string { return s.String() }

func (s size) String() string {
	if s.over >= 0 {
		return "over " + amount(s.over) + ", up to " + amount(s.most)
	}
	return "up to " + amount(s.most)
}

func (s size) unsure() bool { return false }

const endOf = "the end of "

// lastDay is how policies write a time that ends with a day.
func lastDay(t time.Time) string {
	t = t.UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return endOf + t.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	return moment(t)
}
