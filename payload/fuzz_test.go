package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/url"
	"reflect"
	"testing"

	"scupper.dev/scupper/capability"
)

// once inspects and wants what comes out to pass unchanged; ok is false where the body
// is refused.
func once(t *testing.T, with capability.Inspector, body []byte) (sent []byte, ok bool) {
	t.Helper()
	kept := bytes.Clone(body)
	sent, err := with.Inspect(body)
	if !bytes.Equal(kept, body) {
		t.Fatalf("%q became %q under inspection", kept, body)
	}
	if err != nil {
		return nil, false
	}
	again, err := with.Inspect(sent)
	if err != nil || !bytes.Equal(again, sent) {
		t.Fatalf("%q is sent as %q, and that as %q, %v", body, sent, again, err)
	}
	return sent, true
}

// decode is what encoding/json makes of a text, its numbers kept.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return v, nil
}

// FuzzJSON: what is taken means the same to encoding/json before and after; what comes
// out is compact and passes unchanged; a schema sees the same value.
func FuzzJSON(f *testing.F) {
	s, mistakes := CompileSchema("s.json", []byte(comment))
	if s == nil {
		f.Fatal(mistakes)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		sent, ok := once(t, JSON{}, body)
		judged, fits := once(t, JSON{Schema: s}, body)
		if fits && (!ok || !bytes.Equal(sent, judged)) {
			t.Fatalf("%q is sent as %q, and as %q under a schema", body, sent, judged)
		}
		if !ok {
			return
		}
		before, err1 := decode(body)
		after, err2 := decode(sent)
		if err1 != nil || err2 != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q means %v, %v; %q means %v, %v", body, before, err1, sent, after, err2)
		}
		value, compact, err := read(sent, widest())
		if err != nil || !reflect.DeepEqual(value, after) || !bytes.Equal(compact, sent) {
			t.Fatalf("%q is judged as %v, %v, and means %v", sent, value, err, after)
		}
	})
}

// FuzzForm: what is taken means the same to net/url before and after.
func FuzzForm(f *testing.F) {
	declared := &Form{capability.QueryRule{Parameters: []capability.ParameterRule{
		{Name: "title", Value: capability.Slug()}, {Name: "state", Value: capability.OneOf("open", "closed shut")},
	}}}
	any := &Form{capability.QueryRule{Any: true}}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, form := range []*Form{declared, any} {
			sent, ok := once(t, form, body)
			if !ok {
				continue
			}
			before, err1 := url.ParseQuery(string(body))
			after, err2 := url.ParseQuery(string(sent))
			if err1 != nil || err2 != nil || !reflect.DeepEqual(before, after) {
				t.Fatalf("%q means %v, %v; %q means %v, %v", body, before, err1, sent, after, err2)
			}
			for name, values := range after {
				if Reserved(name) || form == declared && len(values) != 1 {
					t.Fatalf("%q lets %q = %q through", body, name, values)
				}
			}
		}
	})
}

// seen is a part as mime/multipart has it.
type seen struct{ Name, Filename, Content string }

// parts are those of a body with this boundary.
func parts(t *testing.T, body []byte, boundary string) map[seen]int {
	t.Helper()
	out := make(map[seen]int)
	for r := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		content, err := io.ReadAll(p)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		out[seen{p.FormName(), p.FileName(), string(content)}]++
	}
}

// FuzzMultipart: what is taken has the same parts for mime/multipart before and after.
func FuzzMultipart(f *testing.F) {
	name, err := capability.Regexp("[^x]{0,9}")
	if err != nil {
		f.Fatal(err)
	}
	m := &Multipart{[]Part{{Name: "note", Max: 20}, {Name: "text", Type: "text/plain", Max: 20}, {Name: "file", Type: "text/csv", Max: 20, Filename: name}}}
	f.Fuzz(func(t *testing.T, body []byte) {
		sent, ok := once(t, m, body)
		if !ok {
			return
		}
		first, _, _ := bytes.Cut(body, []byte("\r\n"))
		before, after := parts(t, body, string(first[2:])), parts(t, sent, boundary)
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%q has %v; %q has %v", body, before, sent, after)
		}
	})
}

// FuzzSchema: compiling a schema and checking a body by it end.
func FuzzSchema(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, body []byte) {
		s, mistakes := CompileSchema("s.json", text)
		if (s == nil) != (len(mistakes) > 0) {
			t.Fatalf("%v and %d mistakes", s, len(mistakes))
		}
		if s != nil {
			once(t, JSON{Schema: s}, body)
		}
	})
}
