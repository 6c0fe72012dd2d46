package redact

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"scupper.dev/scupper/credential"
)

// Redactor hides the secrets of one run. Its methods are safe for concurrent use.
type Redactor struct {
	secrets func() []credential.Secret

	mu    sync.Mutex
	known []string
	forms *automaton
	names *automaton // for header names, whose case gets lost
}

// New hides what secrets returns, which is asked each time anew: credentials are
// renewed.
func New(secrets func() []credential.Secret) *Redactor { return &Redactor{secrets: secrets} }

// automata are made anew when there are other secrets.
func (r *Redactor) automata() (forms, names *automaton) {
	var now []string
	for _, s := range r.secrets() {
		now = append(now, s.Reveal())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(now, r.known) {
		all := allForms(now)
		r.known, r.forms, r.names = now, newAutomaton(all), newAutomaton(lowerCase(all))
	}
	return r.forms, r.names
}

func lowerCase(forms []string) []string {
	out := make([]string, len(forms))
	for i, f := range forms {
		out[i] = strings.ToLower(f)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Text is s with [secret] for each part that is hidden: for messages, which are not to
// tell how long a secret is either.
func (r *Redactor) Text(s string) string {
	masked, out, from := r.mask(s), "", 0
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && masked[end] == '*' {
			end++
		}
		if masked[i:end] != s[i:end] {
			out, from = out+s[from:i]+"[secret]", end
		}
		i = max(end, i+1)
	}
	return out + s[from:]
}

// mask is s with an asterisk for each byte that is hidden.
func (r *Redactor) mask(s string) string {
	forms, _ := r.automata()
	return newLines(forms).text(s)
}

// lines hides secrets in short texts, one after the other.
type lines struct {
	stream *Stream
	buf    []byte
}

func newLines(a *automaton) *lines { return &lines{stream: newStream(a)} }

// text makes no new string where nothing is hidden.
func (l *lines) text(s string) string {
	l.buf = append(l.buf[:0], s...)
	out := append(slices.Clip(l.stream.Next(l.buf)), l.stream.End()...)
	if string(out) == s {
		return s
	}
	return string(out)
}

// Reader is src with all secrets hidden. What src gives is passed on at once, but for
// an end that may be the beginning of a form; when src fails, that is never passed on.
func (r *Redactor) Reader(src io.Reader) io.Reader {
	forms, _ := r.automata()
	return &reader{src: src, stream: newStream(forms)}
}

// Messages hides secrets in messages that follow each other: pass takes a piece of one
// and returns what can be passed on, end returns the rest of the message. A secret that
// is spread over several is hidden from its first third on. What both return is valid
// until the next call.
func (r *Redactor) Messages() (pass func(piece []byte) []byte, end func() []byte) {
	forms, _ := r.automata()
	s := newStream(forms)
	return s.Next, s.Flush
}

// Header hides secrets in the values of h and leaves out headers with one in their
// name.
func (r *Redactor) Header(h http.Header) {
	forms, names := r.automata()
	cleanHeader(h, newLines(forms), newLines(names))
}

func cleanHeader(h http.Header, forms, names *lines) {
	for name, values := range h {
		if len(name) >= shortestForm/2 {
			if lower := strings.ToLower(name); names.text(lower) != lower {
				delete(h, name)
				continue
			}
		}
		for i, v := range values {
			values[i] = forms.text(v)
		}
	}
}

type reader struct {
	src    io.Reader
	stream *Stream
	left   []byte // to be returned before anything is read
	err    error  // of src
}

// Read blocks until there is something to pass on.
func (r *reader) Read(p []byte) (int, error) {
	for len(r.left) == 0 && r.err == nil && len(p) > 0 {
		n, err := r.src.Read(p)
		r.left, r.err = r.stream.Next(p[:n]), err
		if err == io.EOF {
			r.left = append(slices.Clip(r.left), r.stream.End()...)
		}
	}
	n := copy(p, r.left)
	if r.left = r.left[n:]; len(r.left) == 0 {
		r.left = nil
		return n, r.err
	}
	return n, nil
}
