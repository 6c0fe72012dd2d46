package difference

import (
	"fmt"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/payload"
)

// content is what the body of a request may say. The zero content is anything.
type content struct{ rule *capability.BodyRule }

func (t content) inspector() capability.Inspector {
	if t.rule == nil {
		return nil
	}
	return t.rule.Inspector
}

// minus does not take the contents apart: what is not known to be covered stays whole,
// with a doubt.
func (t content) minus(_ *comparison, other set) (set, relation) {
	o, ok := other.(content)
	if ok && covers(o.inspector(), t.inspector()) {
		return nil, covered
	}
	return t, partly
}

// Covers reports whether a takes every body that b takes; nil takes all. It may miss some.
func Covers(a, b capability.Inspector) bool {
	form, ok := a.(*payload.Form)
	if !ok {
		return covers(a, b)
	}
	other, ok := b.(*payload.Form)
	return ok && (form.Rule.Any || spelled(form) == spelled(other))
}

// spelled is the rule of a form in the words of the policy.
func spelled(f *payload.Form) string {
	text := fmt.Sprint(f.Rule.Any)
	for _, p := range f.Rule.Parameters {
		text += fmt.Sprintf("\n%q %v %s", p.Name, p.Required, p.Value)
	}
	return text
}

// covers reports whether everything that b takes is taken by a. It may miss some. The
// fields of forms are dimensions of their own.
func covers(a, b capability.Inspector) bool {
	switch a := a.(type) {
	case nil:
		return true
	case payload.JSON:
		o, ok := b.(payload.JSON)
		return ok && a.Covers(o)
	case *payload.Form:
		_, ok := b.(*payload.Form)
		return ok
	case *payload.Multipart:
		o, ok := b.(*payload.Multipart)
		return ok && coversParts(a.Parts, o.Parts)
	}
	return b != nil && fmt.Sprintf("%T %v", a, a) == fmt.Sprintf("%T %v", b, b)
}

func coversParts(a, b []payload.Part) bool {
	for _, p := range b {
		found := false
		for _, o := range a {
			found = found || o.Name == p.Name && coversPart(o, p)
		}
		if !found {
			return false
		}
	}
	for _, o := range a {
		needed := false
		for _, p := range b {
			needed = needed || p.Name == o.Name && p.Required
		}
		if o.Required && !needed {
			return false
		}
	}
	return true
}

func coversPart(a, b payload.Part) bool {
	value := a.Value.String()
	return a.Type == b.Type && a.Max >= b.Max && a.Filename.String() == b.Filename.String() && (value == "" || value == b.Value.String())
}

func (t content) key() string {
	switch i := t.inspector().(type) {
	case nil:
		return "anything"
	case payload.JSON:
		if i.Schema == nil {
			return "JSON"
		}
		return "JSON " + i.Schema.Sum()
	case *payload.Form:
		return "form"
	case *payload.Multipart:
		return fmt.Sprintf("parts %+v", parts(i.Parts))
	default:
		return fmt.Sprintf("%T %v", i, i)
	}
}

func parts(ps []payload.Part) (out []string) {
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%q %q %d %s %s %t", p.Name, p.Type, p.Max, p.Filename, p.Value, p.Required))
	}
	return out
}

func (t content) String() string {
	switch i := t.inspector().(type) {
	case nil:
		return "anything, not inspected"
	case payload.JSON:
		if i.Schema == nil {
			return "any JSON"
		}
		return "JSON of schema " + i.Schema.String()
	case *payload.Form:
		return "a form"
	case *payload.Multipart:
		return "a multipart form"
	default:
		return fmt.Sprint(i)
	}
}

func (t content) unsure() bool { return false }
