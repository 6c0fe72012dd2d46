package payload

import (
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

// row is a body, what is sent in its place, and what the refusal says.
type row struct{ name, body, sent, refused string }

func inspect(t *testing.T, with capability.Inspector, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Helper()
			got, err := with.Inspect([]byte(r.body))
			switch {
			case r.refused != "" && (err == nil || !strings.Contains(err.Error(), r.refused)):
				t.Fatalf("got %q, %v, want an error with %q", got, err, r.refused)
			case r.refused == "" && (err != nil || string(got) != r.sent):
				t.Fatalf("got %q, %v, want %q", got, err, r.sent)
			case r.refused != "":
				return
			}
			if again, err := with.Inspect(got); err != nil || string(again) != string(got) {
				t.Errorf("once more: got %q, %v, want %q", again, err, got)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	inspect(t, JSON{}, []row{
		{"compact, in order", " {\n\t\"b\" : [ 1 , 2.50 ] ,\r\n \"a\" : { } } ", `{"b":[1,2.50],"a":{}}`, ""},
		{"a string", `"x"`, `"x"`, ""},
		{"words", `{"a":true,"b":false,"c":null}`, `{"a":true,"b":false,"c":null}`, ""},
		{"escapes have one spelling", `"\u0061\/\u00e9\uD83D\uDE00\u000A\u001f\""`, "\"a/é😀\\n\\u001f\\\"\"", ""},
		{"numbers as written", `{"a":[-0,0,1E+2,1e-7,-12.50,12345678901234567890]}`, `{"a":[-0,0,1E+2,1e-7,-12.50,12345678901234567890]}`, ""},
		{"a member named like a method elsewhere", `{"a":{"_method":"DELETE"}}`, `{"a":{"_method":"DELETE"}}`, ""},
		{"nothing", "", "", "no value"},
		{"blanks", " ", "", "no value"},
		{"byte order mark", "\ufeff{}", "", "byte order mark"},
		{"UTF-16", "\xfe\xff\x00{\x00}", "", "not UTF-8"},
		{"Latin-1", "\"\xe9\"", "", "not UTF-8"},
		{"overlong", "\"\xc0\xaf\"", "", "not UTF-8"},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", "", "not UTF-8"},
		{"twice", `{"a":1,"a":2}`, "", "twice"},
		{"twice, one escaped", `{"a":1,"\u0061":2}`, "", "twice"},
		{"twice, deep", `{"x":[{"a":1,"b":2,"a":1}]}`, "", "twice"},
		{"another case", `{"role":1,"Role":2}`, "", "case only"},
		{"another case, Kelvin", "{\"key\":1,\"\u212aey\":2}", "", "case only"},
		{"another case, long s", "{\"user\":1,\"u\u017fer\":2}", "", "case only"},
		{"another case among many", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"A":1}`, "", "case only"},
		{"another case, the last of many", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"I":1}`, "", "case only"},
		{"half a pair", `"\ud800"`, "", "surrogate"},
		{"halves swapped", `"\ude00\ud83d"`, "", "surrogate"},
		{"half a pair, then text", `"\ud800\u0061"`, "", "surrogate"},
		{"NUL", `{"a\u0000b":1}`, "", "NUL"},
		{"NUL byte", "\"a\x00b\"", "", "not JSON"},
		{"a line break in a string", "\"a\nb\"", "", "not JSON"},
		{"trailing value", `{} {}`, "", "behind"},
		{"trailing comma", `[1,]`, "", "not JSON"},
		{"trailing comma in an object", `{"a":1,}`, "", "not JSON"},
		{"comment", `{/**/"a":1}`, "", "not JSON"},
		{"single quotes", `{'a':1}`, "", "not JSON"},
		{"no quotes", `{a:1}`, "", "not JSON"},
		{"no colon", `{"a" 1}`, "", "not JSON"},
		{"NaN", `NaN`, "", "not JSON"},
		{"Infinity", `-Infinity`, "", "not JSON"},
		{"leading zero", `{"a":01}`, "", "not JSON"},
		{"plus", `+1`, "", "not JSON"},
		{"hexadecimal", `0x10`, "", "behind"},
		{"no digit behind the point", `1.`, "", "not JSON"},
		{"no digit before the point", `.5`, "", "not JSON"},
		{"infinite", `1e309`, "", "range"},
		{"zero by rounding", `1e-999`, "", "range"},
		{"an exponent to compute with", `0e1000000000`, "", "range"},
		{"a long number", strings.Repeat("1", 65), "", "range"},
		{"unfinished", `{"a":[1,{"b":"`, "", "not JSON"},
		{"unfinished escape", `"\`, "", "not JSON"},
		{"unfinished code", `"\u12`, "", "not JSON"},
		{"odd escape", `"\x41"`, "", "not JSON"},
		{"signed code", `"\u+123"`, "", "not JSON"},
		{"other blanks", "\v{}", "", "not JSON"},
		{"deep", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "", "nested too deep"},
		{"many", `{"a":[` + strings.Repeat("1,", MaxValues) + `1]}`, "", "too many values"},
		{"a batch", `[{"jsonrpc":"2.0","method":"read","id":1},{"jsonrpc":"2.0","method":"delete","id":2}]`, "", "array of requests"},
		{"a batch of one", ` [{"jsonrpc":"2.0","method":"read","id":1}]`, "", "array of requests"},
		{"an empty batch", `[]`, "", "array of requests"},
		{"method in a member", `{"title":"x","_method":"DELETE"}`, "", "another method"},
		{"method in a member, escaped", `{"\u005fMethod":"DELETE"}`, "", "another method"},
	})
}

func schema(t *testing.T, text string) *Schema {
	t.Helper()
	s, mistakes := CompileSchema("test.schema.json", []byte(text))
	if s == nil {
		t.Fatalf("%v in %s", mistakes, text)
	}
	return s
}

const comment = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.com/comment",
	"type": "object", "additionalProperties": false, "required": ["comment"],
	"properties": {
		"comment": {"type": "object", "properties": {"body": {"type": "string", "maxLength": 10}, "tags": {"type": "array", "maxItems": 2, "items": {"$ref": "#/$defs/tag"}}}},
		"when": {"type": "string", "format": "date"}, "n": {"type": "integer", "maximum": 10}
	},
	"$defs": {"tag": {"type": "string", "pattern": "^[a-z]{1,4}$"}}
}`

func TestSchema(t *testing.T) {
	inspect(t, JSON{Schema: schema(t, comment)}, []row{
		{"fits", `{"comment": {"body": "hello", "tags": ["a", "b"]}, "n": 10}`, `{"comment":{"body":"hello","tags":["a","b"]},"n":10}`, ""},
		{"what is left open", `{"comment": {"more": 1}}`, `{"comment":{"more":1}}`, ""},
		{"too long", `{"comment":{"body":"hunter2hunter2"}}`, "", "/comment/body: maxLength"},
		{"a pattern", `{"comment":{"tags":["ok","hunter2"]}}`, "", "/comment/tags/1: pattern"},
		{"a type", `[]`, "", "array of requests"},
		{"another property", `{"comment":{},"hunter2":1}`, "", "the whole: additionalProperties"},
		{"a missing property", `{}`, "", "the whole: required"},
		{"a format", `{"comment":{},"when":"hunter2"}`, "", "/when: format"},
		{"a number", `{"comment":{},"n":10.5}`, "", "/n: type"},
		{"a number with an exponent", `{"comment":{},"n":1e1}`, `{"comment":{},"n":1e1}`, ""},
		{"another case of a property that is left open", `{"comment":{"Body":"hunter2hunter2"}}`, "", "case only"},
	})
	inspect(t, JSON{Schema: schema(t, `{"type": "array", "items": {"type": "object", "maxProperties": 1}}`)}, []row{
		{"arrays where the schema says so", `[{"a":1}]`, `[{"a":1}]`, ""},
		{"names that the schema has not", `[{"a":1,"hunter2":1}]`, "", "/0: maxProperties"},
	})
	inspect(t, JSON{Schema: schema(t, `{"additionalProperties": {"type": "integer"}}`)}, []row{
		{"a name that the sender chose", `{"hunter2":"x"}`, "", "/…: type"},
		{"arrays where it does not", `[1]`, "", "array of requests"},
	})
	inspect(t, JSON{Schema: schema(t, `{"anyOf": [{"type": "integer"}, {"not": {}}, {"const": "hunter3"}]}`)}, []row{
		{"alternatives", `"hunter2"`, "", "const"},
	})
}

// TestFold: the short way comes to the same as the long one.
func TestFold(t *testing.T) {
	for c := range rune(0x80) {
		if got, want := fold(string(c)), strings.TrimSuffix(fold(string(c)+"\u00e9"), fold("\u00e9")); got != want {
			t.Errorf("%q: got %q, want %q", c, got, want)
		}
	}
	if fold("\u212a") != fold("k") || fold("\u017f") != fold("S") {
		t.Error("the Kelvin sign and the long s are letters of their own")
	}
}

// TestErrorsHoldNothingOfTheBody: whatever is refused, the error has no word of it.
func TestErrorsHoldNothingOfTheBody(t *testing.T) {
	s := schema(t, comment)
	for _, body := range []string{
		`{"hunter2":"hunter2"}`, `{"comment":{"body":"hunter2hunter2"}}`, `{"comment":"hunter2"}`, `{"comment":{"tags":[{"hunter2":"hunter2"}]}}`,
		`{"hunter2":1,"hunter2":2}`, `"hunter2`, `hunter2`, `{"when":"hunter2"}`, `["hunter2"]`,
	} {
		_, err := JSON{Schema: s}.Inspect([]byte(body))
		if err == nil || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: got %v", body, err)
		}
	}
}
