package payload

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"unicode/utf8"
)

// assertion is a keyword that holds of a value or does not, whatever schemas are
// around it. It holds of values of a kind that the keyword is not about.
type assertion struct {
	keyword string
	holds   func(value any) bool
}

// assertionMaker makes a check of what stands behind a keyword, nil where that is of
// the wrong kind, and says what the check costs on top, as a number of visits.
type assertionMaker func(v any) (holds func(value any) bool, weight int)

// assertions are the keywords of the validation vocabulary; format is among them.
func assertions() map[string]assertionMaker {
	return map[string]assertionMaker{
		"type": typed, "enum": enumerated, "const": constant, "pattern": patterned, "format": formatted,
		"multipleOf":       multiple,
		"maximum":          limit(func(order int) bool { return order <= 0 }),
		"exclusiveMaximum": limit(func(order int) bool { return order < 0 }),
		"minimum":          limit(func(order int) bool { return order >= 0 }),
		"exclusiveMinimum": limit(func(order int) bool { return order > 0 }),
		"maxLength":        size(characters, atMost),
		"minLength":        size(characters, atLeast),
		"maxItems":         size(elements, atMost),
		"minItems":         size(elements, atLeast),
		"maxProperties":    size(counted, atMost),
		"minProperties":    size(counted, atLeast),
		"uniqueItems":      unique, "required": required, "dependentRequired": dependent,
	}
}

func typed(v any) (func(any) bool, int) {
	names, ok := typeNames(v)
	if !ok {
		return nil, 0
	}
	return func(value any) bool {
		return slices.ContainsFunc(names, func(name string) bool { return isOf(value, name) })
	}, 0
}

func typeNames(v any) ([]string, bool) {
	if name, one := v.(string); one {
		v = []any{name}
	}
	names, ok := texts(v)
	for _, name := range names {
		ok = ok && slices.Contains([]string{"null", "boolean", "object", "array", "number", "string", "integer"}, name)
	}
	return names, ok && len(names) > 0
}

// isOf: a number without a fraction is an integer, however it is written.
func isOf(value any, name string) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case map[string]any:
		return name == "object"
	case []any:
		return name == "array"
	case string:
		return name == "string"
	case json.Number:
		return name == "number" || name == "integer" && decimalOf(v).whole()
	}
	return false
}

func constant(v any) (func(any) bool, int) {
	return func(value any) bool { return equal(value, v) }, 0
}

// enumerated finds scalars at once and compares with the rest one by one.
func enumerated(v any) (func(any) bool, int) {
	values, ok := v.([]any)
	if !ok {
		return nil, 0
	}
	scalars := make(map[any]bool)
	var others []any
	for _, value := range values {
		if s, ok := scalar(value); ok {
			scalars[s] = true
		} else {
			others = append(others, value)
		}
	}
	return func(value any) bool {
		if s, ok := scalar(value); ok {
			return scalars[s]
		}
		return slices.ContainsFunc(others, func(other any) bool { return equal(value, other) })
	}, len(others) / 4
}

// patterned searches with RE2: the time is linear in the string.
func patterned(v any) (func(any) bool, int) {
	text, ok := v.(string)
	expr, err := regexp.Compile(text)
	if !ok || err != nil {
		return nil, 0
	}
	return ofText(expr.MatchString), 0
}

func formatted(v any) (func(any) bool, int) {
	name, _ := v.(string)
	is := formats()[name]
	if is == nil {
		return nil, 0
	}
	return ofText(is), 0
}

func ofText(is func(string) bool) func(any) bool {
	return func(value any) bool {
		text, applies := value.(string)
		return !applies || is(text)
	}
}

func limit(right func(order int) bool) assertionMaker {
	return func(v any) (func(any) bool, int) {
		number, ok := v.(json.Number)
		if !ok {
			return nil, 0
		}
		most := decimalOf(number)
		return func(value any) bool {
			n, applies := value.(json.Number)
			return !applies || right(decimalOf(n).compare(most))
		}, 0
	}
}

// multiple divides without rounding: in doubles 0.07 is no multiple of 0.01.
func multiple(v any) (func(any) bool, int) {
	number, ok := v.(json.Number)
	if !ok || decimalOf(number).compare(decimal{}) <= 0 {
		return nil, 0
	}
	of := rational(number)
	return func(value any) bool {
		n, applies := value.(json.Number)
		return !applies || new(big.Rat).Quo(rational(n), of).IsInt()
	}, 4
}

func atMost(n, limit int) bool  { return n <= limit }
func atLeast(n, limit int) bool { return n >= limit }

func size(of func(value any) (n int, applies bool), right func(n, limit int) bool) assertionMaker {
	return func(v any) (func(any) bool, int) {
		var limit int
		if !countOf(v, &limit) {
			return nil, 0
		}
		return func(value any) bool {
			n, applies := of(value)
			return !applies || right(n, limit)
		}, 0
	}
}

func characters(value any) (int, bool) {
	text, ok := value.(string)
	return utf8.RuneCountInString(text), ok
}

func elements(value any) (int, bool) {
	array, ok := value.([]any)
	return len(array), ok
}

func counted(value any) (int, bool) {
	object, ok := value.(map[string]any)
	return len(object), ok
}

// unique writes each item in one spelling, so that many are compared in linear time.
func unique(v any) (func(any) bool, int) {
	wanted, ok := v.(bool)
	if !ok {
		return nil, 0
	}
	return func(value any) bool {
		array, _ := value.([]any)
		seen := make(map[string]bool)
		for _, item := range array {
			if wanted {
				seen[string(spell(nil, item))] = true
			}
		}
		return !wanted || len(seen) == len(array)
	}, 4
}

func required(v any) (func(any) bool, int) {
	names, ok := texts(v)
	if !ok {
		return nil, 0
	}
	return func(value any) bool {
		object, applies := value.(map[string]any)
		return !applies || hasAll(object, names)
	}, 0
}

func hasAll(object map[string]any, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, has := object[name]; return !has })
}

func dependent(v any) (func(any) bool, int) {
	lists, ok := v.(map[string]any)
	needs := make(map[string][]string)
	for name, list := range lists {
		var each bool
		needs[name], each = texts(list)
		ok = ok && each
	}
	if !ok {
		return nil, 0
	}
	return func(value any) bool {
		object, _ := value.(map[string]any)
		for name, names := range needs {
			if _, has := object[name]; has && !hasAll(object, names) {
				return false
			}
		}
		return true
	}, 0
}

// texts are the strings of a list that has each once.
func texts(v any) ([]string, bool) {
	array, ok := v.([]any)
	var out []string
	for _, item := range array {
		text, is := item.(string)
		ok = ok && is && !slices.Contains(out, text)
		out = append(out, text)
	}
	return out, ok
}
