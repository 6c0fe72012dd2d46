package policyfile

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

const commentSchema = `{"type": "object", "additionalProperties": false, "properties": {"body": {"type": "string", "maxLength": 10}}}`

// beside are the files in the folder of the policy.
func beside(files map[string]string) Options {
	return Options{Now: testTime, ReadFile: func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}}
}

// posting is a policy with one body block.
func posting(lines ...string) string {
	return grantWith(allowWith(`methods = ["POST"]`, "body {\n "+strings.Join(lines, "\n ")+"\n}"))
}

const (
	ofJSON  = `type = "application/json"` + "\n max = \"1KiB\""
	ofForm  = `type = "application/x-www-form-urlencoded"` + "\n max = \"1KiB\""
	ofParts = `type = "multipart/form-data"` + "\n max = \"1KiB\""
	ofText  = `type = "text/plain"` + "\n max = \"1KiB\""
)

func TestBodyMistakes(t *testing.T) {
	schema := `schema = file("s.json")`
	for _, c := range []struct {
		name, policy, schema string
		want                 []string
	}{
		{"a schema", posting(ofJSON, schema), commentSchema, nil},
		{"a schema for a suffix", posting(`type = "application/ld+json"`, `max = "1KiB"`, schema), commentSchema, nil},
		{"JSON of any kind", posting(ofJSON), "", only(`warning: the body has no schema ... up to 1KiB of any JSON, credentials and data included: write schema = file("comment.schema.json")`)},
		{"JSON that is not looked at", posting(ofJSON, `inspect = false`), "", only("warning: the body is not inspected ... up to 1KiB of anything")},
		{"not looked at, with a schema", posting(ofJSON, `inspect = false`, schema), commentSchema, only("error: schema where the body is not inspected")},
		{"not looked at, with a coding", posting(ofJSON, `inspect = false`, `coding = "gzip"`), "", []string{"warning: the body is not inspected", "error: a coding without inspection"}},
		{"looked at by name", posting(ofJSON, `inspect = true`, schema, `coding = "gzip"`), commentSchema, nil},
		{"inspect of what is not known", posting(ofText, `inspect = true`), "", []string{"warning: the body is not inspected", `error: nothing is known of bodies of type "text/plain"`}},
		{"a body that would be held whole", posting(`type = "application/json"`, `max = "1GiB"`, schema), commentSchema, only("error: an inspected body of more than 16777216 bytes ... inspect = false")},
		{"a large body that is not looked at", posting(`type = "application/json"`, `max = "1GiB"`, `inspect = false`), "", only("warning: the body is not inspected ... up to 1GiB of anything")},
		{"a schema for text", posting(ofText, schema), commentSchema, only(`error: schema is not for bodies of type "text/plain"`)},
		{"a form for JSON", posting(ofJSON, schema, `form = { a = int }`), commentSchema, only(`error: form is not for bodies of type "application/json"`)},
		{"parts for a form", posting(ofForm, `form = { a = int }`, `parts = { a = { max = "1KiB" } }`), "", only(`error: parts is not for bodies of type "application/x-www-form-urlencoded"`)},
		{"a schema in place", posting(ofJSON, `schema = "{}"`), "", only("error: not a schema ... write schema = file(")},
		{"a schema by another function", posting(ofJSON, `schema = url("https://example.com/s.json")`), "", only("error: not a schema")},
		{"no such file", posting(ofJSON, `schema = file("other.json")`), commentSchema, only(`error: "other.json" cannot be read`)},
		{"a schema that is no JSON", posting(ofJSON, schema), "{", only(`error: "s.json" is not a schema that can be used ... at "": it cannot be read: at byte 1: not JSON`)},
		{"a schema with a name twice", posting(ofJSON, schema), `{"type":"object","type":"string"}`, only(`error: "s.json" is not a schema`)},
		{"a typo in a schema", posting(ofJSON, schema), `{"type":"object","additionalProperties":false,"properties":{"a/b":{"type":"string","maxlength":10,"maxLength":1}}}`, only(`error: "s.json" is not a schema that can be used ... at "": it cannot be read`)},
		{"an unknown keyword", posting(ofJSON, schema), `{"type":"object","additionalProperties":false,"properties":{"a/b":{"type":"string","maxLenght":10}}}`, only(`error: "s.json" is not a schema that can be used ... at "/properties/a~1b/maxLenght": no keyword`)},
		{"a schema elsewhere", posting(ofJSON, schema), `{"$ref":"https://example.com/s.json"}`, only(`error: "s.json" is not a schema that can be used ... at "/$ref": a schema reads no other`)},
		{"several mistakes", posting(ofJSON, schema), `{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string","maxLength":1,"pattern":"("},"b":{"type":"string","maxLength":1,"format":"regex"}}}`,
			[]string{`error: "s.json" is not a schema that can be used ... at "/properties/a/pattern"`, `error: "s.json" is not a schema that can be used ... at "/properties/b/format"`}},
		{"an open schema", posting(ofJSON, schema), `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object"},"c":{}}}`, []string{
			`warning: the schema takes properties of any other name ... at "", "/properties/b": write additionalProperties = false`,
			`warning: the schema takes strings of any length ... at "/properties/a": give maxLength`,
			`warning: the schema takes values of every type ... at "/properties/c"`,
		}},
		{"fields", posting(ofForm, `form = { state = one_of("open", "closed"), n = required(int) }`), "", nil},
		{"no fields", posting(ofForm), "", only("warning: the body has no declared fields ... up to 1KiB of any fields")},
		{"any fields", posting(ofForm, `form = any`), "", only("warning: the body has no declared fields")},
		{"PATH-10 a field for another method", posting(ofForm, `form = { _method = "DELETE" }`), "", only(`error: "_method" is never granted`)},
		{"PATH-10 a parameter for another method", grantWith(allowWith(`query = { _method = "DELETE" }`)), "", only(`error: "_method" is never granted`)},
		{"PATH-10 a part for another method", posting(ofParts, `parts = { "_Method" = { max = "1KiB" } }`), "", only(`error: "_Method" is never granted`)},
		{"PATH-10 a member for another method", posting(ofJSON, schema), `{"type":"object","additionalProperties":false,"properties":{"_method":{"const":"DELETE"}}}`, only(`error: "s.json" is not a schema that can be used ... at "/properties/_method"`)},
		{"a field with a credential", posting(ofForm, `form = { token = slug }`), "", only(`error: credentials ride in the parameter "token"`)},
		{"parts", posting(ofParts, `parts = { note = { value = int, required = true }, report = { type = "text/plain", max = "1KiB", filename = regex("[a-z]{1,9}[.]txt") } }`), "", nil},
		{"no parts", posting(ofParts), "", only("error: the body declares no parts")},
		{"empty parts", posting(ofParts, `parts = {}`), "", only("error: no parts")},
		{"parts that are not looked at", posting(ofParts, `inspect = false`), "", only("warning: the body is not inspected")},
		{"a part without a maximum", posting(ofParts, `parts = { a = { type = "text/plain" } }`), "", only("error: the part has no maximum")},
		{"a nested part", posting(ofParts, `parts = { a = { type = "multipart/mixed", max = "1KiB" } }`), "", only(`error: "multipart/mixed" is not a type that a part may have`)},
		{"a part with other keys", posting(ofParts, `parts = { a = { max = "1KiB", filenam = "x" } }`), "", only(`error: a part has no "filenam" ... did you mean filename?`)},
		{"a part with a quote in its name", posting(ofParts, `parts = { "a\"b" = { max = "1KiB" } }`), "", only(`error: "a\"b" is not the name of a part`)},
		{"DNS-08 on any path", grantWith(allowWith(`methods = ["POST"]`, `path = "/{any...}"`, "body {\n type = \"application/dns-message\"\n max = \"1KiB\"\n}")), "", []string{
			"error: DNS over HTTPS on any path", "warning: the path is every path", "warning: the body is not inspected"}},
		{"DNS-08 on its path", grantWith(allowWith(`methods = ["POST"]`, `path = "/dns-query"`, "body {\n type = \"application/dns-message\"\n max = \"1KiB\"\n}")), "", []string{
			"warning: DNS over HTTPS", "warning: the body is not inspected"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, diags := Parse("policy.hcl", []byte(c.policy), beside(map[string]string{"s.json": c.schema}))
			matchDiagnostics(t, diags, c.want)
			if t.Failed() {
				t.Log(c.policy)
			}
		})
	}
}

