package capability

import "testing"

// TestSomeOf: lists of known members, each once, and no room for words of one's own.
func TestSomeOf(t *testing.T) {
	p := SomeOf("a-1", "b-2", "c-3")
	for value, want := range map[string]bool{
		"a-1": true, "b-2,a-1": true, "a-1, b-2": true, "c-3,b-2,a-1": true,
		"": false, ",": false, "a-1,": false, ",a-1": false, "a-1,a-1": false, "a-1,  b-2": false, " a-1": false, "a-1 ": false, "a-1 ,b-2": false,
		"a-1,secret": false, "A-1": false, "a-1;b-2": false, "a-1b-2": false, "a-1,\tb-2": false,
	} {
		if got := p.Match(value); got != want {
			t.Errorf("%q: got %t", value, got)
		}
	}
	if p.Values() != nil || p.String() != `some_of("a-1", "b-2", "c-3")` {
		t.Errorf("%v %s", p.Values(), p)
	}
}
