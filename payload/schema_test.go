package payload

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSchemaMistakes(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 70) + "{}" + strings.Repeat("}", 70)
	wide := `{"anyOf":[` + strings.Repeat("{},", maxSubschemas) + "{}]}"
	for _, c := range []struct{ name, text, want string }{
		{"too large", strings.Repeat(" ", MaxSchema) + "{}", "more than 262144 bytes"},
		{"too deep", deep, "nested too deep"},
		{"too many", wide, "more than 2000 schemas"},
		{"no schema", `[]`, "not a schema"},
		{"a keyword of another kind", `{"properties":{"a/b":{"maxLength":"x"}}}`, `at "/properties/a~1b/maxLength": not a schema`},
		{"a maximum that is text", `{"maximum":"1"}`, `at "/maximum": not a schema`},
		{"a length below zero", `{"maxLength":-1}`, `at "/maxLength": not a schema`},
		{"half an item", `{"minItems":0.5}`, `at "/minItems": not a schema`},
		{"a multiple of zero", `{"multipleOf":0}`, `at "/multipleOf": not a schema`},
		{"no alternatives", `{"anyOf":[]}`, `at "/anyOf": not a schema`},
		{"an alternative that is none", `{"anyOf":[{},1]}`, `at "/anyOf/1": not a schema`},
		{"a property that is none", `{"properties":{"a":null}}`, `at "/properties/a": not a schema`},
		{"properties that are none", `{"properties":[]}`, `at "/properties": not a schema`},
		{"names that are none", `{"required":[1]}`, `at "/required": not a schema`},
		{"a name twice", `{"required":["a","a"]}`, `at "/required": not a schema`},
		{"an enumeration that is none", `{"enum":"a"}`, `at "/enum": not a schema`},
		{"no type", `{"type":[]}`, `at "/type": not a schema`},
		{"an anchor twice", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, `at "/$defs/b/$anchor": not a schema`},
		{"an anchor that is a pointer", `{"$defs":{"a":{"$anchor":"/x"}}}`, `at "/$defs/a/$anchor": not a schema`},
		{"a reference that is no text", `{"$ref":1}`, `at "/$ref": not a schema`},
		{"a format that is not asserted", `{"properties":{"a":{"format":"idn-email"}}}`, `at "/properties/a/format": no format`},
		{"a format that is no text", `{"format":1}`, `at "/format": not a schema`},
		{"a keyword in another case", `{"maxlength":1}`, `at "/maxlength": no keyword`},
		{"a type that is none", `{"type":"text"}`, `at "/type": not a schema`},
		{"another draft", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, "draft 2020-12"},
		{"a keyword of another draft", `{"definitions":{}}`, `at "/definitions": no keyword`},
		{"a keyword that is not enforced", `{"type":"string","contentMediaType":"application/json"}`, "no keyword"},
		{"a dynamic reference", `{"$dynamicRef":"#x"}`, "no keyword"},
		{"a vocabulary", `{"$vocabulary":{"https://example.com/v":true}}`, "no keyword"},
		{"a file", `{"$ref":"other.json"}`, "reads no other"},
		{"an absolute file", `{"$ref":"file:///etc/passwd"}`, "reads no other"},
		{"the network", `{"properties":{"a":{"$ref":"https://203.0.113.9/s.json#/a"}}}`, `at "/properties/a/$ref": a schema reads no other`},
		{"nothing at that place", `{"$ref":"#/$defs/a"}`, "not found"},
		{"a reference that is no schema", `{"$ref":"#/$defs","$defs":{"a":{}}}`, ""},
		{"an address inside", `{"properties":{"a":{"$id":"https://example.com/a"}}}`, "no address of its own"},
		{"a meta-schema by reference", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "reads no other"},
		{"a long pattern", `{"type":"string","pattern":"` + strings.Repeat("a", maxPattern+1) + `"}`, "at most 1000 bytes"},
		{"a pattern that is not RE2", `{"type":"string","pattern":"(?=a)"}`, "RE2"},
		{"a pattern of a name", `{"patternProperties":{"(":{}}}`, `at "/patternProperties/(": not a regular expression`},
		{"a circle", `{"$ref":"#"}`, "refers to itself"},
		{"a longer circle", `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, "refers to itself"},
		{"doubling", doubling(20), "tries too much"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, mistakes := CompileSchema("s.json", []byte(c.text))
			said := fmt.Sprint(mistakes)
			if c.want == "" {
				return // either answer is right; that there is one is what counts
			}
			if s != nil || !strings.Contains(said, c.want) {
				t.Errorf("got %s, want %q", said, c.want)
			}
		})
	}
}

func TestRemarks(t *testing.T) {
	const property = `{"type":"object","additionalProperties":false,"properties":{"a":%s}}`
	for _, c := range []struct{ name, of, want string }{
		{"a length", `{"type":"string","maxLength":3}`, ""},
		{"no length", `{"type":["null","string"]}`, `at "/properties/a": takes strings of any length`},
		{"a short format", `{"type":"string","format":"date"}`, ""},
		{"a long format", `{"type":"string","format":"uri"}`, "any length"},
		{"a pattern with an end", `{"type":"string","pattern":"^[a-z]{1,9}(x|yz)$"}`, ""},
		{"a pattern without an anchor", `{"type":"string","pattern":"^[a-z]{1,9}"}`, "any length"},
		{"a pattern with alternatives at its ends", `{"type":"string","pattern":"^a|b$"}`, "any length"},
		{"a pattern that repeats", `{"type":"string","pattern":"^(ab*)$"}`, "any length"},
		{"a list of values", `{"enum":["a","b"]}`, ""},
		{"no type", `{"minLength":1}`, "every type"},
		{"everything", `true`, "any value"},
		{"nothing", `false`, ""},
		{"an open object", `{"properties":{"b":{"type":"integer"}}}`, "any other name"},
		{"other names of one type", `{"type":"object","additionalProperties":{"type":"integer"}}`, ""},
		{"closed around alternatives", `{"type":"object","unevaluatedProperties":false,"oneOf":[{"properties":{"b":{"type":"integer"}}},{"required":["c"]}]}`, ""},
		{"alternatives inside an open one", `{"oneOf":[{"properties":{"b":{"type":"integer"}}},{"type":"null"}]}`, `at "/properties/a/oneOf/0": takes properties`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := fmt.Sprint(schema(t, fmt.Sprintf(property, c.of)).Remarks())
			if c.want == "" && got != "[]" || !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %q", got, c.want)
			}
		})
	}
}

// doubling is a schema that applies 2^n schemas to one value.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"a%d":{"type":"integer"}}}`, n)
	return b.String()
}

