package payload

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// unlimited is a count that nothing reaches.
const unlimited = math.MaxInt

// decimal is a number exactly, in one form however it was written: 0.digits times ten
// to the power of point. Zero has no digits. A double would take 2^53+1 for 2^53.
type decimal struct {
	negative bool
	digits   string // no zero at either end
	point    int
}

// decimalOf reads a number of JSON that is in range.
func decimalOf(n json.Number) decimal {
	text, negative := strings.CutPrefix(string(n), "-")
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		exponent, _ = strconv.Atoi(text[i+1:]) // at most 308, as inRange has it
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	point := exponent + len(digits) - len(fraction)
	if digits = strings.TrimRight(digits, "0"); digits == "" {
		return decimal{}
	}
	return decimal{negative, digits, point}
}

// whole reports whether there is no fraction.
func (d decimal) whole() bool { return d.point >= len(d.digits) }

// compare is negative where d is less than other, and zero where they are equal.
func (d decimal) compare(other decimal) int {
	if order := cmp.Compare(d.sign(), other.sign()); order != 0 {
		return order
	}
	return d.sign() * cmp.Or(cmp.Compare(d.point, other.point), cmp.Compare(d.digits, other.digits))
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// rational is n for arithmetic.
func rational(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat) // not for what a reader returns
	}
	return r
}

// countOf sets to to a whole number that is not negative.
func countOf(v any, to *int) bool {
	n, ok := v.(json.Number)
	d := decimalOf(n)
	if !ok || d.sign() < 0 || !d.whole() {
		return false
	}
	count, err := strconv.Atoi(cmp.Or(d.digits, "0") + strings.Repeat("0", d.point-len(d.digits)))
	if *to = count; err != nil {
		*to = unlimited
	}
	return true
}

// scalar is a value that a map can have as its key, equal for equal values.
func scalar(v any) (any, bool) {
	switch v := v.(type) {
	case json.Number:
		return decimalOf(v), true
	case nil, bool, string:
		return v, true
	}
	return nil, false
}

// equal compares as section 4.2.2 of the core specification says: numbers by value,
// objects without an order.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	}
	x, _ := scalar(a)
	y, ok := scalar(b)
	return ok && x == y
}

// spell appends v in one spelling for all that is equal to it, and for nothing else.
func spell(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, 'n')
	case bool:
		return strconv.AppendBool(out, v)
	case string:
		return appendString(out, []byte(v))
	case json.Number:
		d := decimalOf(v)
		out = append(strconv.AppendInt(out, int64(d.sign()), 10), d.digits...)
		return strconv.AppendInt(append(out, 'e'), int64(d.point), 10)
	case []any:
		out = append(out, '[')
		for _, item := range v {
			out = append(spell(out, item), ',')
		}
		return append(out, ']')
	case map[string]any:
		out = append(out, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(spell(appendString(out, []byte(name)), v[name]), ',')
		}
		return append(out, '}')
	}
	return out
}
