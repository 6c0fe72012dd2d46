package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// grouped is n with a thin space after every three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && c != '-' && (len(s)-i)%3 == 0 && len(s) > 4 {
			b.WriteRune('\u202f')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// integer is any number of things.
type integer interface{ ~int | ~int64 }

func plural[T integer](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(int64(n)) + " " + nouns(noun)
}

func nouns(noun string) string {
	if strings.HasSuffix(noun, "cy") {
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

func counted(n int, noun, one, many string) string {
	if n == 1 {
		return "1 " + noun + " " + one
	}
	return plural(n, noun) + " " + many
}

// size prints bytes with binary units and three digits.
func size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		value /= 1024
		if value < 1000 {
			break
		}
	}
	return fmt.Sprintf("%.3g %s", value, unit)
}

func clockTime(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format(time.DateTime)
}

func date(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.DateOnly)
}

func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// lasted is d as people say it.
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
