package payload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
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
	name     string
	compiled *jsonschema.Schema
	array    bool   // it says that the whole may be an array
	most     extent // of the bodies that can be checked in bounded time
	names    names
	remarks  []Finding
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

// Remarks are the places where a body can carry more than somebody may have meant.
func (s *Schema) Remarks() []Finding { return s.remarks }

// location is what the library calls the schema; nothing is ever looked for there.
const location = "urn:scupper:schema"

var errLoad = errors.New("a schema reads no other")

// sealed is a loader that refuses everything.
type sealed struct{}

func (sealed) Load(string) (any, error) { return nil, errLoad }

// CompileSchema compiles the schema in text. With a mistake in it there is no schema.
func CompileSchema(name string, text []byte) (*Schema, []Finding) {
	if len(text) > MaxSchema {
		return nil, []Finding{{Says: fmt.Sprintf("it has more than %d bytes", MaxSchema)}}
	}
	doc, _, err := read(text, widest())
	if err != nil {
		return nil, []Finding{{Says: "it cannot be read: " + err.Error()}}
	}
	r := review(doc)
	if len(r.mistakes) > 0 {
		return nil, r.mistakes
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(sealed{})
	compiled, err := compile(c, doc)
	if err != nil {
		return nil, []Finding{misfit(err)}
	}
	s := &Schema{name: name, compiled: compiled, names: r.names, remarks: r.remarks, array: takesArray(compiled, 0)}
	if s.most, err = reach(compiled); err != nil {
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

func compile(c *jsonschema.Compiler, doc any) (*jsonschema.Schema, error) {
	if err := c.AddResource(location, doc); err != nil {
		return nil, err
	}
	return c.Compile(location)
}

// misfit is where the library finds that a schema is none.
func misfit(err error) Finding {
	var invalid *jsonschema.SchemaValidationError
	var at *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &at) {
		leaf := leaves(at)[0]
		path := ""
		for _, token := range leaf.InstanceLocation {
			path += "/" + pointer.Replace(token)
		}
		return Finding{path, "not a schema: " + keyword(leaf)}
	}
	return Finding{Says: strings.ReplaceAll(err.Error(), location, "")}
}

// takesArray reports whether the schema itself names the type.
func takesArray(s *jsonschema.Schema, depth int) bool {
	if s == nil || depth > MaxDepth {
		return false
	}
	if s.Types != nil && slices.Contains(s.Types.ToStrings(), "array") || takesArray(s.Ref, depth+1) {
		return true
	}
	any := func(list []*jsonschema.Schema) bool {
		return slices.ContainsFunc(list, func(t *jsonschema.Schema) bool { return takesArray(t, depth+1) })
	}
	return any(s.AllOf) || any(s.AnyOf) || any(s.OneOf)
}

// check reports where value does not fit: the place, as far as the schema names it, and
// the keyword.
func (s *Schema) check(value any) error {
	if s.names.varied(value) {
		return errVariant
	}
	var invalid *jsonschema.ValidationError
	err := s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	if !errors.As(err, &invalid) {
		return errSyntax
	}
	var places []string
	for _, leaf := range leaves(invalid) {
		places = append(places, fmt.Sprintf("%s: %s", s.place(value, leaf.InstanceLocation), keyword(leaf)))
	}
	slices.Sort(places)
	places = slices.Compact(places)
	return errors.New(strings.Join(places[:min(len(places), maxShown)], "; "))
}

// place is a JSON Pointer to where in value the location leads. A name that is not in
// the schema is the sender's own, and not shown.
func (s *Schema) place(value any, location []string) string {
	var b strings.Builder
	for _, token := range location {
		b.WriteByte('/')
		switch v := value.(type) {
		case []any:
			b.WriteString(token)
			if i, err := strconv.Atoi(token); err == nil && i < len(v) {
				value = v[i]
			}
		case map[string]any:
			if value = v[token]; s.names.exact[token] {
				b.WriteString(pointer.Replace(token))
			} else {
				b.WriteString("…")
			}
		}
	}
	if b.Len() == 0 {
		return "the whole"
	}
	return b.String()
}

// leaves are the first of the errors that have no cause but themselves; there is at
// least one.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var out []*jsonschema.ValidationError
	for _, c := range e.Causes {
		if out = append(out, leaves(c)...); len(out) >= maxLeaves {
			break
		}
	}
	return out
}

func keyword(e *jsonschema.ValidationError) string {
	if e.ErrorKind == nil {
		return "not"
	}
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return "false"
}
