package payload

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Limits of a JSON body.
const (
	MaxDepth  = 64     // of arrays and objects in each other
	MaxValues = 50_000 // of all kinds, containers included
	maxNumber = 64     // bytes of one number
)

var (
	errUTF8      = errors.New("not UTF-8")
	errMark      = errors.New("a byte order mark")
	errEmpty     = errors.New("no value")
	errSyntax    = errors.New("not JSON")
	errTrailing  = errors.New("something behind the value")
	errDepth     = errors.New("nested too deep")
	errValues    = errors.New("too many values")
	errNumber    = errors.New("a number out of range")
	errSurrogate = errors.New("half of a surrogate pair")
	errNUL       = errors.New("a NUL character")
	errTwice     = errors.New("a name that an object has twice")
	errVariant   = errors.New("names that differ in their case only")
)

// reader takes JSON apart and writes it anew in the same pass.
type reader struct {
	in     []byte
	at     int
	out    []byte
	depth  int
	values int
	most   extent
}

// extent is how large a JSON text may be.
type extent struct {
	depth  int // of arrays and objects in each other
	values int
}

// widest is the extent of what is checked by no schema.
func widest() extent { return extent{MaxDepth, MaxValues} }

// read is the value of text, as encoding/json makes it with numbers kept as they are
// written, and the text in its compact form with the names in their order.
func read(text []byte, most extent) (value any, compact []byte, err error) {
	r := &reader{in: text, most: most, out: make([]byte, 0, len(text))}
	if value, err = r.whole(); err != nil {
		return nil, nil, fmt.Errorf("at byte %d: %w", r.at, err)
	}
	return value, r.out, nil
}

func (r *reader) whole() (any, error) {
	switch {
	case !utf8.Valid(r.in):
		return nil, errUTF8
	case len(r.in) >= 3 && string(r.in[:3]) == "\ufeff":
		return nil, errMark
	}
	if r.blanks(); r.at == len(r.in) {
		return nil, errEmpty
	}
	v, err := r.value()
	if err != nil {
		return nil, err
	}
	if r.blanks(); r.at < len(r.in) {
		return nil, errTrailing
	}
	return v, nil
}

func (r *reader) blanks() {
	for r.at < len(r.in) && (r.in[r.at] == ' ' || r.in[r.at] == '\t' || r.in[r.at] == '\n' || r.in[r.at] == '\r') {
		r.at++
	}
}

// peek is the next byte, 0 at the end.
func (r *reader) peek() byte {
	if r.at == len(r.in) {
		return 0
	}
	return r.in[r.at]
}

// take reads c and writes it.
func (r *reader) take(c byte) bool {
	if r.peek() != c || c == 0 {
		return false
	}
	r.at++
	r.out = append(r.out, c)
	return true
}

func (r *reader) value() (any, error) {
	if r.values++; r.values > r.most.values {
		return nil, errValues
	}
	switch r.peek() {
	case '{':
		return r.nested(r.object)
	case '[':
		return r.nested(r.array)
	case '"':
		return r.str()
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	}
	return r.number()
}

func (r *reader) nested(read func() (any, error)) (any, error) {
	if r.depth++; r.depth > r.most.depth {
		return nil, errDepth
	}
	defer func() { r.depth-- }()
	r.take(r.peek())
	r.blanks()
	return read()
}

func (r *reader) word(w string) error {
	for i := range w {
		if !r.take(w[i]) {
			return errSyntax
		}
	}
	return nil
}

func (r *reader) array() (any, error) {
	list := []any{}
	if r.take(']') {
		return list, nil
	}
	for {
		r.blanks()
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if done, err := r.next(']'); done || err != nil {
			return list, err
		}
	}
}

func (r *reader) object() (any, error) {
	members, folded := map[string]any{}, nameSet{}
	if r.take('}') {
		return members, nil
	}
	for {
		r.blanks()
		name, err := r.name(members, &folded)
		if err != nil {
			return nil, err
		}
		if members[name], err = r.value(); err != nil {
			return nil, err
		}
		if done, err := r.next('}'); done || err != nil {
			return members, err
		}
	}
}

// name reads a name and its colon.
func (r *reader) name(members map[string]any, folded *nameSet) (string, error) {
	name, err := r.str()
	if err != nil {
		return "", err
	}
	if _, twice := members[name]; twice {
		return "", errTwice
	}
	if !folded.add(fold(name)) {
		return "", errVariant
	}
	if r.blanks(); !r.take(':') {
		return "", errSyntax
	}
	r.blanks()
	return name, nil
}

// next reads the comma before another element, or the end of the container.
func (r *reader) next(end byte) (done bool, err error) {
	r.blanks()
	switch {
	case r.take(end):
		return true, nil
	case r.take(','):
		return false, nil
	}
	return false, errSyntax
}

// number keeps a number as it is written (RFC 8259 section 6) where every parser can
// hold it: RFC 7493 section 2.2 asks for no more than a double.
func (r *reader) number() (any, error) {
	from := r.at
	r.skip("-")
	if r.peek() == '0' {
		r.at++
	} else if !r.digits() {
		return nil, errSyntax
	}
	if r.skip(".") && !r.digits() {
		return nil, errSyntax
	}
	if r.skip("eE") {
		if r.skip("+-"); !r.digits() {
			return nil, errSyntax
		}
	}
	text := string(r.in[from:r.at])
	if !inRange(text) {
		return nil, errNumber
	}
	r.out = append(r.out, text...)
	return json.Number(text), nil
}

func (r *reader) skip(oneOf string) bool {
	for i := range oneOf {
		if r.peek() == oneOf[i] {
			r.at++
			return true
		}
	}
	return false
}

func (r *reader) digits() bool {
	from := r.at
	for '0' <= r.peek() && r.peek() <= '9' {
		r.at++
	}
	return r.at > from
}
