package retrial

import (
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/difference/language"
)

const anyLength = -1

// values answers questions about values that are not on record, and remembers them: the
// requests of a log ask the same few.
type values map[question]answer

type question struct {
	old, changed string
	length       int
}

// fit reports whether a value of that length, which kept to old where there is one, fits
// the changed pattern.
func (v values) fit(old *capability.Pattern, changed capability.Pattern, length int) answer {
	q := question{changed: changed.String(), length: length}
	if old != nil {
		q.old = old.String()
	}
	if q.old != "" && q.old == q.changed {
		return yes
	}
	if known, ok := v[q]; ok {
		return known
	}
	a := compare(old, changed, length)
	v[q] = a
	return a
}

func compare(old *capability.Pattern, changed capability.Pattern, length int) answer {
	m, err := language.Of(changed)
	if err != nil {
		return maybe
	}
	in, out := []language.Machine{language.Text()}, []language.Machine(nil)
	if length >= 0 {
		in = append(in, language.AtMost(language.Text(), length))
	}
	if length > 0 {
		out = append(out, language.AtMost(language.Text(), length-1))
	}
	if old != nil {
		before, err := language.Of(*old)
		if err != nil {
			return maybe
		}
		in = append(in, before)
	}
	if _, found, err := language.Common(language.NewBudget(), in, append(out[:len(out):len(out)], m)...); err == nil && !found {
		return yes
	}
	if _, found, err := language.Common(language.NewBudget(), append(in, m), out...); err == nil && !found {
		return no
	}
	return maybe
}
