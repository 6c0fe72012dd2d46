package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/gateway"
)

// ahead is how many files may be searched before one that is still being searched.
const ahead = 256

// grepping is one search. Files are searched by several workers and reported in the
// order of their names.
type grepping struct {
	grepArguments
	expression *expression
	walk       *walk // nil: one file
	from       string
	limit      context.Context

	jobs   chan job
	room   chan struct{}
	handed int

	out      strings.Builder
	full     bool
	files    []counted
	matches  int
	searched int
	binary   int
	long     int
	bytes    int64
	partial  []string // why not everything was searched or shown
	timedOut bool
	failed   int
}

type job struct {
	number int
	rel    string
	file   *descriptor
}

type outcome struct {
	job
	findings
	err error
}

type counted struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

func newGrepping(ctx context.Context, a grepArguments, e *expression) *grepping {
	return &grepping{grepArguments: a, expression: e, from: ".", limit: ctx, jobs: make(chan job), room: make(chan struct{}, ahead)}
}

// wants says what workers look for. A file has at most one match more than are shown.
func (g *grepping) wants() wanted {
	switch g.Mode {
	case "files":
		return wanted{first: true, most: 1}
	case "count":
		return wanted{most: math.MaxInt}
	}
	return wanted{lines: true, before: g.Before, after: g.After, most: g.Limit + 1}
}

// run searches all files that produce hands over, until there is enough.
func (g *grepping) run(produce func(context.Context) error) error {
	ctx, cancel := context.WithCancel(g.limit)
	defer cancel()
	outcomes := make(chan outcome, ahead)
	var workers sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() { g.work(ctx, outcomes) })
	}
	produced := make(chan error, 1)
	go func() {
		err := produce(ctx)
		close(g.jobs)
		workers.Wait()
		close(outcomes)
		produced <- err
	}()
	waiting := map[int]outcome{}
	for o := range outcomes {
		waiting[o.number] = o
		for {
			next, ok := waiting[g.searched+g.failed]
			if !ok {
				break
			}
			delete(waiting, next.number)
			<-g.room
			if g.take(next); len(g.partial) > 0 {
				cancel()
			}
		}
	}
	err := <-produced
	if len(g.partial) > 0 && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// hand gives a file to a worker, which closes it.
func (g *grepping) hand(ctx context.Context, rel string, f *descriptor) error {
	select {
	case <-ctx.Done():
		return cmp.Or(ctx.Err(), f.Close())
	case g.room <- struct{}{}:
	}
	g.handed++
	g.jobs <- job{g.handed - 1, rel, f}
	return nil
}

func (g *grepping) work(ctx context.Context, outcomes chan<- outcome) {
	s := newSearcher(g.expression, g.wants())
	for j := range g.jobs {
		o := outcome{job: j}
		var st unix.Stat_t
		if o.err = unix.Fstat(j.file.fd, &st); o.err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
			o.err = unix.ELOOP // something else was put there
		}
		if o.err == nil {
			o.findings, o.err = s.search(ctx, j.file)
		}
		o.err = errors.Join(o.err, j.file.Close())
		outcomes <- o
	}
}

// take adds what was found in the next file, as long as there is room for it.
func (g *grepping) take(o outcome) {
	if o.err != nil {
		g.failed++
	} else {
		g.searched++
	}
	if len(g.partial) > 0 || g.limit.Err() != nil && o.count == 0 {
		return
	}
	g.bytes += o.bytes
	if o.findings.binary {
		g.binary++
	}
	if o.long {
		g.long++
	}
	switch shown := len(g.files); {
	case o.count == 0:
	case g.Mode != "content" && shown >= g.Limit:
		g.partial = append(g.partial, fmt.Sprintf("more than %d files match", g.Limit))
	case g.out.Len() > maxShown:
		g.partial = append(g.partial, fmt.Sprintf("more than %d bytes are to show", maxShown))
	default:
		g.add(o)
	}
	if g.bytes > searchBytes {
		g.partial = append(g.partial, fmt.Sprintf("%d bytes were searched", g.bytes))
	}
}

