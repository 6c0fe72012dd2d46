package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"scupper.dev/scupper/gateway"
)

const (
	maxLines     = 2000     // of one answer
	maxLine      = 2000     // characters of a line that are shown
	maxShown     = 50 << 10 // bytes of one answer
	maxImage     = 4 << 20
	maxScan      = 512 << 20 // bytes that are read to tell how many lines there are
	headerLength = 8 << 10   // bytes that tell what a file is
)

func readDefinition() gateway.Definition {
	return gateway.Definition{
		Name: "read", Version: "1", Title: "Read a file", Level: gateway.Read, Timeout: time.Minute, MaxOutput: 2 * maxShown,
		Description: "Reads a text file of the workspace. Each line is shown with its number and a tab in front, which are not part of the file. At most 2,000 lines, " +
			"2,000 characters of a line and 50 KB are shown; the answer says at which offset to go on and how many lines there are. UTF-16 and ISO-8859-1 are " +
			"recognised. PNG, JPEG, GIF and WebP files are shown as images; of other binary files the type and size are named. Directories are listed with glob. " +
			"A path that begins with result: is the rest of a result that was too long.",
		Input: object(`"path"`,
			pathProperty("The file, relative to the workspace or absolute inside it"),
			property("offset", `{"type":"integer","minimum":1,"maximum":9007199254740991,"description":"Number of the first line to show; the first line is 1"}`),
			property("limit", `{"type":"integer","minimum":1,"maximum":9007199254740991,"description":"How many lines to show"}`)),
		Output: object(`"path","type","bytes"`,
			property("path", `{"type":"string"}`),
			property("type", `{"type":"string","description":"text, or the media type"}`),
			property("bytes", `{"type":"integer"}`),
			property("encoding", `{"type":"string"}`),
			property("line_endings", `{"enum":["lf","crlf","mixed","none"]}`),
			property("first_line", `{"type":"integer"}`),
			property("last_line", `{"type":"integer"}`),
			property("total_lines", `{"type":"integer","description":"absent when the file is too long to count"}`),
			property("next_offset", `{"type":"integer","description":"absent when the last line has been shown"}`),
			property("sha256", `{"type":"string","description":"of the whole file; absent when it is too long"}`)),
	}
}

type readArguments struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Limit  int64  `json:"limit"`
}

type readAnswer struct {
	Path     string   `json:"path"`
	Type     string   `json:"type"`
	Bytes    int64    `json:"bytes"`
	Encoding encoding `json:"encoding,omitempty"`
	Ends     string   `json:"line_endings,omitempty"`
	First    int64    `json:"first_line,omitempty"`
	Last     int64    `json:"last_line,omitempty"`
	Total    *int64   `json:"total_lines,omitempty"`
	Next     int64    `json:"next_offset,omitempty"`
	SHA256   string   `json:"sha256,omitempty"`
}

func (w *Workspace) read(ctx context.Context, c *gateway.Call) (gateway.Result, error) {
	a := readArguments{Offset: 1, Limit: maxLines}
	if err := arguments(c, &a); err != nil {
		return gateway.Result{}, err
	}
	if handle, ok := strings.CutPrefix(a.Path, gateway.RestScheme); ok && w.config.Rest != nil {
		return w.readRest(ctx, c.Role, handle, a)
	}
	f, err := w.findFile(a.Path)
	if err != nil {
		return gateway.Result{}, w.suggest(a.Path, err)
	}
	r, err := w.readFound(ctx, f, a)
	if err = errors.Join(err, f.close()); err != nil {
		return gateway.Result{}, w.refusal(a.Path, err)
	}
	return r, nil
}

func (w *Workspace) readFound(ctx context.Context, f *found, a readArguments) (gateway.Result, error) {
	file, err := f.reader()
	if err != nil {
		return gateway.Result{}, err
	}
	r, err := readFrom(ctx, file, f.stat.Size, a)
	return r, errors.Join(err, file.Close())
}

// readRest reads what trimming left out of a result that this role was given.
func (w *Workspace) readRest(ctx context.Context, role, handle string, a readArguments) (gateway.Result, error) {
	rest, ok := w.config.Rest.Open(role, handle)
	if !ok {
		return gateway.Result{}, refuse(Missing, "%s: there is no such result any more", quote(a.Path))
	}
	size, err := rest.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = rest.Seek(0, io.SeekStart)
	}
	var r gateway.Result
	if err == nil {
		r, err = readFrom(ctx, rest, size, a)
	}
	if err = errors.Join(err, rest.Close()); err != nil {
		return gateway.Result{}, w.refusal(a.Path, err)
	}
	r.RestOf = handle
	return r, nil
}

