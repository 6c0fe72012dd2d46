package policyfile

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// layOut writes a text anew with other blanks: two for each level of brackets, equals signs and comments of neighbouring lines below each other.
// Package hclwrite does the same, and a test compares; its imports cost every start of a sandbox a millisecond and a half.
func layOut(text []byte) []byte {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos) // what does not lex is still written as it is
	rows := rowsOf(tokens)
	indent(rows)
	for _, r := range rows {
		r.spread()
	}
	align(rows, func(r row) int { return r.equal })
	align(rows, func(r row) int { return r.comment })
	var b bytes.Buffer
	for _, r := range rows {
		for _, w := range r.words {
			b.WriteString(strings.Repeat(" ", w.gap))
			b.Write(w.Bytes)
		}
	}
	return b.Bytes()
}

// word is a token with the number of blanks before it.
type word struct {
	hclsyntax.Token
	gap int
}

func (w word) is(types ...hclsyntax.TokenType) bool { return slices.Contains(types, w.Type) }

// row is the tokens of a line, and where those begin that neighbours are aligned by; -1: none.
type row struct {
	words          []word
	equal, comment int
}

func rowsOf(tokens hclsyntax.Tokens) []row {
	var rows []row
	var words []word
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenEOF {
			break
		}
		words = append(words, word{Token: t})
		if t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenComment && bytes.HasSuffix(t.Bytes, []byte("\n")) {
			rows, words = append(rows, newRow(words)), nil
		}
	}
	return append(rows, newRow(words))
}

func newRow(words []word) row {
	r := row{words: words, equal: -1, comment: -1}
	if last := len(words) - 1; last > 0 && words[last].Type == hclsyntax.TokenComment {
		r.comment = last
	}
	i := slices.IndexFunc(words, func(w word) bool { return w.Type == hclsyntax.TokenEqual })
	if i > 0 && opened(words[i:]) == 0 { // the value ends in this line
		r.equal = i
	}
	return r
}

// opened is how many more brackets are opened than closed.
func opened(words []word) (n int) {
	for _, w := range words {
		n += bracket(w.Type)
	}
	return n
}

func bracket(t hclsyntax.TokenType) int {
	switch t {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return 1
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
		return -1
	}
	return 0
}

// indent puts each row as far to the right as brackets are open: those that one row opens are one level.
func indent(rows []row) {
	var levels []int // how many brackets each still has open
	for _, r := range rows {
		if len(r.words) == 0 || r.words[0].Type == hclsyntax.TokenNewline {
			continue
		}
		n := opened(r.beforeHeredoc())
		for closing := -n; closing > 0 && len(levels) > 0; {
			top := &levels[len(levels)-1]
			taken := min(closing, *top)
			*top, closing = *top-taken, closing-taken
			if *top == 0 {
				levels = levels[:len(levels)-1]
			}
		}
		r.words[0].gap = 2 * len(levels)
		if n > 0 {
			levels = append(levels, n)
		}
	}
}

// beforeHeredoc is the words up to the first text of several lines, and those after the equals sign.
func (r row) beforeHeredoc() []word {
	if i := slices.IndexFunc(r.words, func(w word) bool { return w.Type == hclsyntax.TokenOHeredoc }); i >= 0 && r.equal < 0 {
		return r.words[:i]
	}
	return r.words
}

// spread separates the words of a row.
func (r row) spread() {
	end := len(r.words)
	if r.comment >= 0 {
		end = r.comment
	}
	for i := 1; i < end; i++ {
		if i == r.equal {
			continue
		}
		var before word
		if i >= 2 && i-1 != r.equal {
			before = r.words[i-2]
		}
		r.words[i].gap = 0
		if apart(before, r.words[i-1], r.words[i]) {
			r.words[i].gap = 1
		}
	}
}

// align gives the words at the columns that by names the same place in rows that follow each other.
func align(rows []row, by func(row) int) {
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(r row) bool { return by(r) < 0 })
		if n < 0 {
			n = len(rows)
		}
		widest := 0
		for _, r := range rows[:n] {
			widest = max(widest, width(r.words[:by(r)]))
		}
		for _, r := range rows[:n] {
			r.words[by(r)].gap = widest - width(r.words[:by(r)]) + 1
		}
		rows = rows[min(n+1, len(rows)):]
	}
}

// width counts columns as hcl does, in characters as readers know them.
func width(words []word) (n int) {
	for _, w := range words {
		n += w.gap
		if w.Range.Start.Line == w.Range.End.Line {
			n += w.Range.End.Column - w.Range.Start.Column
		} else {
			n += utf8.RuneCount(w.Bytes)
		}
	}
	return n
}
