package trim

import (
	"fmt"
	"strings"

	"scupper.dev/scupper/gateway"
)

// Note is one paragraph in brackets that says what is not shown as it is; empty where
// everything is. handle reads kept bytes of the whole through the tool "read"; where kept
// is 0, it cannot be read again.
func (t *Text) Note(handle string, kept int64) string {
	notes := t.Notes
	if t.Cut > 0 {
		notes = append([]string{t.left(handle, kept)}, notes...)
	}
	if len(notes) == 0 {
		return ""
	}
	return "[" + strings.Join(notes, "; ") + "]"
}

func (t *Text) left(handle string, kept int64) string {
	text := fmt.Sprintf("lines %d to %d of %d are left out", t.From, t.To, t.Lines)
	if t.From == t.To {
		text = fmt.Sprintf("part of line %d of %d is left out", t.From, t.Lines)
	}
	switch {
	case kept == 0:
		return text + "; the whole was not kept"
	case kept < t.Whole:
		return fmt.Sprintf("%s; read %q has the first %d of %d bytes", text, gateway.RestScheme+handle, kept, t.Whole)
	}
	return fmt.Sprintf("%s; read %q has all %d bytes", text, gateway.RestScheme+handle, t.Whole)
}
