package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// leastRange is the length of the shortest closed range that is asked for, in bytes: a
// secret could be fetched in pieces, each too short to be known.
const leastRange = 64 << 10

// digests are of a body in its coding (RFC 9530, RFC 3230, RFC 1864).
var digests = [...]string{"Content-Digest", "Repr-Digest", "Digest", "Content-Md5"}

var (
	errPartialCoding = errors.New("a part of a coded body cannot be read")
	errParts         = errors.New("parts of a body cannot be read")
)

// Ask makes h, the header of a request, ask only for what Response can read: codings
// that are known, identity for a part. Where a range is short, or there are several,
// the whole is asked for, which every client must take (RFC 9110 section 14.2).
func (r *Redactor) Ask(h http.Header) {
	if !isLongRange(h["Range"]) {
		delete(h, "Range")
		delete(h, "If-Range")
	}
	if h["Range"] != nil {
		h["Accept-Encoding"] = []string{"identity"}
		return
	}
	h["Accept-Encoding"] = []string{readable(h["Accept-Encoding"])}
}

// isLongRange knows bytes=N-, bytes=-N and bytes=N-M.
func isLongRange(values []string) bool {
	if len(values) != 1 {
		return false
	}
	set, ok := strings.CutPrefix(values[0], "bytes=")
	from, to, dash := strings.Cut(set, "-")
	if !ok || !dash {
		return false
	}
	if to == "" {
		return isNumber(from)
	}
	if from == "" {
		return isNumber(to)
	}
	first, err := strconv.ParseInt(from, 10, 63)
	last, err2 := strconv.ParseInt(to, 10, 63)
	return err == nil && err2 == nil && first >= 0 && last-first >= leastRange-1
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil
}

// Response hides secrets in the header of resp and in its body as it will be read. The
// body loses its coding; without one its length stays. An error says that the body
// cannot be read: then it must not be passed on, and nothing of it was. The trailer,
// which is complete at the end of the body, is the caller's to give to Header.
//
// It blocks for the first byte of a coded body.
func (r *Redactor) Response(resp *http.Response) error {
	coding, err := codingOf(resp.Header["Content-Encoding"])
	if err != nil {
		return err
	}
	forms, names := r.automata()
	hiding, hidingNames := newLines(forms), newLines(names)
	cleanHeader(resp.Header, hiding, hidingNames)
	cleanHeader(resp.Trailer, hiding, hidingNames) // the names that are announced
	if coding != "" {
		uncode(resp)
	}
	if bodyless(resp) {
		return nil
	}
	return forms.body(resp, coding)
}

func bodyless(resp *http.Response) bool {
	head := resp.Request != nil && resp.Request.Method == http.MethodHead
	return head || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
}

// uncode makes the header describe the body without its coding.
func uncode(resp *http.Response) {
	h := resp.Header
	delete(h, "Content-Encoding")
	delete(h, "Content-Length")
	resp.ContentLength = -1
	for _, name := range digests {
		delete(h, name)
	}
	if tag := h.Get("Etag"); strings.HasPrefix(tag, `"`) {
		h.Set("Etag", "W/"+tag) // it is not the same bytes any more (RFC 9110 section 8.8.3.3)
	}
}

func (a *automaton) body(resp *http.Response, coding string) error {
	partial := resp.StatusCode == http.StatusPartialContent
	switch {
	case partial && coding != "":
		return errPartialCoding
	case partial && strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "multipart/byteranges"):
		return errParts
	}
	plain, err := decoded(coding, resp.Body)
	if err != nil {
		return fmt.Errorf("read the body in its coding %q: %w", coding, err)
	}
	out := &reader{src: plain, stream: newStream(a)}
	if partial && a != nil {
		if err := out.beginInside(a); err != nil {
			return err
		}
	}
	resp.Body = &body{out, plain, resp.Body}
	return nil
}

// body is a reader that closes what it reads from.
type body struct {
	io.Reader
	decoder, coded io.Closer
}

// Close ends both: a decoder does not close what it reads.
func (b *body) Close() error { return errors.Join(b.decoder.Close(), b.coded.Close()) }

// beginInside takes the first bytes of a part, which may be the end of a form, or be
// inside one. They are short next to what a part must have.
func (r *reader) beginInside(a *automaton) error {
	first := make([]byte, a.longest())
	n, err := io.ReadFull(r.src, first)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return fmt.Errorf("read the first bytes of a part: %w", err)
	}
	r.stream.lead = a.inside(first[:n])
	r.src = io.MultiReader(bytes.NewReader(first[:n]), r.src)
	return nil
}

// least is the shortest end of a form that is hidden at the beginning of a part, in
// bytes. With the first half of a form, which a stream may show but for one byte, it is
// less than two thirds.
func least(form int) int { return max(4, form/8) }

// inside is how many bytes at the beginning of text are the end of a form, or, where
// they are all, any part of one.
func (a *automaton) inside(text []byte) (n int) {
	for _, f := range a.forms {
		if len(text) >= least(len(f)) && strings.Contains(f, string(text)) {
			return len(text)
		}
		for k := min(len(f)-1, len(text)); k >= max(least(len(f)), n+1); k-- {
			if f[len(f)-k:] == string(text[:k]) {
				n = k
			}
		}
	}
	return n
}
