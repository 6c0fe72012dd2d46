package payload

import (
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
)

// role is what stands behind a keyword.
type role int

const (
	plain  role = iota // a value that holds no schema
	one                // a schema
	list               // a list of schemas
	byName             // an object of schemas
)

// keywords are those of draft 2020-12 that are enforced, and annotations. What is not
// among them would be passed over in silence, and the schema be wider than it looks.
func keywords() map[string]role {
	words := map[string]role{
		"allOf": list, "anyOf": list, "oneOf": list, "prefixItems": list,
		"not": one, "if": one, "then": one, "else": one, "items": one, "contains": one,
		"additionalProperties": one, "propertyNames": one, "unevaluatedItems": one, "unevaluatedProperties": one,
		"properties": byName, "patternProperties": byName, "dependentSchemas": byName, "$defs": byName,
	}
	for _, w := range strings.Fields(`$schema $id $ref $anchor $comment title description default examples deprecated readOnly writeOnly
		type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format
		maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired`) {
		words[w] = plain
	}
	return words
}

// inPlace are keywords whose schemas are for the same value.
var inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}

// short are the formats whose values have few characters.
var short = []string{"date", "date-time", "time", "duration", "ipv4", "ipv6", "uuid"}

// pointer escapes one part of a JSON Pointer (RFC 6901 section 3).
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// names are those that a schema gives to properties.
type names struct{ exact, folded map[string]bool }

func (n names) add(name string) {
	n.exact[name] = true
	n.folded[fold(name)] = true
}

// varied reports whether value has a name that differs from one of the schema in its
// case only: a server that does not care would read past the schema.
func (n names) varied(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, n.varied)
	case map[string]any:
		for name, member := range v {
			if !n.exact[name] && n.folded[fold(name)] || n.varied(member) {
				return true
			}
		}
	}
	return false
}

// reviewer walks a schema before it is compiled.
type reviewer struct {
	words      map[string]role
	formats    map[string]func(string) bool
	names      names
	subschemas int
	references bool
	mistakes   []Finding
	remarks    []Finding
}

func review(doc any) *reviewer {
	r := &reviewer{words: keywords(), formats: formats(), names: names{make(map[string]bool), make(map[string]bool)}}
	r.schema(doc, "", false)
	if object, ok := doc.(map[string]any); ok {
		r.top(object)
	}
	return r
}

func (r *reviewer) mistake(path, says string) { r.mistakes = append(r.mistakes, Finding{path, says}) }
func (r *reviewer) remark(path, says string)  { r.remarks = append(r.remarks, Finding{path, says}) }

// top looks at what only the whole schema can say.
func (r *reviewer) top(s map[string]any) {
	if draft, ok := s["$schema"].(string); ok && strings.TrimSuffix(draft, "#") != "https://json-schema.org/draft/2020-12/schema" {
		r.mistake("/$schema", `schemas are of draft 2020-12: write "https://json-schema.org/draft/2020-12/schema", and look at what changed since`)
	}
	properties, _ := s["properties"].(map[string]any)
	for name := range properties {
		if capability.AsksMethod(name) {
			r.mistake("/properties/"+pointer.Replace(name), "a member that asks for another method is refused in every body: take it out")
		}
	}
}

// schema looks at one schema. closed says that another one at the same place refuses
// properties that none names.
func (r *reviewer) schema(v any, path string, closed bool) {
	if r.subschemas++; r.subschemas == maxSubschemas+1 {
		r.mistake(path, fmt.Sprintf("it has more than %d schemas in it", maxSubschemas))
	}
	s, ok := v.(map[string]any)
	if r.subschemas > maxSubschemas || !ok {
		if v == true && !closed {
			r.remark(path, "takes any value")
		}
		return
	}
	closed = closed || s["unevaluatedProperties"] == false || s["additionalProperties"] == false
	r.values(s, path)
	r.free(s, path, closed)
	for _, word := range slices.Sorted(maps.Keys(s)) {
		below := path + "/" + pointer.Replace(word)
		kind, known := r.words[word]
		if !known {
			r.mistake(below, "no keyword of draft 2020-12 that is enforced here: take it out")
			continue
		}
		r.descend(kind, s[word], below, closed && slices.Contains(inPlace, word))
	}
}

func (r *reviewer) descend(kind role, v any, path string, closed bool) {
	switch kind {
	case one:
		r.schema(v, path, closed)
	case list:
		items, _ := v.([]any)
		for i, item := range items {
			r.schema(item, fmt.Sprintf("%s/%d", path, i), closed)
		}
	case byName:
		members, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			r.schema(members[name], path+"/"+pointer.Replace(name), closed)
		}
	}
}

// values looks at what holds no schema.
func (r *reviewer) values(s map[string]any, path string) {
	if ref, ok := s["$ref"].(string); ok {
		if r.references = true; !strings.HasPrefix(ref, "#") {
			r.mistake(path+"/$ref", `a schema reads no other: copy it into $defs and write "#/$defs/..."`)
		}
	}
	if _, ok := s["$id"]; ok && path != "" {
		r.mistake(path+"/$id", "a part has no address of its own: take it out")
	}
	if format, ok := s["format"].(string); ok && r.formats[format] == nil {
		r.mistake(path+"/format", "no format that is enforced here: they are "+strings.Join(slices.Sorted(maps.Keys(r.formats)), ", "))
	}
	if pattern, ok := s["pattern"].(string); ok {
		r.pattern(pattern, path+"/pattern")
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for pattern := range patterns {
		r.pattern(pattern, path+"/patternProperties/"+pointer.Replace(pattern))
	}
	properties, _ := s["properties"].(map[string]any)
	for name := range properties {
		r.names.add(name)
	}
}

func (r *reviewer) pattern(text, path string) {
	if _, err := regexp.Compile(text); err != nil || len(text) > maxPattern {
		r.mistake(path, fmt.Sprintf("not a regular expression of RE2 with at most %d bytes", maxPattern))
	}
}

// free remarks on a schema that leaves room.
func (r *reviewer) free(s map[string]any, path string, closed bool) {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { _, ok := s[w]; return ok })
	}
	_, properties := s["properties"]
	if (properties || named(s["type"], "object")) && !closed && !has("additionalProperties", "unevaluatedProperties") {
		r.remark(path, "takes properties of any other name: write additionalProperties = false")
	}
	if pattern, _ := s["pattern"].(string); has("enum", "const", "maxLength") || bounded(pattern) {
		return
	}
	if format, _ := s["format"].(string); named(s["type"], "string") && !slices.Contains(short, format) {
		r.remark(path, "takes strings of any length: give maxLength")
	}
	if !closed && !has("type", "$ref", "properties", "items", "prefixItems", "required", "not", "if", "$defs") && !has(inPlace...) {
		r.remark(path, "takes values of every type: give type")
	}
}

// bounded reports whether strings that match the pattern have a longest one.
func bounded(pattern string) bool {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || tree.Op != syntax.OpConcat || len(tree.Sub) == 0 {
		return false
	}
	first, last := tree.Sub[0], tree.Sub[len(tree.Sub)-1]
	return first.Op == syntax.OpBeginText && last.Op == syntax.OpEndText && !repeats(tree)
}

// repeats reports whether there is a part that may occur without end.
func repeats(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max < 0 || slices.ContainsFunc(re.Sub, repeats)
}

// named reports whether the value of type names t.
func named(v any, t string) bool {
	if v == t {
		return true
	}
	several, _ := v.([]any)
	return slices.Contains(several, any(t))
}
