package policyfile

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Expressions are read off the syntax tree and never evaluated: a policy means what
// it says, whatever the environment.

// str reads a plain string.
func (s *source) str(e hcl.Expression) (string, bool) {
	if v, ok := s.bound[hcl.ExprAsKeyword(e)]; ok {
		return v.text, true
	}
	switch e := bare(e).(type) {
	case *hclsyntax.TemplateExpr:
		var b strings.Builder
		for _, p := range e.Parts {
			lit, ok := p.(*hclsyntax.LiteralValueExpr)
			if !ok || lit.Val.Type() != cty.String {
				return "", s.noTemplate(e.Range())
			}
			b.WriteString(lit.Val.AsString())
		}
		return b.String(), s.visible(b.String(), e.Range())
	case *hclsyntax.TemplateWrapExpr:
		return "", s.noTemplate(e.Range())
	default:
		s.fail(e.Range(), "not a string", `write it in double quotes: "..."`)
		return "", false
	}
}

func (s *source) noTemplate(at hcl.Range) bool {
	s.fail(at, "a policy has no templates", `"${" and "%{" begin one; where they stand for themselves they are written "$${" and "%%{"`)
	return false
}

// visible refuses what a person would not see, and what could end a line or a string
// in the places where the value is used later: logs, terminals, generated files.
func (s *source) visible(value string, at hcl.Range) bool {
	for _, c := range value {
		if !unicode.IsPrint(c) {
			s.fail(at, fmt.Sprintf("the value holds the invisible character %U", c), "control characters, line breaks and invisible characters have no place in a policy's values")
			return false
		}
	}
	return true
}

// word is visible text without blanks and quotes: names, hosts, paths.
func (s *source) word(e hcl.Expression) (string, bool) {
	v, ok := s.str(e)
	if !ok {
		return "", false
	}
	return v, s.unquoted(v, e.Range())
}

func (s *source) unquoted(v string, at hcl.Range) bool {
	if i := strings.IndexAny(v, " \"'`\\"); i >= 0 {
		s.fail(at, fmt.Sprintf("the value holds the character %q", v[i]), "blanks, quotes and backslashes have no place here; in a path they are written percent-encoded: %20, %22, %27")
		return false
	}
	return true
}

// integer reads a whole number from 1 to most.
func (s *source) integer(e hcl.Expression, most int64) (int64, bool) {
	lit, ok := bare(e).(*hclsyntax.LiteralValueExpr)
	if ok && !lit.Val.IsNull() && lit.Val.Type() == cty.Number {
		n, accuracy := lit.Val.AsBigFloat().Int64()
		if accuracy == big.Exact && n >= 1 && n <= most {
			return n, true
		}
	}
	detail := fmt.Sprintf("write a whole number from 1 to %d, without quotes", most)
	if most == math.MaxInt64 {
		detail = "write a whole number above zero, without quotes"
	}
	s.fail(e.Range(), "not a number in range", detail)
	return 0, false
}

func (s *source) boolean(e hcl.Expression) (value, ok bool) {
	lit, isLit := bare(e).(*hclsyntax.LiteralValueExpr)
	if isLit && !lit.Val.IsNull() && lit.Val.Type() == cty.Bool {
		return lit.Val.True(), true
	}
	s.fail(e.Range(), "not a boolean", "write true or false")
	return false, false
}

// list reads the items of a list.
func (s *source) list(e hcl.Expression, example string) ([]hclsyntax.Expression, bool) {
	tuple, ok := bare(e).(*hclsyntax.TupleConsExpr)
	if !ok || len(tuple.Exprs) == 0 {
		s.fail(e.Range(), "not a list, or an empty one", "write it as "+example)
		return nil, false
	}
	return tuple.Exprs, true
}

// item is one key of an object.
type item struct {
	key   string
	at    hcl.Range
	value hcl.Expression
}

// object reads the items of an object, in order, each key once.
func (s *source) object(e hcl.Expression, example string) ([]item, bool) {
	object, ok := bare(e).(*hclsyntax.ObjectConsExpr)
	if !ok {
		s.fail(e.Range(), "not an object", "write it as "+example)
		return nil, false
	}
	seen := make(map[string]bool)
	items := make([]item, 0, len(object.Items))
	for _, i := range object.Items {
		at := i.KeyExpr.Range()
		key := hcl.ExprAsKeyword(i.KeyExpr)
		if key == "" {
			var read bool
			if key, read = s.key(i.KeyExpr); !read {
				ok = false
				continue
			}
		}
		if seen[key] {
			s.fail(at, fmt.Sprintf("%q is given twice", key), "each name stands once")
			ok = false
			continue
		}
		seen[key] = true
		items = append(items, item{key, at, i.ValueExpr})
	}
	return items, ok
}

func (s *source) key(e hclsyntax.Expression) (string, bool) {
	if k, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		e = k.Wrapped
	}
	return s.str(e)
}

// bare is e without parentheses around it.
func bare(e hcl.Expression) hcl.Expression {
	for {
		p, ok := e.(*hclsyntax.ParenthesesExpr)
		if !ok {
			return e
		}
		e = p.Expression
	}
}

// call is e as a function call; ok is false where it is none.
func call(e hcl.Expression) (name string, args []hclsyntax.Expression, ok bool) {
	c, ok := bare(e).(*hclsyntax.FunctionCallExpr)
	if !ok || c.ExpandFinal {
		return "", nil, false
	}
	return c.Name, c.Args, true
}