// TestBodyInspection: what a policy declares is what is judged and sent, also after it
// was printed.
func TestBodyInspection(t *testing.T) {
	files := map[string]string{"s.json": commentSchema}
	rows := []struct{ name, policy, in, out string }{
		{"JSON", posting(ofJSON, `schema = file("s.json")`), `{ "body": "hello" }`, `{"body":"hello"}`},
		{"JSON, refused", posting(ofJSON, `schema = file("s.json")`), `{"other":"hello"}`, ""},
		{"any JSON", posting(ofJSON), `{ "x": 1 }`, `{"x":1}`},
		{"form", posting(ofForm, `form = { b = int, a = required(slug) }`), `a=x%2Dy&b=7`, `b=7&a=x-y`},
		{"form, refused", posting(ofForm, `form = { b = int }`), `b=7&b=8`, ""},
		{"any form", posting(ofForm), `z=1&a=2+3`, `z=1&a=2+3`},
		{"parts, refused", posting(ofParts, `parts = { n = { value = int } }`), "--x\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nhunter2\r\n--x--", ""},
		{"parts", posting(ofParts, `parts = { n = { value = int, required = true }, f = { type = "text/csv", max = "9B", filename = one_of("a.csv", "b.csv") } }`),
			"--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n1,2\r\n--x\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n7\r\n--x--\r\n",
			"--scupper-0f5d1c9a7be24638\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n7\r\n--scupper-0f5d1c9a7be24638\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n1,2\r\n--scupper-0f5d1c9a7be24638--\r\n"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			first := load(t, r.policy, beside(files)).Policy
			printed := "version = 1\n" + string(Print(first.Grants()))
			second := load(t, printed, beside(files)).Policy
			for _, p := range []*capability.Policy{first, second} {
				got, err := p.Grants()[0].Allows[0].Body.Inspector.Inspect([]byte(r.in))
				if string(got) != r.out || (err == nil) != (r.out != "") {
					t.Errorf("got %q, %v, want %q under\n%s", got, err, r.out, printed)
				}
			}
		})
	}
	opaque := load(t, posting(ofJSON, `inspect = false`), Options{}).Policy.Grants()
	if body := opaque[0].Allows[0].Body; body.Inspector != nil || !strings.Contains(string(Print(opaque)), "inspect = false") {
		t.Errorf("%+v is not printed as what is not looked at:\n%s", body, Print(opaque))
	}
}

// TestSchemaCounts: a schema is part of what was accepted with the policy.
func TestSchemaCounts(t *testing.T) {
	policy := posting(ofJSON, `schema = file("s.json")`)
	files := map[string]string{"s.json": commentSchema}
	before := load(t, policy, beside(files))
	wider := maps.Clone(files)
	wider["s.json"] = strings.Replace(commentSchema, "10", "11", 1)
	if after := load(t, policy, beside(wider)); after.Hash == before.Hash || len(after.Files) != 1 || after.Files[0] != "s.json" {
		t.Errorf("hash %s and files %v, after %s", after.Hash, after.Files, before.Hash)
	}
	_, diags := Parse("policy.hcl", []byte(policy), Options{ReadFile: func(string) ([]byte, error) { return nil, errors.New("disk on fire") }})
	matchDiagnostics(t, diags, only(`error: "s.json" cannot be read: disk on fire`))
}
