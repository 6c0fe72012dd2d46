package files

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

const maxProgram = 20_000 // instructions of a compiled expression

// expression is what lines are searched for.
type expression struct {
	whole  *regexp.Regexp // finds where in a line it is
	prog   *syntax.Prog   // for the automaton; nil: whole is used on whole files
	needle needle         // bytes that are in every match
	exact  bool           // the needle is all of it
}

// newExpression compiles an expression (RE2) that is looked for in lines, or with
// multiline in whole files.
func newExpression(text string, fold, multiline bool) (*expression, error) {
	flags := syntax.Perl &^ syntax.OneLine // ^ and $ are the ends of a line
	if fold {
		flags |= syntax.FoldCase
	}
	if multiline {
		flags |= syntax.DotNL
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, refuse(Malformed, "%s is no regular expression: %s", quote(text), strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if !multiline {
		if hasNewline(tree) {
			return nil, refuse(Malformed, "%s has a newline in it; set multiline to match over lines", quote(text))
		}
		tree = oneLine(tree)
	}
	e := &expression{}
	if e.whole, err = regexp.Compile(tree.String()); err != nil {
		return nil, refuse(Malformed, "%s is too large an expression", quote(text))
	}
	e.needle, e.exact = needleOf(tree)
	if multiline {
		e.exact = false
		return e, nil
	}
	if e.prog, err = syntax.Compile(tree.Simplify()); err != nil || len(e.prog.Inst) > maxProgram {
		return nil, refuse(Malformed, "%s is too large an expression", quote(text))
	}
	return e, nil
}

// hasNewline reports whether the expression spells a newline out.
func hasNewline(r *syntax.Regexp) bool {
	return r.Op == syntax.OpLiteral && slices.Contains(r.Rune, '\n') || slices.ContainsFunc(r.Sub, hasNewline)
}

// oneLine rewrites an expression so that no match crosses the end of a line, and the CR
// of a CRLF does not hide it. \A and \z are the ends of the line too.
func oneLine(r *syntax.Regexp) *syntax.Regexp {
	for i, sub := range r.Sub {
		r.Sub[i] = oneLine(sub)
	}
	switch r.Op {
	case syntax.OpAnyChar:
		r.Op = syntax.OpAnyCharNotNL
	case syntax.OpCharClass:
		r.Rune = without(r.Rune, '\n')
		if len(r.Rune) == 0 {
			return &syntax.Regexp{Op: syntax.OpNoMatch}
		}
	case syntax.OpBeginText:
		r.Op = syntax.OpBeginLine
	case syntax.OpEndText, syntax.OpEndLine:
		cr := &syntax.Regexp{Op: syntax.OpQuest, Sub: []*syntax.Regexp{{Op: syntax.OpLiteral, Rune: []rune{'\r'}}}}
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{cr, {Op: syntax.OpEndLine}}}
	}
	return r
}

// without takes one character out of a class of ranges.
func without(ranges []rune, out rune) []rune {
	var all []rune
	for i := 0; i < len(ranges); i += 2 {
		low, high := ranges[i], ranges[i+1]
		if out < low || out > high {
			all = append(all, low, high)
			continue
		}
		if low < out {
			all = append(all, low, out-1)
		}
		if out < high {
			all = append(all, out+1, high)
		}
	}
	return all
}

// needleOf finds the longest text that every match of the expression has in it, and
// whether the expression is that text and nothing more.
func needleOf(r *syntax.Regexp) (n needle, exact bool) {
	switch r.Op {
	case syntax.OpLiteral:
		return literalNeedle(r)
	case syntax.OpCapture:
		return needleOf(r.Sub[0])
	case syntax.OpPlus:
		n, _ = needleOf(r.Sub[0])
		return n, false
	case syntax.OpRepeat:
		if r.Min > 0 {
			n, _ = needleOf(r.Sub[0])
		}
		return n, false
	case syntax.OpConcat:
		for _, sub := range r.Sub {
			if one, _ := needleOf(sub); one.worth() > n.worth() {
				n = one
			}
		}
	}
	return n, false
}

// literalNeedle takes the longest piece of a literal of which the bytes are known: in any
// case, k and s are also letters beyond ASCII, and others have several spellings.
func literalNeedle(r *syntax.Regexp) (needle, bool) {
	if r.Flags&syntax.FoldCase == 0 {
		if slices.Contains(r.Rune, unicode.ReplacementChar) {
			return needle{}, false // stands for bytes that are no character
		}
		return newNeedle(string(r.Rune), false), true
	}
	var best, piece []rune
	for _, c := range append(slices.Clone(r.Rune), 0) {
		if c > 0 && c < 0x80 && !strings.ContainsRune("kKsS", c) {
			piece = append(piece, unicode.ToLower(c))
			continue
		}
		if len(piece) > len(best) {
			best = piece
		}
		piece = nil
	}
	n := newNeedle(string(best), true)
	return n, len(best) == len(r.Rune)
}
