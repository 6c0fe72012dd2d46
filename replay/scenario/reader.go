package scenario

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// reader reads blocks in one context and collects what is wrong with them.
type reader struct {
	ctx   *hcl.EvalContext
	diags *hcl.Diagnostics
	known func(host string) bool
}

func (r reader) wrong(at hcl.Range, summary, detail string) {
	*r.diags = append(*r.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
}

// block is a block of which every attribute and block has to be known.
type block struct {
	reader
	*hclsyntax.Block
}

// open checks the names in b against those that it may have, and how many labels it has.
func (r reader) open(b *hclsyntax.Block, labels int, attributes, blocks string) block {
	if len(b.Labels) != labels {
		r.wrong(b.DefRange(), fmt.Sprintf("block %q has %d names, not %d", b.Type, len(b.Labels), labels), "")
	}
	for name, a := range b.Body.Attributes {
		if !slices.Contains(strings.Fields(attributes), name) {
			r.wrong(a.NameRange, fmt.Sprintf("%q has no attribute %q", b.Type, name), "it has "+attributes)
		}
	}
	for _, inner := range b.Body.Blocks {
		if !slices.Contains(strings.Fields(blocks), inner.Type) {
			r.wrong(inner.TypeRange, fmt.Sprintf("%q has no block %q", b.Type, inner.Type), "it has "+blocks)
		}
	}
	return block{r, b}
}

// label is the block's name.
func (b block) label() string {
	if len(b.Labels) == 0 {
		return ""
	}
	return b.Labels[0]
}

func (b block) has(name string) bool { return b.Body.Attributes[name] != nil }

// at is where an attribute has its value, or the block where it has none.
func (b block) at(name string) hcl.Range {
	if a := b.Body.Attributes[name]; a != nil {
		return a.Expr.Range()
	}
	return b.DefRange()
}

// value is an attribute's value, or cty.NilVal where there is none that is whole.
func (r reader) value(e hcl.Expression) cty.Value {
	v, diags := e.Value(r.ctx)
	*r.diags = append(*r.diags, diags...)
	if diags.HasErrors() || v.IsNull() || !v.IsWhollyKnown() {
		if !diags.HasErrors() {
			r.wrong(e.Range(), "a value is missing", "")
		}
		return cty.NilVal
	}
	return v
}

func (b block) value(name string) cty.Value {
	if !b.has(name) {
		return cty.NilVal
	}
	return b.reader.value(b.Body.Attributes[name].Expr)
}

// as is the value as a type of cty, or cty.NilVal.
func (b block) as(name string, t cty.Type, words string) cty.Value {
	v := b.value(name)
	if v == cty.NilVal {
		return v
	}
	out, err := convert.Convert(v, t)
	if err != nil {
		b.wrong(b.at(name), fmt.Sprintf("%q is not %s", name, words), "")
		return cty.NilVal
	}
	return out
}

func (b block) text(name string) string {
	v := b.as(name, cty.String, "a text")
	if v == cty.NilVal {
		return ""
	}
	return v.AsString()
}

// needed is a text that the block must have.
func (b block) needed(name string) string {
	if !b.has(name) {
		b.wrong(b.DefRange(), fmt.Sprintf("%q says no %s", b.Type, name), name+" = …")
		return ""
	}
	s := b.text(name)
	if s == "" {
		b.wrong(b.at(name), fmt.Sprintf("%q is empty", name), "")
	}
	return s
}

// oneOf is a text that is one of several; the first is the default.
func (b block) oneOf(name string, words ...string) string {
	if !b.has(name) {
		return words[0]
	}
	s := b.text(name)
	if !slices.Contains(words, s) {
		b.wrong(b.at(name), fmt.Sprintf("%s = %q", name, s), "it is one of "+strings.Trim(strings.Join(words, ", "), ", "))
	}
	return s
}

func (b block) boolean(name string) bool {
	v := b.as(name, cty.Bool, "true or false")
	return v != cty.NilVal && v.True()
}

func (b block) integer(name string, fallback int) int {
	v := b.as(name, cty.Number, "a number")
	if v == cty.NilVal {
		return fallback
	}
	n, _ := v.AsBigFloat().Int64()
	return int(n)
}

// texts is a list of texts, or one of them.
func (b block) texts(name string) []string {
	v := b.value(name)
	if v == cty.NilVal {
		return nil
	}
	return b.textsOf(v, name)
}

func (b block) textsOf(v cty.Value, name string) (out []string) {
	if v.IsNull() {
		b.wrong(b.at(name), fmt.Sprintf("%q has a value that is missing", name), "")
		return nil
	}
	if v.Type() == cty.String || v.Type() == cty.Number {
		s, err := convert.Convert(v, cty.String)
		if err != nil {
			return nil
		}
		return []string{s.AsString()}
	}
	if !v.CanIterateElements() || v.Type().IsObjectType() || v.Type().IsMapType() {
		b.wrong(b.at(name), fmt.Sprintf("%q is not a list of texts", name), "")
		return nil
	}
	for _, e := range v.AsValueSlice() {
		s, err := convert.Convert(e, cty.String)
		if err != nil || s.IsNull() {
			b.wrong(b.at(name), fmt.Sprintf("%q is not a list of texts", name), "")
			return nil
		}
		out = append(out, s.AsString())
	}
	return out
}

// pairs is a map of texts.
func (b block) pairs(name string) map[string]string {
	v := b.as(name, cty.Map(cty.String), "a map of texts")
	if v == cty.NilVal {
		return nil
	}
	out := make(map[string]string)
	for k, e := range v.AsValueMap() {
		if e.IsNull() {
			b.wrong(b.at(name), fmt.Sprintf("%q has no value for %s", name, k), "")
			continue
		}
		out[k] = e.AsString()
	}
	return out
}

// bytes is a text, or under name_base64 what a text cannot hold, in pieces or in one.
func (b block) bytes(name string) (out []byte) {
	if !b.has(name + "_base64") {
		return []byte(b.text(name))
	}
	if b.has(name) {
		b.wrong(b.at(name), fmt.Sprintf("both %q and %q", name, name+"_base64"), "")
	}
	for _, piece := range b.texts(name + "_base64") {
		decoded, err := base64.StdEncoding.DecodeString(piece)
		if err != nil {
			b.wrong(b.at(name+"_base64"), "this is no base64", err.Error())
		}
		out = append(out, decoded...)
	}
	return out
}

// item is one element of a for_each.
type item struct {
	key, value string
	set        bool
}

func (i item) object() cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(i.key), "value": cty.StringVal(i.value)})
}

// maxItems is how many elements a for_each may have.
const maxItems = 1000

// items are the elements of a for_each: of a map by key, of a list by number.
func (r reader) items(e hcl.Expression) (out []item) {
	v := r.value(e)
	if v == cty.NilVal {
		return nil
	}
	if !v.CanIterateElements() || v.LengthInt() == 0 || v.LengthInt() > maxItems {
		r.wrong(e.Range(), fmt.Sprintf("for_each takes a map or a list of 1 to %d texts", maxItems), `for_each = { dots = "%2e%2e", slash = "%2f" }`)
		return nil
	}
	for it := v.ElementIterator(); it.Next(); {
		k, v := it.Element()
		key, err := convert.Convert(k, cty.String)
		value, err2 := convert.Convert(v, cty.String)
		if err != nil || err2 != nil || value.IsNull() {
			r.wrong(e.Range(), "for_each takes a map or a list of texts", "")
			return nil
		}
		out = append(out, item{key.AsString(), value.AsString(), true})
	}
	return out
}