func (g *grepping) add(o outcome) {
	switch g.Mode {
	case "files":
		fmt.Fprintf(&g.out, "%s\n", show(o.rel))
	case "count":
		fmt.Fprintf(&g.out, "%s: %d\n", show(o.rel), o.count)
	default:
		if o.count = g.addLines(o); o.count == 0 {
			return
		}
	}
	g.matches += o.count
	g.files = append(g.files, counted{strings.ToValidUTF8(o.rel, "\ufffd"), o.count})
}

// addLines shows lines as long as there is room, and returns how many match.
func (g *grepping) addLines(o outcome) (matches int) {
	if g.matches >= g.Limit {
		g.partial = append(g.partial, fmt.Sprintf("more than %d lines match", g.Limit))
		return 0
	}
	fmt.Fprintf(&g.out, "%s\n", show(o.rel))
	last := 0
	for _, h := range o.hits {
		if h.match && g.matches+matches >= g.Limit {
			g.partial = append(g.partial, fmt.Sprintf("more than %d lines match", g.Limit))
			break
		}
		if g.out.Len()+len(h.text) > maxShown {
			g.partial = append(g.partial, fmt.Sprintf("more than %d bytes are to show", maxShown))
			break
		}
		if last > 0 && h.number > last+1 && g.Before+g.After > 0 {
			g.out.WriteString("  --\n")
		}
		last = h.number
		sign := "-"
		if h.match {
			matches++
			sign = ":"
		}
		fmt.Fprintf(&g.out, "  %d%s %s\n", h.number, sign, h.text)
	}
	return matches
}

type grepAnswer struct {
	Files    []counted `json:"files"`
	Matches  int       `json:"matches"`
	Searched int       `json:"searched"`
	Binary   int       `json:"binary"`
	Partial  bool      `json:"partial"`
}

func (g *grepping) answer() (gateway.Result, error) {
	answer := grepAnswer{Files: append([]counted{}, g.files...), Matches: g.matches, Searched: g.searched, Binary: g.binary, Partial: len(g.partial) > 0 || g.timedOut}
	text := g.out.String() + "[" + strings.Join(g.notes(), "; ") + "]\n"
	if g.timedOut {
		text = fmt.Sprintf("grep: the time was over and the search was not finished. Search a smaller directory or fewer files.\n%s", text)
	}
	return structured(text, answer)
}

func (g *grepping) notes() []string {
	var notes []string
	if g.timedOut {
		notes = append(notes, "partial: not all files were searched")
	}
	for _, why := range g.partial {
		notes = append(notes, "partial: "+why)
	}
	what := fmt.Sprintf("%d matching lines in %d files", g.matches, len(g.files))
	switch {
	case len(g.files) == 0 && !g.timedOut:
		what = fmt.Sprintf("nothing found: no line matches %s", quote(g.Pattern))
		if g.Multiline {
			what = fmt.Sprintf("nothing found: no text matches %s", quote(g.Pattern))
		}
	case g.Mode == "files":
		what = fmt.Sprintf("%d files match", len(g.files))
	}
	notes = append(notes, what, fmt.Sprintf("%d files searched", g.searched))
	add := func(n int, format string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, n))
		}
	}
	add(g.binary, "%d binary files skipped")
	add(g.long, "%d files or lines in them are too long to be searched whole")
	add(g.failed, "%d files could not be read")
	if g.walk != nil {
		notes = append(notes, g.walk.notes()...)
	}
	return notes
}

// descriptor is an open file without the poller of package os, which for regular files
// is of no use and costs more than they do.
type descriptor struct{ fd int }

func (d *descriptor) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(d.fd, p)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (d *descriptor) Close() error { return unix.Close(d.fd) }
