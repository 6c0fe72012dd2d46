package scenario

import (
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"scupper.dev/scupper/replay/attempt"
	"scupper.dev/scupper/replay/canary"
)

// OutsideVariable names the folder beside the workspace where attempts are made.
const OutsideVariable = "SCUPPER_REPLAY_OUTSIDE"

// context is what expressions of a block may use, canaries and items apart.
func context(body *hclsyntax.Body) *hcl.EvalContext {
	variables := map[string]cty.Value{
		"none":    cty.ListValEmpty(cty.String),
		"outside": cty.StringVal(attempt.Variable(OutsideVariable)),
	}
	if body != nil {
		names := make(map[string]cty.Value)
		for _, name := range namesUnder(body, "env") {
			names[name] = cty.StringVal(attempt.Variable(name))
		}
		variables["env"] = cty.ObjectVal(names)
	}
	return &hcl.EvalContext{Variables: variables, Functions: functions()}
}

// withCanaries adds a canary for every name that body has under canary.
func withCanaries(ctx *hcl.EvalContext, body *hclsyntax.Body, scenario string) (*hcl.EvalContext, []canary.Canary) {
	var all []canary.Canary
	values := make(map[string]cty.Value)
	for _, name := range namesUnder(body, "canary") {
		c := canary.Of(name, scenario)
		all = append(all, c)
		values[name] = cty.StringVal(c.Value)
	}
	ctx.Variables["canary"] = cty.ObjectVal(values)
	return ctx, all
}

// namesUnder are the names that expressions of a body have after root and a dot.
func namesUnder(body *hclsyntax.Body, root string) (names []string) {
	hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		e, ok := n.(*hclsyntax.ScopeTraversalExpr)
		if !ok || e.Traversal.RootName() != root || len(e.Traversal) < 2 {
			return nil
		}
		if attr, ok := e.Traversal[1].(hcl.TraverseAttr); ok && !slices.Contains(names, attr.Name) {
			names = append(names, attr.Name)
		}
		return nil
	})
	slices.Sort(names)
	return names
}

func functions() map[string]function.Function {
	return map[string]function.Function{
		"upper":     text(strings.ToUpper),
		"lower":     text(strings.ToLower),
		"reversed":  text(reversed),
		"hex":       text(func(s string) string { return hex.EncodeToString([]byte(s)) }),
		"base64":    text(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		"base64url": text(func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }),
		"base32": text(func(s string) string {
			return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(s))
		}),
		"percent":  text(percent),
		"gzip":     text(zipped),
		"utf16":    text(wide),
		"plain":    text(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		"crlf":     text(func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n") }),
		"chars":    list(func(s string) []string { return strings.Split(s, "") }),
		"pieces":   cut(pieces),
		"repeat":   repeated(),
		"json":     stdlib.JSONEncodeFunc,
		"question": question(),
		"http2":    http2(),
	}
}

// text is a function of a text.
func text(f func(string) string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(f(args[0].AsString())), nil
		},
	})
}

// list is a function of a text that makes several of it.
func list(f func(string) []string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.List(cty.String)),
		Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return listOf(f(args[0].AsString())), nil },
	})
}

func listOf(texts []string) cty.Value {
	if len(texts) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	values := make([]cty.Value, len(texts))
	for i, s := range texts {
		values[i] = cty.StringVal(s)
	}
	return cty.ListVal(values)
}

// maxRepeat keeps a text of a scenario from growing without end.
const maxRepeat = 1 << 22

// cut is a function of a text and a length.
func cut(f func(string, int) []string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "length", Type: cty.Number}},
		Type:   function.StaticReturnType(cty.List(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			n, _ := args[1].AsBigFloat().Int64()
			if n < 1 || n > maxRepeat {
				return cty.NilVal, fmt.Errorf("a length of %d", n)
			}
			return listOf(f(args[0].AsString(), int(n))), nil
		},
	})
}

func repeated() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "times", Type: cty.Number}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			n, _ := args[1].AsBigFloat().Int64()
			s := args[0].AsString()
			if n < 0 || n > maxRepeat || int64(len(s))*n > maxRepeat {
				return cty.NilVal, fmt.Errorf("%d times %d bytes are more than %d", n, len(s), maxRepeat)
			}
			return cty.StringVal(strings.Repeat(s, int(n))), nil
		},
	})
}

func reversed(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// percent writes every byte as RFC 3986 section 2.1 has it.
func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func wide(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return base64.StdEncoding.EncodeToString(b)
}

func pieces(s string, n int) (out []string) {
	for len(s) > n {
		out, s = append(out, s[:n]), s[n:]
	}
	return append(out, s)
}
