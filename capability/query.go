package capability

import (
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Limits of a query.
const (
	MaxQuery      = 16 << 10 // bytes of the raw query, as it comes and as it is sent
	MaxParameters = 256      // name=value pairs
)

// Parameter is one name=value pair, decoded once.
type Parameter struct{ Name, Value string }

// Query is the query of a request in the order in which it came.
type Query []Parameter

var (
	errQueryLength  = errors.New("the query is too long")
	errQueryCount   = errors.New("the query has too many parameters")
	errQueryPair    = errors.New("a query does not hold empty pairs or nameless values")
	errQueryByte    = errors.New("a query holds printable ASCII without ';', '#' or backslash; everything else is percent-encoded")
	errQueryEscape  = errors.New("a percent sign is followed by two hexadecimal digits")
	errQueryControl = errors.New("a query does not hold control characters or invalid UTF-8, encoded or not")
)

// ParseQuery parses a raw query, without its question mark, as HTML forms encode it.
// It refuses whatever parsers disagree on: semicolons as separators, empty pairs,
// broken escapes, control characters, too many pairs.
func ParseQuery(raw string) (Query, error) {
	if raw == "" {
		return nil, nil
	}
	if len(raw) > MaxQuery {
		return nil, errQueryLength
	}
	grown := 3*len(raw) > MaxQuery // perhaps, once everything is escaped in our way
	n := strings.Count(raw, "&") + 1
	if n > MaxParameters {
		return nil, errQueryCount
	}
	q := make(Query, 0, n)
	for more := true; more; {
		var pair string
		pair, raw, more = strings.Cut(raw, "&")
		p, err := parsePair(pair)
		if err != nil {
			return nil, err
		}
		q = append(q, p)
	}
	if grown && len((&QueryRule{Any: true}).render(q, nil)) > MaxQuery {
		return nil, errQueryLength
	}
	return q, nil
}

func parsePair(pair string) (Parameter, error) {
	for i := 0; i < len(pair); i++ {
		if c := pair[i]; c <= ' ' || c >= 0x7f || c == ';' || c == '#' || c == '\\' {
			return Parameter{}, errQueryByte
		}
	}
	name, value, _ := strings.Cut(pair, "=")
	if name == "" {
		return Parameter{}, errQueryPair
	}
	n, ok1 := unescape(strings.ReplaceAll(name, "+", " "))
	v, ok2 := unescape(strings.ReplaceAll(value, "+", " "))
	if !ok1 || !ok2 {
		return Parameter{}, errQueryEscape
	}
	if !printable(n) || !printable(v) {
		return Parameter{}, errQueryControl
	}
	return Parameter{n, v}, nil
}

func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return utf8.ValidString(s)
}

// QueryRule says which parameters an allow block takes. The zero QueryRule takes none.
type QueryRule struct {
	Any        bool // every parameter, in any number: unbounded, and reported as such
	Parameters []ParameterRule
}

// ParameterRule is one declared parameter. It may occur once.
type ParameterRule struct {
	Name     string
	Value    Pattern
	Required bool
}

// check reports whether q is granted.
func (r *QueryRule) check(q Query) bool {
	if r.Any {
		return true
	}
	if len(q) > len(r.Parameters) {
		return false
	}
	matched := 0
	for i := range r.Parameters {
		rule := &r.Parameters[i]
		found := 0
		for j := range q {
			if q[j].Name != rule.Name {
				continue
			}
			if !rule.Value.Match(q[j].Value) {
				return false
			}
			found++
		}
		if found > 1 || found == 0 && rule.Required {
			return false
		}
		matched += found
	}
	return matched == len(q)
}

// render writes q in the order of the rule, or in its own order where any is taken,
// and then what a credential adds.
func (r *QueryRule) render(q, credential Query) string {
	var b strings.Builder
	if r.Any {
		for _, p := range q {
			writePair(&b, p)
		}
	}
	for _, rule := range r.Parameters {
		for _, p := range q {
			if p.Name == rule.Name {
				writePair(&b, p)
			}
		}
	}
	for _, p := range credential {
		writePair(&b, p)
	}
	return b.String()
}

func writePair(b *strings.Builder, p Parameter) {
	if b.Len() > 0 {
		b.WriteByte('&')
	}
	b.WriteString(url.QueryEscape(p.Name))
	b.WriteByte('=')
	b.WriteString(url.QueryEscape(p.Value))
}
