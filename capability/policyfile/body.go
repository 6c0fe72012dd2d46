package policyfile

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

const bodyExample = `body { type = "application/json" max = "64KiB" }, each attribute on its own line, or body = none`

// body reads the body of an allow block: a block, or `body = none` where a method
// that usually has one is meant without.
func (s *source) body(content *hcl.BodyContent, methods []string, b *hcl.Block) *capability.BodyRule {
	s.once(content.Blocks, "body")
	none := content.Attributes["body"]
	if none != nil && hcl.ExprAsKeyword(bare(none.Expr)) != "none" {
		s.fail(none.Expr.Range(), "not a body", "write "+bodyExample)
		return nil
	}
	block := firstOf(content.Blocks, "body")
	if block == nil {
		s.needsBody(methods, none, b)
		return nil
	}
	if none != nil {
		s.fail(none.NameRange, "a body and none", "the body block is at "+s.place(block.DefRange)+": keep one of the two")
	}
	for _, m := range methods {
		if m == "GET" || m == "HEAD" || m == "OPTIONS" {
			s.fail(block.DefRange, "a body on "+m, "a "+m+" request has none: take the block out, or write a second allow block for the other methods")
			break
		}
	}
	return s.bodyRule(block)
}

func (s *source) needsBody(methods []string, none *hcl.Attribute, b *hcl.Block) {
	if none != nil {
		return
	}
	for _, m := range methods {
		if writes(m) {
			s.fail(b.DefRange, m+" without a declared body", "write "+bodyExample)
			return
		}
	}
}

// writes reports whether requests of the method usually have a body.
func writes(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

func (s *source) bodyRule(b *hcl.Block) *capability.BodyRule {
	content := s.content(b.Body, bodyBlock)
	rule := &capability.BodyRule{}
	if a := content.Attributes["type"]; a == nil {
		s.fail(b.DefRange, "the body has no type", `write type = "application/json"`)
	} else if v, ok := s.word(a.Expr); ok {
		rule.Type = v
		if !isMediaType(v) {
			s.fail(a.Expr.Range(), fmt.Sprintf("%q is not a media type", v), `write it in lower case and without parameters: "application/json"`)
		}
	}
	if a := content.Attributes["max"]; a == nil {
		s.fail(b.DefRange, "the body has no maximum", `write max = "64KiB"`)
	} else {
		rule.Max, _ = s.size(a.Expr)
	}
	s.inspection(rule, content, b)
	s.coding(rule, content)
	return rule
}