// readFrom reads a file from its beginning.
func readFrom(ctx context.Context, f io.Reader, size int64, a readArguments) (gateway.Result, error) {
	head := make([]byte, headerLength)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return gateway.Result{}, err
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), f)
	code, mark := sniff(head)
	switch {
	case isImage(head):
		return readImage(whole, size, a, head)
	case code == notText:
		kind := typeOf(head)
		return structured(fmt.Sprintf("%s is a binary file: %s, %d bytes. It is not shown.\n", quote(a.Path), kind, size),
			readAnswer{Path: a.Path, Type: kind, Bytes: size})
	}
	p := &page{ctx: ctx, first: a.Offset, last: a.Offset - 1 + min(a.Limit, maxLines), sum: sha256.New()}
	if code.wide() {
		err = p.scanWide(whole, code, mark)
	} else {
		err = p.scan(io.LimitReader(whole, maxScan), mark)
	}
	if err != nil {
		return gateway.Result{}, err
	}
	return p.answer(a, code, mark, size)
}

func isImage(head []byte) bool {
	switch typeOf(head) {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// readImage shows an image, if it is not too large.
func readImage(f io.Reader, size int64, a readArguments, head []byte) (gateway.Result, error) {
	kind := typeOf(head)
	answer := readAnswer{Path: a.Path, Type: kind, Bytes: size}
	image, err := io.ReadAll(io.LimitReader(f, maxImage+1))
	if err != nil {
		return gateway.Result{}, err
	}
	if len(image) > maxImage {
		return structured(fmt.Sprintf("%s is an image: %s, %d bytes. It is not shown: more than %d bytes.\n", quote(a.Path), kind, size, maxImage), answer)
	}
	answer.SHA256 = digest(image)
	r, err := structured(fmt.Sprintf("%s is an image: %s, %d bytes.\n", quote(a.Path), kind, len(image)), answer)
	r.Content = append(r.Content, gateway.Content{Image: image, MediaType: kind})
	return r, err
}

// answer puts the page together, with notes in brackets that have no line number: no
// file can forge them.
func (p *page) answer(a readArguments, code encoding, mark int, size int64) (gateway.Result, error) {
	counted := p.read < maxScan
	if p.lines > 0 && p.first > p.lines && counted {
		return gateway.Result{}, refuse(Malformed, "offset %d is after the end: %s has %d lines", p.first, quote(a.Path), p.lines)
	}
	if p.other > 0 && p.wide == 0 {
		code = latin1
	}
	r := readAnswer{Path: a.Path, Type: "text", Bytes: size, Encoding: code, Ends: p.ends(), First: p.first, Last: p.shown}
	if p.shown == 0 {
		r.First = 0
	}
	var notes []string
	if counted {
		r.Total, r.SHA256 = &p.lines, hex.EncodeToString(p.sum.Sum(nil))
	}
	if p.shown > 0 && (p.shown < p.lines || !counted) {
		r.Next = p.shown + 1
	}
	notes = append(notes, p.position(r, counted))
	if code != utf8Text || mark > 0 {
		notes = append(notes, p.encodingNote(code, mark))
	}
	if p.other > 0 && p.wide > 0 {
		notes = append(notes, fmt.Sprintf("%d lines are not UTF-8 and are shown as ISO-8859-1", p.other))
	}
	if r.Ends == "crlf" || r.Ends == "mixed" {
		notes = append(notes, "line endings: "+r.Ends)
	}
	if p.cut > 0 {
		notes = append(notes, fmt.Sprintf("%d lines are longer than %d characters and were cut", p.cut, maxLine))
	}
	p.out.WriteString("[" + strings.Join(notes, "; ") + "]\n")
	return structured(p.out.String(), r)
}

func (p *page) position(r readAnswer, counted bool) string {
	switch {
	case p.lines == 0:
		return "the file is empty"
	case p.shown == 0:
		return "no line was shown"
	case !counted:
		return fmt.Sprintf("lines %d-%d of more than %d; next offset %d", r.First, r.Last, p.lines, r.Next)
	case r.Next > 0:
		return fmt.Sprintf("lines %d-%d of %d; next offset %d", r.First, r.Last, p.lines, r.Next)
	}
	return fmt.Sprintf("lines %d-%d of %d; end of file", r.First, r.Last, p.lines)
}

func (p *page) encodingNote(code encoding, mark int) string {
	if mark > 0 {
		return "encoding: " + string(code) + " with a byte order mark"
	}
	return "encoding: " + string(code)
}
