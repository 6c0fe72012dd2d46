package payload

import (
	"fmt"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

func TestForm(t *testing.T) {
	slug, number := capability.Slug(), capability.OneOf("1", "2")
	f := &Form{capability.QueryRule{Parameters: []capability.ParameterRule{{Name: "title", Value: slug, Required: true}, {Name: "n", Value: number}}}}
	inspect(t, f, []row{
		{"in the order of the policy", "n=1&title=a", "title=a&n=1", ""},
		{"one encoder", "%74itle=%61%2Db", "title=a-b", ""},
		{"missing", "n=1", "", `field "title" is missing`},
		{"nothing", "", "", `field "title" is missing`},
		{"twice", "title=a&n=1&n=2", "", `field "n" occurs more than once`},
		{"twice, encoded", "title=a&title=a&%74itle=b", "", `field "title" occurs more than once`},
		{"another field", "title=a&hunter2=b", "", "a field that is not declared"},
		{"a field of an array", "title=a&n[]=1", "", "a field that is not declared"},
		{"another value", "title=a&n=3", "", `the value of field "n"`},
		{"another case", "Title=a", "", "missing"},
		{"semicolon", "title=a;n=1", "", "read form"},
		{"broken escape", "title=%zz", "", "read form"},
		{"NUL", "title=%00", "", "read form"},
		{"UTF-8, overlong", "title=%c0%ae", "", "read form"},
		{"no pair", "title=a&&n=1", "", "read form"},
		{"line break", "title=a\r\n", "", "read form"},
		{"PATH-10 another method", "title=a&_method=DELETE", "", "another method"},
		{"PATH-10 another method, encoded", "title=a&%5fMETHOD=DELETE", "", "another method"},
	})
	inspect(t, &Form{capability.QueryRule{Any: true}}, []row{
		{"any", "b=1&a=x%20y&b=2", "b=1&a=x+y&b=2", ""},
		{"no value", "a", "a=", ""},
		{"nothing", "", "", ""},
		{"PATH-10 another method", "b=1&_method=DELETE", "", "another method"},
		{"PATH-10 another method in PHP", "b=1&.method=DELETE", "", "another method"},
		{"PATH-10 another method in ASP.NET", "X-HTTP-Method-Override=DELETE", "", "another method"},
		{"another charset", "_charset_=utf-7&a=%2BAD", "", "charset"},
		{"long", strings.Repeat("a", capability.MaxQuery+1), "", "read form"},
	})
}

// form is a body of multipart/form-data; a part is its headers and content.
func multi(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "--x1\r\nContent-Disposition: form-data; %s", p)
	}
	return b.String() + "--x1--\r\n"
}

