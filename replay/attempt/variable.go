package attempt

import (
	"os"
	"strings"
)

// mark stands at both ends of the name of a variable in a text.
const mark = "\x01"

// Variable is a text that becomes the value of an environment variable where the attempt
// is made: a placeholder, for one, is known only inside.
func Variable(name string) string { return mark + name + mark }

// Fill puts values in the place of variables in a text.
func Fill(s string, value func(name string) string) string {
	pieces := strings.Split(s, mark)
	if len(pieces) < 3 {
		return s
	}
	for i := 1; i+1 < len(pieces); i += 2 {
		pieces[i] = value(pieces[i])
	}
	return strings.Join(pieces, "")
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
