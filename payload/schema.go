package payload

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of a schema.
const (
	MaxSchema     = 256 << 10 // bytes of its text
	maxSubschemas = 2000
	maxPattern    = 1000    // bytes of a regular expression
	maxVisits     = 200     // of one value while it is checked
	maxWork       = 500_000 // visits of one body, each of some microseconds
	maxShown      = 3       // places in an error
	maxLeaves     = 64      // of which they are the first
)

// Schema is a compiled JSON Schema of draft 2020-12. It does not change and is safe for
// concurrent use. Formats are asserted.
type Schema struct {
	name    string
	sum     string // SHA-256 of its compact text, in hexadecimal
	root    *node
	array   bool   // it says that the whole may be an array
	most    extent // of the bodies that can be checked in bounded time
	names   names
	remarks []Finding
}

// Finding is one thing about a schema and where in it that is.
type Finding struct {
	Path string // JSON Pointer (RFC 6901), empty for the whole
	Says string
}

// String is the place and what is said.
func (f Finding) String() string { return fmt.Sprintf("at %q: %s", f.Path, f.Says) }

// String is the name that the schema was compiled under.
func (s *Schema) String() string { return s.name }

// Sum is equal for schemas of the same text, whatever its blanks.
func (s *Schema) Sum() string { return s.sum }

// Remarks are the places where a body can carry more than somebody may have meant.
func (s *Schema) Remarks() []Finding { return s.remarks }

// CompileSchema compiles the schema in text. With a mistake in it there is no schema.
func CompileSchema(name string, text []byte) (*Schema, []Finding) {
	if len(text) > MaxSchema {
		return nil, []Finding{{Says: fmt.Sprintf("it has more than %d bytes", MaxSchema)}}
	}
	doc, compact, err := read(text, widest())
	if err != nil {
		return nil, []Finding{{Says: "it cannot be read: " + err.Error()}}
	}
	r := review(doc)
	if len(r.mistakes) > 0 {
		return nil, r.mistakes
	}
	root, mistakes := compile(doc)
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	sum := sha256.Sum256(compact)
	s := &Schema{name: name, sum: hex.EncodeToString(sum[:]), root: root, names: r.names, remarks: r.remarks, array: takesArray(root, 0)}
	if s.most, err = reach(root); err != nil {
		return nil, []Finding{{Says: err.Error()}}
	}
	if s.most.depth < MaxDepth {
		s.remark("branches as it descends: bodies nested deeper than %d are refused", s.most.depth)
	}
	if s.most.values < MaxValues {
		s.remark("applies many schemas to one value: bodies of more than %d values are refused", s.most.values)
	}
	return s, nil
}

func (s *Schema) remark(says string, n int) {
	s.remarks = append(s.remarks, Finding{Says: fmt.Sprintf(says, n)})
}

// takesArray reports whether the schema itself names the type.
func takesArray(n *node, depth int) bool {
	if depth > MaxDepth {
		return false
	}
	any := func(list []*node) bool {
		return slices.ContainsFunc(list, func(s *node) bool { return takesArray(s, depth+1) })
	}
	return slices.Contains(n.types, "array") || any(n.every) || any(n.anyOf) || any(n.oneOf)
}

// check reports where value does not fit: the place, as far as the schema names it, and
// the keyword.
func (s *Schema) check(value any) error {
	if s.names.varied(value) {
		return errVariant
	}
	if (&checker{quiet: true}).fits(s.root, value, nil) {
		return nil
	}
	c := &checker{names: s.names}
	c.fits(s.root, value, nil)
	slices.Sort(c.found)
	places := slices.Compact(c.found)
	return errors.New(strings.Join(places[:min(len(places), maxShown)], "; "))
}

// Mismatch is one place where a value does not fit its schema, and the keyword that
// says so.
type Mismatch struct {
	Place   string // JSON Pointer as far as the schema names it, "…" for what it does not; empty for the whole
	Keyword string
}

// Mismatches reads a JSON text as Inspect does and lists where it does not fit the
// schema, the first of each place and keyword. The error is of a text that cannot be
// read in one way only.
func (s *Schema) Mismatches(text []byte) (compact []byte, found []Mismatch, err error) {
	value, compact, err := read(text, s.most)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read JSON: %w", err)
	case s.names.varied(value):
		return nil, nil, errVariant
	}
	if (&checker{quiet: true}).fits(s.root, value, nil) {
		return compact, nil, nil
	}
	c := &checker{names: s.names}
	c.fits(s.root, value, nil)
	slices.Sort(c.found)
	for _, text := range slices.Compact(c.found) {
		at, keyword, _ := strings.Cut(text, ": ")
		if at == whole {
			at = ""
		}
		found = append(found, Mismatch{Place: at, Keyword: keyword})
	}
	return compact, found, nil
}

// Compact reads a JSON text in one way only and writes it anew. An error says what of it
// has a second reading.
func Compact(text []byte) ([]byte, error) {
	_, compact, err := read(text, widest())
	return compact, err
}