func TestMultipart(t *testing.T) {
	name, err := capability.Regexp("[a-z./;%\"\\\\-]{1,20}")
	if err != nil {
		t.Fatal(err)
	}
	m := &Multipart{[]Part{
		{Name: "note", Max: 10, Value: capability.Slug(), Required: true},
		{Name: "text", Type: "text/plain", Max: 100},
		{Name: "file", Type: "text/csv", Max: 100, Filename: name},
	}}
	const note, file = "name=\"note\"\r\n\r\nhi\r\n", "name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n"
	out := func(rest string) string {
		return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n" + rest + "--" + boundary + "--\r\n"
	}
	csv := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n"
	text := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"text\"\r\nContent-Type: text/plain\r\n\r\nhi\r\n"
	inspect(t, m, []row{
		{"one", multi(note), out(""), ""},
		{"in the order of the policy", multi(file+"1\r\n2\r\n", note), out(csv + "1\r\n2\r\n"), ""},
		{"no line behind the end", strings.TrimSuffix(multi(note), "\r\n"), out(""), ""},
		{"empty content", multi(note, file+"\r\n"), out(csv + "\r\n"), ""},
		{"something like a boundary", multi(note, file+"\n--x1--\n\r\n"), out(csv + "\n--x1--\n\r\n"), ""},
		{"text without a type", multi(note, "name=\"text\"\r\n\r\nhi\r\n"), out(text), ""},
		{"text with a charset", multi(note, "name=\"text\"\r\nContent-Type: text/plain; charset=UTF-8\r\n\r\nhi\r\n"), out(text), ""},
		{"another charset", multi(note, "name=\"text\"\r\nContent-Type: text/plain; charset=utf-7\r\n\r\nhi\r\n"), "", "other headers"},
		{"preamble", "hello\r\n" + multi(note), "", "begin with a boundary"},
		{"empty preamble", "\r\n" + multi(note), "", "begin with a boundary"},
		{"epilogue", multi(note) + "hello", "", "closing boundary"},
		{"epilogue of a second form", multi(note) + multi(note), "", "closing boundary"},
		{"no end", strings.TrimSuffix(multi(note), "--x1--\r\n"), "", "closing boundary"},
		{"nothing", "", "", "begin with a boundary"},
		{"only an end", "--x1--\r\n", "", "begin with a boundary"},
		{"only a begin", "--x1\r\n", "", "closing boundary"},
		{"padding", strings.Replace(multi(note), "--x1\r\n", "--x1 \r\n", 1), "", "begin with a boundary"},
		{"padding later", strings.Replace(multi(file+"1\r\n", note), "1\r\n--x1\r\n", "1\r\n--x1 \r\n", 1), "", "read differently"},
		{"a longer boundary", multi(note, file+"1\r\n--x12\r\n\r\n"), "", "read differently"},
		{"line feeds", strings.ReplaceAll(multi(note), "\r\n", "\n"), "", "begin with a boundary"},
		{"line feeds in a part", multi("name=\"note\"\n\nhi\r\n"), "", "other headers"},
		{"no disposition", "--x1\r\nContent-Type: text/plain\r\n\r\nhi\r\n--x1--\r\n", "", "other headers"},
		{"no headers", "--x1\r\n\r\nhi\r\n--x1--\r\n", "", "other headers"},
		{"another disposition", strings.Replace(multi(note), "form-data", "attachment", 1), "", "other headers"},
		{"filename*", multi(note, "name=\"file\"; filename*=UTF-8''a.csv\r\nContent-Type: text/csv\r\n\r\n1\r\n"), "", "other headers"},
		{"filename and filename*", multi(note, "name=\"file\"; filename=\"a.csv\"; filename*=UTF-8''b.csv\r\nContent-Type: text/csv\r\n\r\n1\r\n"), "", "other headers"},
		{"filename twice", multi(note, "name=\"file\"; filename=\"a.csv\"; filename=\"b.csv\"\r\nContent-Type: text/csv\r\n\r\n1\r\n"), "", "other headers"},
		{"name twice", multi("name=\"note\"; name=\"file\"\r\n\r\nhi\r\n"), "", "other headers"},
		{"no quotes", multi("name=note\r\n\r\nhi\r\n"), "", "other headers"},
		{"escaped quote", multi(note, "name=\"file\"; filename=\"a\\\"b\"\r\nContent-Type: text/csv\r\n\r\n1\r\n"), "", "other headers"},
		{"a path", multi(note, "name=\"file\"; filename=\"../a.csv\"\r\nContent-Type: text/csv\r\n\r\n1\r\n"), "", "not plain"},
		{"dots", multi(note, "name=\"file\"; filename=\"..\"\r\nContent-Type: text/csv\r\n\r\n1\r\n"), "", "not plain"},
		{"percent", multi(note, "name=\"file\"; filename=\"a%22\"\r\nContent-Type: text/csv\r\n\r\n1\r\n"), "", "the filename of part"},
		{"no filename", multi(note, "name=\"file\"\r\nContent-Type: text/csv\r\n\r\n1\r\n"), "", "lacks one"},
		{"a filename where none is declared", multi("name=\"note\"; filename=\"a\"\r\n\r\nhi\r\n"), "", "has a filename"},
		{"another type", multi(note, "name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/html\r\n\r\n1\r\n"), "", "another type"},
		{"no type", multi(note, "name=\"file\"; filename=\"a.csv\"\r\n\r\n1\r\n"), "", "another type"},
		{"nested", multi(note, "name=\"file\"; filename=\"a.csv\"\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n1\r\n"), "", "other headers"},
		{"a coding", multi(note, "name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\nContent-Transfer-Encoding: base64\r\n\r\n1\r\n"), "", "other headers"},
		{"a type twice", multi(note, "name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\ncontent-type: text/html\r\n\r\n1\r\n"), "", "other headers"},
		{"a folded header", multi(note, "name=\"file\";\r\n filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n1\r\n"), "", "other headers"},
		{"a part twice", multi(note, note), "", `part "note" occurs more than once`},
		{"another part", multi(note, "name=\"hunter2\"\r\n\r\nhi\r\n"), "", "a part that is not declared"},
		{"a part of another case", multi(note, "name=\"Text\"\r\n\r\nhi\r\n"), "", "a part that is not declared"},
		{"missing", multi(file + "1\r\n"), "", `part "note" is missing`},
		{"a value", multi("name=\"note\"\r\n\r\nh i\r\n"), "", `the value of part "note"`},
		{"over its maximum", multi(note, file+strings.Repeat("1", 101)+"\r\n"), "", "over 100 bytes"},
		{"PATH-10 another method", multi(note, "name=\"_method\"\r\n\r\nDELETE\r\n"), "", "another method"},
		{"our own boundary", multi(note, file+"\r\n--"+boundary+"--\r\n"), "", "read differently"},
		{"a boundary with blanks", strings.ReplaceAll(multi(note), "x1", "x 1"), "", "begin with a boundary"},
		{"a boundary without an end", strings.ReplaceAll(multi(note), "x1", strings.Repeat("x", 71)), "", "begin with a boundary"},
	})
}
