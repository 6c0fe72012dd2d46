package proxy

import (
	"maps"
	"net/http"
	"slices"
	"sync"
)

// maxTrailers bounds the names that are remembered of a connection.
const maxTrailers = 64

// trailers are the names of the fields that came behind bodies on a connection. Over
// HTTP/2 net/http keeps only those that were announced; over HTTP/1 it reads them too
// late. Which stream a request has it does not say, so that a connection on which somebody
// tries is refused all bodies that end later.
type trailers struct {
	mu    sync.Mutex
	names map[string]struct{}
	over  bool
}

// add notes a field before net/http reads the end of its stream.
func (t *trailers) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil {
		t.names = make(map[string]struct{})
	}
	t.names[http.CanonicalHeaderKey(name)] = struct{}{}
	t.over = t.over || len(t.names) > maxTrailers
	if t.over {
		t.names = nil
	}
}

// list is the names, unless they are too many.
func (t *trailers) list() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.names))
}

// some reports whether a name is one of those that is looks for. Of too many it is.
func (t *trailers) some(is func(name string) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name := range t.names {
		if is(name) {
			return true
		}
	}
	return t.over
}

// trailersOf are the names of the trailers that are announced, or that have come already.
func trailersOf(r *http.Request) []string {
	names := slices.Collect(maps.Keys(r.Trailer))
	if s, ok := r.Context().Value(connKey{}).(*stream); ok && r.ContentLength != 0 {
		names = append(names, s.trailed.list()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// foreignTrailer finds, once the body has been read, a credential behind it that was
// not announced before it. No trailer goes upstream; whoever sends one there is refused
// as anywhere else.
func (x *exchange) foreignTrailer() bool {
	for name := range x.r.Trailer {
		if x.d.Grant.Credential.InTrailer(name) {
			return true
		}
	}
	f, ok := x.r.Context().Value(connKey{}).(*frames)
	return ok && f.trailed.some(x.d.Grant.Credential.InTrailer)
}
