package face

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
)

// Limits of the HTTP server.
const (
	maxOpen    = 256              // connections at once
	headerTime = 10 * time.Second // for a request's head
	bodyTime   = 60 * time.Second // for the rest of a request; a call may take longer
	idleTime   = 2 * time.Minute  // between requests
	graceTime  = 2 * time.Second  // for answers when the gateway ends
	maxHead    = 32 << 10         // bytes of a request's head
)

// Paths that are served.
const (
	pathMCP   = "/mcp"
	pathTools = "/v1/tools"
)

// Door is a way in over HTTP and how callers prove who they are there.
type Door struct {
	// As is who comes in without a token: whoever reaches the socket is that. Nil asks
	// everybody for a token.
	As *gateway.Principal
}

// ServeHTTP serves MCP at /mcp and plain HTTP at /v1/tools until ctx ends. It closes l.
func (f *Face) ServeHTTP(ctx context.Context, l net.Listener, d Door) error {
	s := &http.Server{
		Handler: f.handler(d), ReadHeaderTimeout: headerTime, ReadTimeout: f.bodyTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
		ErrorLog:    log.New(io.Discard, "", 0), // what a client did wrong is in its answer
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan struct{})
	ended := context.AfterFunc(ctx, func() {
		defer close(stopped)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
		defer cancel()
		if s.Shutdown(grace) != nil {
			_ = s.Close() // whoever still talks is cut off
		}
	})
	err := s.Serve(netutil.LimitListener(l, maxOpen))
	if !ended() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) || ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("serve tools: %w", err)
}

// handler takes a request to its face, after everything that a stranger must not get
// past.
func (f *Face) handler(d Door) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(pathMCP, f.serveMCP)
	mux.HandleFunc("GET "+pathTools, f.servePlainList)
	mux.HandleFunc("POST "+pathTools+"/{name}", f.servePlainCall)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.addressed(r) {
			f.gateway.RefuseStranger("http", capability.AuthorityMismatch)
			problem(w, http.StatusForbidden, capability.AuthorityMismatch, nil, "")
			return
		}
		p, ok := f.principal(r, d)
		if !ok {
			f.gateway.RefuseStranger("http", capability.CallerUnknown)
			w.Header().Set("WWW-Authenticate", "Bearer")
			problem(w, http.StatusUnauthorized, capability.CallerUnknown, nil, "")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		w.Header().Set("X-Accel-Buffering", "no")
		mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, p)))
	})
}

type principalKey struct{}

func principalOf(ctx context.Context) (gateway.Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(gateway.Principal)
	return p, ok
}

// principal finds out who sent a request. More than one Authorization header has more
// than one reading.
func (f *Face) principal(r *http.Request, d Door) (gateway.Principal, bool) {
	if d.As != nil {
		return *d.As, true
	}
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return gateway.Principal{}, false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return gateway.Principal{}, false
	}
	return f.gateway.Authenticate(token)
}

// serveMCP hands a message on that has one reading. A call that the server answers by
// itself, because of its headers or its form, is on record as well.
func (f *Face) serveMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, err := wholeBody(w, r)
		if err != nil {
			f.bodyFailed(w, r, err)
			return
		}
		message, err := strict(body)
		if err != nil {
			f.refuse(r, capability.MalformedRequest)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(parseError(err)) // a client that is gone needs no answer
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
		if isCall(message) {
			called := new(atomic.Bool)
			f.streams.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), calledKey{}, called)))
			if !called.Load() && r.Context().Err() == nil { // of a client that is gone, the call may yet begin
				f.refuse(r, capability.MalformedRequest)
			}
			return
		}
	}
	f.streams.ServeHTTP(w, r)
}

type calledKey struct{}

// called notes that a request has come to be a call.
func called(ctx context.Context) {
	if c, ok := ctx.Value(calledKey{}).(*atomic.Bool); ok {
		c.Store(true)
	}
}

// wholeBody reads a body within its time. What takes longer afterwards is the call:
// net/http would take the end of that time for the client going away.
func wholeBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return body, http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// refuse records that a request did not come to be a call.
func (f *Face) refuse(r *http.Request, reason capability.Reason) {
	p, _ := principalOf(r.Context())
	f.gateway.RefuseMessage(p, reason)
}

func (f *Face) bodyFailed(w http.ResponseWriter, r *http.Request, err error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		f.refuse(r, capability.BodyTooLarge)
		problem(w, http.StatusRequestEntityTooLarge, capability.BodyTooLarge, nil, "")
		return
	}
	f.refuse(r, capability.MalformedRequest)
	problem(w, http.StatusBadRequest, capability.MalformedRequest, nil, "")
}