// TestSchemaCost: a schema that tries each level twice checks shallow bodies only, and
// one that does not checks deep ones.
func TestSchemaCost(t *testing.T) {
	const branching = `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","additionalProperties":false,"properties":{"k":{"type":"integer"},"a":{"anyOf":[{"$ref":"#/$defs/n"},{"allOf":[{"$ref":"#/$defs/n"}]}]}}}}}`
	s := schema(t, branching)
	if s.most.depth < 3 || s.most.depth > 12 || !slices.ContainsFunc(s.remarks, func(f Finding) bool { return strings.Contains(f.Says, "branches") }) {
		t.Errorf("depth %d, remarks %v", s.most.depth, s.remarks)
	}
	if _, err := (JSON{Schema: s}).Inspect([]byte(nest(s.most.depth, "1"))); err == nil || strings.Contains(err.Error(), "too deep") {
		t.Errorf("at depth %d: got %v, want a mismatch", s.most.depth, err)
	}
	if _, err := (JSON{Schema: s}).Inspect([]byte(nest(s.most.depth+1, "1"))); err == nil || !strings.Contains(err.Error(), "too deep") {
		t.Errorf("at depth %d: got %v", s.most.depth+1, err)
	}
	tree := schema(t, `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"},"c":{"type":"array","items":{"$ref":"#/$defs/n"}}}}}}`)
	if tree.most.depth != MaxDepth {
		t.Errorf("a tree is checked to depth %d, want %d", tree.most.depth, MaxDepth)
	}
	if _, err := (JSON{Schema: tree}).Inspect([]byte(nest(MaxDepth, `{}`))); err == nil {
		t.Error("one level more was taken")
	}
	if _, err := (JSON{Schema: tree}).Inspect([]byte(nest(MaxDepth-1, `{}`))); err != nil {
		t.Error(err)
	}
}

func nest(levels int, inner string) string {
	return strings.Repeat(`{"a":`, levels) + inner + strings.Repeat("}", levels)
}

// TestWorstBodies: the bodies that cost most end in time.
func TestWorstBodies(t *testing.T) {
	many := "[" + strings.TrimSuffix(strings.Repeat("7,", MaxValues-1), ",") + "]"
	for name, c := range map[string]struct{ schema, body string }{
		"unique numbers": {`{"type":"array","uniqueItems":true}`, many},
		"alternatives": {`{"type":"array","items":{"anyOf":[` + strings.Repeat(`{"const":8},`, 150) + `{"const":9}]}}`,
			"[" + strings.TrimSuffix(strings.Repeat("7,", 3000), ",") + "]"},
		"an enumeration": {`{"type":"array","items":{"enum":[` + strings.Repeat("8,", 700) + `9]}}`,
			"[" + strings.TrimSuffix(strings.Repeat("7,", 2600), ",") + "]"},
		"large exponents": {`{"type":"array","items":{"multipleOf":1e-300}}`,
			"[" + strings.TrimSuffix(strings.Repeat("1e308,", 5000), ",") + "]"},
		"a long string": {`{"type":"string","pattern":"^(a|aa|a?){1,100}$"}`, `"` + strings.Repeat("a", 1<<20) + `"`},
		"a long value that no alternative takes": {`{"anyOf":[` + strings.Repeat(`{"type":"array","items":{"type":"null"}},`, 90) + `{"type":"null"}]}`,
			`"` + strings.Repeat("a", 1<<20) + `"`},
		"unique arrays in arrays": {`{"$ref":"#/$defs/n","$defs":{"n":{"type":"array","uniqueItems":true,"items":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/n"}]}}}}`,
			strings.Repeat("[", 60) + "0" + manyNumbers(40_000) + strings.Repeat("]", 60)},
		"unevaluated names": {`{"allOf":[` + strings.Repeat(`{"patternProperties":{"^n":{}}},`, 40) + `{}],"unevaluatedProperties":false}`, manyNames(10_000)},
		"names":             {`{"patternProperties":{"^(a|b)*c$":{}},"propertyNames":{"maxLength":9}}`, manyNames(20_000)},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := (JSON{Schema: schema(t, c.schema)}).Inspect([]byte(c.body))
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v: %v", took, err)
			} else {
				t.Log(took)
			}
		})
	}
}

func manyNumbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",%d", i+1)
	}
	return b.String()
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"n%d":1`, i)
	}
	return "{" + b.String()[1:] + "}"
}
