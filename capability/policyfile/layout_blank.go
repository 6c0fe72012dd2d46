package policyfile

import "github.com/hashicorp/hcl/v2/hclsyntax"

// apart reports whether a blank stands between two words; before is the word before them.
func apart(before, left, right word) bool {
	switch {
	case right.is(hclsyntax.TokenNewline, hclsyntax.TokenComma, hclsyntax.TokenEllipsis), tight(left, right):
		return false
	case left.is(hclsyntax.TokenComma):
		return true
	case withinTemplate(left, right):
		return false
	case left.is(hclsyntax.TokenIdent) && string(left.Bytes) == "in" && before.is(hclsyntax.TokenIdent):
		return true // `for x in [...]` is no index
	case right.is(hclsyntax.TokenOBrack) && (left.is(hclsyntax.TokenIdent, hclsyntax.TokenNumberLit) || bracket(left.Type) < 0):
		return false // an index
	case left.is(hclsyntax.TokenBang):
		return false
	case left.is(hclsyntax.TokenMinus):
		return operand(before) // else it is a sign
	case left.is(hclsyntax.TokenOBrace) || right.is(hclsyntax.TokenCBrace):
		return !left.is(hclsyntax.TokenOBrace) || !right.is(hclsyntax.TokenCBrace)
	}
	return apartInTemplate(left, right)
}

// tight words are names and what follows them: a call, a namespace, an attribute.
func tight(left, right word) bool {
	switch {
	case left.is(hclsyntax.TokenIdent) && right.is(hclsyntax.TokenOParen, hclsyntax.TokenDoubleColon):
		return true
	case left.is(hclsyntax.TokenDoubleColon) && right.is(hclsyntax.TokenIdent):
		return true
	}
	return left.is(hclsyntax.TokenDot) || right.is(hclsyntax.TokenDot)
}

// withinTemplate reports whether a blank between the words would be one of a string.
func withinTemplate(left, right word) bool {
	return left.is(hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc) ||
		right.is(hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc)
}

// apartInTemplate is apart for brackets other than braces, those of templates among them.
func apartInTemplate(left, right word) bool {
	begins := []hclsyntax.TokenType{hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl}
	switch {
	case left.is(begins...) && right.is(hclsyntax.TokenOBrace), left.is(hclsyntax.TokenCBrace) && right.is(hclsyntax.TokenTemplateSeqEnd):
		return true
	case left.is(hclsyntax.TokenTemplateSeqEnd) && right.is(begins...):
		return false
	}
	return bracket(left.Type) <= 0 && bracket(right.Type) >= 0
}

// operand reports whether w can end what is subtracted from.
func operand(w word) bool {
	return !w.is(hclsyntax.TokenNil, hclsyntax.TokenOParen, hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenEqual, hclsyntax.TokenColon,
		hclsyntax.TokenComma, hclsyntax.TokenQuestion, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
		hclsyntax.TokenMinus, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq,
		hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenBang)
}
