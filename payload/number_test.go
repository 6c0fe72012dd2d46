package payload

import (
	"encoding/json"
	"testing"
)

// TestNumbersAreExact: a number is judged as it is sent, not as a double.
func TestNumbersAreExact(t *testing.T) {
	for _, c := range []struct {
		schema, body string
		fits         bool
	}{
		{`{"maximum":9007199254740992}`, "9007199254740992", true},
		{`{"maximum":9007199254740992}`, "9007199254740993", false},
		{`{"exclusiveMinimum":9007199254740992}`, "9007199254740993", true},
		{`{"minimum":-9007199254740992}`, "-9007199254740993", false},
		{`{"const":9007199254740993}`, "9007199254740992", false},
		{`{"const":9007199254740993}`, "9007199254740993", true},
		{`{"enum":[9007199254740993]}`, "9007199254740992", false},
		{`{"enum":["x",9007199254740993]}`, "9.007199254740993e15", true},
		{`{"enum":[[9007199254740993]]}`, "[9007199254740992]", false},
		{`{"enum":[18446744073709551616]}`, "18446744073709551617", false},
		{`{"type":"array","uniqueItems":true}`, "[9007199254740992,9007199254740993]", true},
		{`{"type":"array","uniqueItems":true}`, "[1,1.0]", false},
		{`{"type":"array","uniqueItems":true}`, `[{"a":1,"b":10},{"b":1e1,"a":1}]`, false},
		{`{"type":"array","uniqueItems":true}`, `["1",1,"n",null,true,"true",[],{},["a,"],["a",""]]`, true},
		{`{"multipleOf":0.01}`, "0.07", true},
		{`{"multipleOf":0.01}`, "0.075", false},
		{`{"multipleOf":2}`, "9007199254740993", false},
		{`{"maximum":0.1}`, "0.10000000000000000001", false},
		{`{"type":"integer"}`, "1.0e0", true},
		{`{"type":"integer"}`, "9007199254740992.5", false},
		{`{"type":"integer"}`, "-0.0", true},
		{`{"const":0}`, "-0e5", true},
		{`{"const":0}`, "false", false},
		{`{"const":"1"}`, "1", false},
		{`{"type":"string"}`, "1", false},
		{`{"maxLength":1}`, "123", true},
		{`{"minLength":99999999999999999999}`, `"a"`, false},
		{`{"maxLength":99999999999999999999}`, `"a"`, true},
	} {
		s := schema(t, c.schema)
		s.array = true
		sent, err := JSON{Schema: s}.Inspect([]byte(c.body))
		if (err == nil) != c.fits || c.fits && string(sent) != c.body {
			t.Errorf("%s by %s: got %s, %v, want %v", c.body, c.schema, sent, err, c.fits)
		}
	}
}

func TestCompare(t *testing.T) {
	ordered := []json.Number{"-1e308", "-10", "-9.99", "-9", "-0.5", "-5e-2", "0", "1e-308", "0.05", "5E-1", "0.51", "9", "9.9", "10", "1.01e1", "1e308"}
	for i, a := range ordered {
		for j, b := range ordered {
			got := decimalOf(a).compare(decimalOf(b))
			if (got < 0) != (i < j) || (got > 0) != (i > j) || got != rational(a).Cmp(rational(b)) {
				t.Errorf("%s and %s: got %d", a, b, got)
			}
		}
	}
}
