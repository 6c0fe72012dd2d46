package payload

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"scupper.dev/scupper/capability"
)

// Form inspects application/x-www-form-urlencoded. The rules are those of a query:
// declared fields, each once, sent in the order of the rule. The zero Form takes none.
type Form struct {
	Rule capability.QueryRule
}

var (
	errField    = errors.New("a field that is not declared")
	errReserved = errors.New("a field that asks for another method or charset")
)

// Reserved reports whether a field of that name would have origins act on another
// method, or read the other fields in another charset (RFC 7578 section 4.6).
func Reserved(name string) bool {
	return capability.AsksMethod(name) || strings.EqualFold(name, "_charset_")
}

// Inspect reads body and writes it anew.
func (f *Form) Inspect(body []byte) ([]byte, error) {
	fields, err := capability.ParseQuery(string(body))
	if err != nil {
		return nil, fmt.Errorf("read form: %w", err)
	}
	for _, field := range fields {
		if Reserved(field.Name) {
			return nil, fmt.Errorf("check form: %w", errReserved)
		}
	}
	if f.Rule.Any {
		return encode(fields), nil
	}
	ordered, err := f.order(fields)
	if err != nil {
		return nil, fmt.Errorf("check form: %w", err)
	}
	return encode(ordered), nil
}

// order checks fields and brings them into the order of the rule.
func (f *Form) order(fields capability.Query) (capability.Query, error) {
	var ordered capability.Query
	for _, rule := range f.Rule.Parameters {
		before := len(ordered)
		for _, field := range fields {
			if field.Name == rule.Name {
				ordered = append(ordered, field)
			}
		}
		switch n := len(ordered) - before; {
		case n > 1:
			return nil, fmt.Errorf("field %q occurs more than once", rule.Name)
		case n == 0 && rule.Required:
			return nil, fmt.Errorf("field %q is missing", rule.Name)
		case n == 1 && !rule.Value.Match(ordered[before].Value):
			return nil, fmt.Errorf("the value of field %q is not %s", rule.Name, rule.Value)
		}
	}
	if len(ordered) < len(fields) {
		return nil, errField
	}
	return ordered, nil
}

func encode(fields capability.Query) []byte {
	pairs := make([]string, len(fields))
	for i, f := range fields {
		pairs[i] = url.QueryEscape(f.Name) + "=" + url.QueryEscape(f.Value)
	}
	return []byte(strings.Join(pairs, "&"))
}
