package attempt

import (
	"os"
	"strings"
)

// What stands before and after the name of a variable in a text. Bytes that are sent as
// they are hold neither by chance.
const (
	before = "\x01env:"
	after  = "\x02"
)

// Variable is a text that becomes the value of an environment variable where the attempt
// is made: a placeholder, for one, is known only inside.
func Variable(name string) string { return before + name + after }

// Fill puts values in the place of variables in a text.
func Fill(s string, value func(name string) string) string {
	var b strings.Builder
	for {
		head, rest, found := strings.Cut(s, before)
		name, tail, closed := strings.Cut(rest, after)
		if !found || !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(head + value(name))
		s = tail
	}
}

func expandText(s string) string { return Fill(s, os.Getenv) }

func expandBytes(b []byte) []byte { return []byte(expandText(string(b))) }

// expand puts values in the place of variables in all that is sent.
func expand(a Attempt) Attempt {
	switch {
	case a.HTTP != nil:
		h := *a.HTTP
		h.URL, h.Body = expandText(h.URL), expandBytes(h.Body)
		h.Headers = append([]Header(nil), h.Headers...)
		for i := range h.Headers {
			h.Headers[i].Value = expandText(h.Headers[i].Value)
		}
		a.HTTP = &h
	case a.Raw != nil:
		r := *a.Raw
		r.Bytes = expandBytes(r.Bytes)
		a.Raw = &r
	case a.DNS != nil:
		d := *a.DNS
		d.Name = expandText(d.Name)
		a.DNS = &d
	case a.Run != nil:
		r := Run{append([]string(nil), a.Run.Command...)}
		for i := range r.Command {
			r.Command[i] = expandText(r.Command[i])
		}
		a.Run = &r
	}
	return a
}
