package payload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMismatchesNamePlaceAndKeyword(t *testing.T) {
	s, mistakes := CompileSchema("s.json", []byte(`{"type":"object","additionalProperties":false,"required":["path"],
		"properties":{"path":{"type":"string","maxLength":3},"lines":{"type":"array","items":{"type":"integer"}}}}`))
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	for text, want := range map[string][]Mismatch{
		`{"path":"a"}`:                        nil,
		`{}`:                                  {{"", "required"}},
		`{"path":"long"}`:                     {{"/path", "maxLength"}},
		`{"path":"a","secret":1}`:             {{"", "additionalProperties"}},
		`{"path":1,"lines":[1,"x"],"y":true}`: {{"/lines/1", "type"}, {"/path", "type"}, {"", "additionalProperties"}},
		`[]`:                                  {{"", "type"}},
	} {
		_, got, err := s.Mismatches([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s: got - want +\n%s", text, diff)
		}
	}
	for _, text := range []string{``, `{"path":"a","path":"b"}`, `{"path":"a","Path":"b"}`, `{"PATH":"a"}`, "{\"path\":\"\xff\"}", `{"path":"a"}x`, `{"path":"\ud800"}`} {
		if _, _, err := s.Mismatches([]byte(text)); err == nil {
			t.Errorf("%q can be read", text)
		}
		if _, err := Compact([]byte(text)); err == nil && text != `{"PATH":"a"}` {
			t.Errorf("%q has one reading", text)
		}
	}
}
