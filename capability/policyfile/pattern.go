package policyfile

import (
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"scupper.dev/scupper/capability"
)

// pattern reads what a value must look like: a literal, the name of a pattern,
// one_of(...), some_of(...) or regex(...).
func (s *source) pattern(e hcl.Expression) (capability.Pattern, bool) {
	name := hcl.ExprAsKeyword(bare(e))
	if v, ok := s.bound[name]; ok {
		return capability.Literal(v.text), true
	}
	if name != "" {
		return s.named(name, e.Range())
	}
	name, args, ok := call(e)
	if !ok {
		v, ok := s.str(e)
		return capability.Literal(v), ok
	}
	switch name {
	case "one_of":
		values, ok := s.values(e, args, `one_of("open", "closed")`)
		return capability.OneOf(values...), ok
	case "some_of":
		return s.someOf(e, args)
	case "go_module":
		return s.goModule(e, args)
	case "regex":
		return s.regex(e, args)
	case "required":
		s.fail(e.Range(), "required(...) belongs into a query", "the variables of a path are always there: write the pattern alone")
	default:
		s.fail(e.Range(), fmt.Sprintf("no function %q", name), "patterns are written regex(\"...\"), one_of(\"a\", \"b\"), some_of(\"a\", \"b\"), go_module(\"example.com/team\"), a literal in quotes, or a name"+suggest(name, "regex", "one_of", "some_of", "go_module", "required"))
	}
	return capability.Pattern{}, false
}

func (s *source) named(name string, at hcl.Range) (capability.Pattern, bool) {
	p, ok := capability.Named(name)
	if !ok {
		names := capability.Names()
		s.fail(at, fmt.Sprintf("no pattern %q", name), "the patterns are "+strings.Join(names, ", ")+"; a literal stands in quotes"+suggest(name, names...))
	}
	return p, ok
}

// goModule reads go_module("example.com/team"). In a preset, its argument may be one
// that was not given: then every module is meant.
func (s *source) goModule(e hcl.Expression, args []hclsyntax.Expression) (capability.Pattern, bool) {
	values, ok := s.values(e, args, `go_module("example.com/team")`)
	if ok && len(values) == 0 {
		return s.named("go_module", e.Range())
	}
	for i, v := range values {
		if values[i], ok = s.modulePath(v, e.Range()); !ok {
			return capability.Pattern{}, false
		}
	}
	return capability.GoModule(values...), ok
}

// modulePath is a path or the beginning of paths, with capitals as the GOPROXY
// protocol writes them.
func (s *source) modulePath(v string, at hcl.Range) (string, bool) {
	var b strings.Builder
	for _, c := range strings.TrimSuffix(v, "/") {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('!')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	any, _ := capability.Named("go_module")
	if !any.Match(b.String()) {
		s.fail(at, fmt.Sprintf("%q is not the path of a module", v), `write the host and what follows it, without a version: "example.com/team"`)
		return "", false
	}
	return b.String(), true
}

// values reads the arguments of a call. An argument of a preset stands for its list.
func (s *source) values(e hcl.Expression, args []hclsyntax.Expression, example string) ([]string, bool) {
	if len(args) == 0 {
		name, _, _ := strings.Cut(example, "(")
		s.fail(e.Range(), name+"() names no value", "write the values: "+example)
		return nil, false
	}
	ok := true
	seen := make(map[string]bool)
	values := make([]string, 0, len(args))
	for _, a := range args {
		if b, bound := s.bound[hcl.ExprAsKeyword(a)]; bound {
			values = append(values, b.list...)
			continue
		}
		v, read := s.str(a)
		if read && seen[v] {
			s.fail(a.Range(), fmt.Sprintf("%q is given twice", v), "each value stands once")
		}
		ok = ok && read && !seen[v]
		seen[v] = true
		values = append(values, v)
	}
	return values, ok
}

// someOf reads some_of("a", "b"), lists of values.
func (s *source) someOf(e hcl.Expression, args []hclsyntax.Expression) (capability.Pattern, bool) {
	values, ok := s.values(e, args, `some_of("a", "b")`)
	for _, v := range values {
		if v == "" || strings.ContainsAny(v, ", ") {
			s.fail(e.Range(), fmt.Sprintf("%q is not a member of a list", v), "the members stand between commas: give each as a value of its own, without blanks")
			ok = false
		}
	}
	return capability.SomeOf(values...), ok
}

func (s *source) regex(e hcl.Expression, args []hclsyntax.Expression) (capability.Pattern, bool) {
	if len(args) != 1 {
		s.fail(e.Range(), "regex takes one expression", `write regex("[a-z]{1,40}")`)
		return capability.Pattern{}, false
	}
	text, ok := s.str(args[0])
	if !ok {
		return capability.Pattern{}, false
	}
	p, err := capability.Regexp(text)
	tree, treeErr := syntax.Parse(text, syntax.Perl)
	if err != nil || treeErr != nil {
		s.fail(args[0].Range(), "not a regular expression", fmt.Sprintf("%v; the syntax is RE2's, and the whole value has to match", firstError(treeErr, err)))
		return capability.Pattern{}, false
	}
	if unbounded(tree) {
		s.warn(args[0].Range(), "the expression has no upper bound", fmt.Sprintf("each value can carry up to %d bytes: give repetitions a limit, as in {1,40}", capability.MaxValue))
	}
	return p, true
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// unbounded reports whether re matches strings of any length.
func unbounded(re *syntax.Regexp) bool {
	if re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max < 0 {
		return true
	}
	for _, sub := range re.Sub {
		if unbounded(sub) {
			return true
		}
	}
	return false
}

// suggest is "; did you mean x?" where one of the names is close to what was written.
func suggest(given string, names ...string) string {
	best, distance := "", 3
	for _, n := range names {
		if d := levenshtein.Distance(strings.ToLower(given), strings.ToLower(n), nil); d < distance && d < len(given) {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}
