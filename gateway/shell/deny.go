package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// denyList are commands that the operator does not want, by their words. It is advice to
// the model, and no boundary: see the package comment.
type denyList [][]string

func newDenyList(texts []string) (denyList, error) {
	var list denyList
	for _, text := range texts {
		words := strings.Fields(text)
		if len(words) == 0 {
			return nil, fmt.Errorf("deny_commands: %q names no command", text)
		}
		list = append(list, words)
	}
	return list, nil
}

// advice is what the model is told about a script that uses a command of the list; empty:
// it does not, as far as its words show.
func (d denyList) advice(script string) string {
	if len(d) == 0 {
		return ""
	}
	f := finder{list: d, values: make(map[string]string), starters: starters()}
	f.script(script, 0)
	if f.found == "" {
		return ""
	}
	return fmt.Sprintf("the operator does not want %q to be used here (deny_commands). Nothing was run. "+
		"Do the task without it, or say that it needs it; another spelling of the same command is not wanted either.", f.found)
}

// finder looks for commands of a list in scripts.
type finder struct {
	list   denyList
	values map[string]string // of variables that the script itself sets to plain text
	found  string

	starters map[string]starter
}

// Limits of what is looked at. What goes beyond is not found.
const (
	maxNested  = 5   // scripts in scripts
	maxStarted = 20  // commands that start the next
	maxBracket = 500 // brackets in brackets, which the parser recurses into
)

// script looks at every command of a script that the parser can tell. A mistake in the
// syntax is bash's to report.
func (f *finder) script(text string, nested int) {
	if nested > maxNested || tooDeep(text) {
		return
	}
	// The parser goes on after a mistake in some texts, whatever it is told: nothing breaks off here.
	syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text))(func(s *syntax.Stmt, err error) bool {
		if err == nil && s != nil && f.found == "" {
			f.statement(s, nested)
		}
		return true
	})
}

func (f *finder) statement(s *syntax.Stmt, nested int) {
	syntax.Walk(s, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			f.call(call, nested)
		}
		return f.found == ""
	})
}

// tooDeep reports whether a text has more opening brackets and keywords that open one than
// the parser should be given.
func tooDeep(text string) bool {
	return strings.Count(text, "(")+strings.Count(text, "{")+strings.Count(text, "`") > maxBracket
}

func (f *finder) call(c *syntax.CallExpr, nested int) {
	for _, a := range c.Assigns {
		if len(c.Args) == 0 && a.Name != nil && a.Value != nil {
			if v, ok := f.word(a.Value); ok {
				f.values[a.Name.Value] = v
			}
		}
	}
	var words []string
	for _, w := range c.Args {
		v, ok := f.word(w)
		if !ok {
			v = unknown
		}
		words = append(words, split(w, v)...)
	}
	f.command(words, nested)
}

// unknown stands for a word that only the shell will know.
const unknown = "\x00"

// split parts an unquoted variable that holds several words, as the shell does.
func split(w *syntax.Word, v string) []string {
	if _, bare := w.Parts[0].(*syntax.ParamExp); bare && len(w.Parts) == 1 && strings.TrimSpace(v) != "" {
		return strings.Fields(v)
	}
	return []string{v}
}

// command looks at one command and at what it starts.
func (f *finder) command(words []string, nested int) {
	for depth := 0; depth < maxStarted && len(words) > 0 && f.found == ""; depth++ {
		name := path.Base(words[0])
		for _, d := range f.list {
			if d[0] == name && leads(d[1:], words[1:], name) {
				f.found = strings.Join(d, " ")
				return
			}
		}
		for _, script := range scripts(name, words[1:]) {
			f.script(script, nested+1)
		}
		words = f.started(name, words[1:])
	}
}

// leads reports whether the arguments begin with the denied words, other options aside.
func leads(denied, args []string, name string) bool {
	if len(denied) == 0 {
		return true
	}
	if strings.HasPrefix(denied[0], "-") {
		return slices.Contains(args, denied[0]) && leads(denied[1:], args, name)
	}
	rest := behindOptions(args, valued(name))
	return len(rest) >= len(denied) && slices.Equal(rest[:len(denied)], denied)
}

// word is the text of a word, where the script itself says it: quoting, escapes and
// concatenation resolved.
func (f *finder) word(w *syntax.Word) (string, bool) {
	var b strings.Builder
	if !f.parts(&b, w.Parts, false) {
		return "", false
	}
	return b.String(), true
}

func (f *finder) parts(b *strings.Builder, parts []syntax.WordPart, quoted bool) bool {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value, quoted))
		case *syntax.SglQuoted:
			if p.Dollar {
				b.WriteString(ansi(p.Value))
				continue
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if !f.parts(b, p.Parts, true) {
				return false
			}
		case *syntax.ParamExp:
			v, known := f.values[p.Param.Value]
			if !known || !p.Short && !plainParameter(p) {
				return false
			}
			b.WriteString(v)
		default:
			return false
		}
	}
	return true
}

// plainParameter reports whether an expansion is nothing but the variable.
func plainParameter(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
}
