package trim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

var (
	errTrailing = errors.New("more than one JSON value")
	errDeep     = errors.New("nested too deeply")
)

// maxDepth is how deeply JSON may be nested.
const maxDepth = 1000

// part is the handle of one of several texts.
func part(id string, at int) string { return id + "." + strconv.Itoa(at+1) }

// visibleJSON is text anew, with its strings and names made visible: compact, names in
// their order, numbers as they were written.
func visibleJSON(text []byte) ([]byte, error) {
	var s sight
	return rewrite(text, s.visible, nil)
}

// rewrite writes JSON anew. change is applied to each string and name. What keep is false
// for is dropped with everything in it; inner says that the value at the path has parts.
// Paths are tokens of a JSON Pointer (RFC 6901).
func rewrite(text []byte, change func(string) string, keep func(path []string, inner bool) bool) ([]byte, error) {
	w := writer{d: json.NewDecoder(bytes.NewReader(text)), change: change, keep: keep}
	w.d.UseNumber()
	token, err := w.d.Token()
	if err != nil {
		return nil, err
	}
	if err := w.value(nil, token, true); err != nil {
		return nil, err
	}
	if _, err := w.d.Token(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return w.out.Bytes(), nil
}

type writer struct {
	d      *json.Decoder
	out    bytes.Buffer
	change func(string) string
	keep   func(path []string, inner bool) bool
}

// value copies the value that begins with a token, or reads over it.
func (w *writer) value(path []string, token json.Token, kept bool) error {
	switch v := token.(type) {
	case json.Delim:
		return w.compound(path, v, kept)
	case string:
		return w.write(w.change(v), kept)
	default:
		return w.write(v, kept)
	}
}

func (w *writer) compound(path []string, open json.Delim, kept bool) error {
	if len(path) >= maxDepth {
		return errDeep
	}
	if kept {
		w.out.WriteString(open.String())
	}
	for i, first := 0, true; w.d.More(); i++ {
		name, token, err := w.member(open, i)
		if err != nil {
			return err
		}
		at := append(path[:len(path):len(path)], name)
		_, inner := token.(json.Delim)
		wanted := kept && (w.keep == nil || w.keep(at, inner))
		if wanted {
			if err := w.begin(open, name, first); err != nil {
				return err
			}
			first = false
		}
		if err := w.value(at, token, wanted); err != nil {
			return err
		}
	}
	end, err := w.d.Token()
	if err != nil {
		return err
	}
	if kept {
		fmt.Fprint(&w.out, end)
	}
	return nil
}

// member reads the name of what comes next, in an array its index, and the first token of
// its value.
func (w *writer) member(open json.Delim, i int) (name string, token json.Token, err error) {
	name = strconv.Itoa(i)
	if open == '{' {
		if token, err = w.d.Token(); err != nil {
			return "", nil, err
		}
		name, _ = token.(string)
	}
	token, err = w.d.Token()
	return name, token, err
}

// begin writes what stands before a value.
func (w *writer) begin(open json.Delim, name string, first bool) error {
	if !first {
		w.out.WriteByte(',')
	}
	if open != '{' {
		return nil
	}
	if err := w.write(w.change(name), true); err != nil {
		return err
	}
	w.out.WriteByte(':')
	return nil
}

// write appends one token.
func (w *writer) write(v any, kept bool) error {
	if !kept {
		return nil
	}
	e := json.NewEncoder(&w.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	w.out.Truncate(w.out.Len() - 1) // the line feed that Encode ends with
	return nil
}
