package difference

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
)

const (
	red   = "\x1b[31m"
	green = "\x1b[32m"
	bold  = "\x1b[1m"
	reset = "\x1b[0m"
)

// How much is shown to people; JSON has everything.
const (
	maxSets   = 30 // of one grant
	maxShown  = 8  // pieces of one allow block
	maxValue  = 160
	mayBe     = "may be wider: the comparison is not exact here"
	mayBeLess = "may be narrower: the comparison is not exact here"
)

// printer writes a report for people. Nothing of a policy can drive a terminal.
type printer struct {
	bytes.Buffer
	color bool
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer, color bool) error {
	p := &printer{color: color}
	p.line("", "%s -> %s: %s", clean(r.Old), clean(r.New), r.Summary())
	p.sets("newly permitted", red, r.Wider, true)
	p.sets("no longer permitted", green, r.Narrower, false)
	p.limits(r.Limits)
	p.settings(r.Settings)
	_, err := w.Write(p.Bytes())
	return err
}

// Summary is the report in one phrase.
func (r *Report) Summary() string {
	switch {
	case r.Widened:
		return "wider"
	case r.Equal():
		return "permits the same"
	}
	return "narrower"
}

func (p *printer) line(paint, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.color && paint != "" {
		text = paint + text + reset
	}
	p.WriteString(text)
	p.WriteByte('\n')
}

func (p *printer) sets(title, paint string, sets []Set, wider bool) {
	if len(sets) == 0 {
		return
	}
	p.line("", "")
	p.line(paint, "%s", title)
	for _, group := range grouped(sets) {
		p.line(bold, "  %s", heading(group[0]))
		if slices.ContainsFunc(group, Set.whole) {
			p.line("", "    %s", clean(strings.Join(group[0].Terms, "; ")))
		}
		for _, s := range group[:min(len(group), maxSets)] {
			p.set(s, wider)
		}
		if n := len(group) - maxSets; n > 0 {
			p.line("", "    and %d more: --json shows all", n)
		}
	}
}

// grouped puts the allow blocks of one grant together.
func grouped(sets []Set) (out [][]Set) {
	for _, s := range sets {
		last := len(out) - 1
		if last >= 0 && out[last][0].Grant == s.Grant && out[last][0].Role == s.Role {
			out[last] = append(out[last], s)
			continue
		}
		out = append(out, []Set{s})
	}
	return out
}

func heading(s Set) string {
	text := fmt.Sprintf("grant %q", clean(s.Grant))
	if s.Role != "" {
		text += fmt.Sprintf(" in role %q", clean(s.Role))
	}
	return text
}

// whole reports whether all of the allow block is meant.
func (s Set) whole() bool { return len(s.Pieces) == 1 && len(s.Pieces[0].Only) == 0 }

// shown is what people read of an allow block. The headers of presets are long, and
// constant.
func (s Set) shown() []string {
	return slices.DeleteFunc(slices.Clone(s.Conveys), func(c string) bool { return s.Preset != "" && strings.HasPrefix(c, prefixHeader) })
}

func (p *printer) set(s Set, wider bool) {
	at := clean(s.Place)
	if s.Preset != "" {
		at += " (" + clean(s.Preset) + ")"
	}
	if s.Nearest != "" {
		at += ", nearest " + clean(s.Nearest)
	}
	p.line("", "    %s %s   %s", strings.Join(s.Methods, ", "), clean(s.URL), at)
	if s.whole() && len(s.shown()) > 0 {
		p.line("", "      %s", clean(strings.Join(s.shown(), "; ")))
	}
	for _, piece := range s.Pieces[:min(len(s.Pieces), maxShown)] {
		if len(piece.Only) > 0 {
			p.line("", "      only %s", clean(strings.Join(piece.Only, "; ")))
		}
		p.piece(piece, wider)
	}
	if n := len(s.Pieces) - maxShown; n > 0 {
		p.line("", "      and %d more: --json shows all", n)
	}
}

func (p *printer) piece(piece Piece, wider bool) {
	if !piece.Certain {
		p.line("", "      %s", doubt(wider))
	}
	if e := piece.Example; e != nil {
		p.example("      ", e, wider)
	}
}

func doubt(wider bool) string {
	if wider {
		return mayBe
	}
	return mayBeLess
}

func (p *printer) example(indent string, e *Example, wider bool) {
	lines := e.lines()
	p.line("", "%sexample: %s", indent, clean(lines[0]))
	for _, l := range lines[1:] {
		p.line("", "%s         %s", indent, clean(l))
	}
	p.line("", "%s         %s", indent, e.decided(wider))
}

// decided says which policy answers what.
func (e *Example) decided(wider bool) string {
	if wider {
		return "old: " + clean(e.There) + ", new: " + clean(e.Here)
	}
	return "old: " + clean(e.Here) + ", new: " + clean(e.There)
}

// lines are the request, and what else belongs to it.
func (e *Example) lines() []string {
	if e.Tool != "" {
		return []string{fmt.Sprintf("a call of tool %q by role %q", e.Tool, e.Role)}
	}
	out := []string{e.Method + " " + e.URL}
	for _, name := range slices.Sorted(maps.Keys(e.Header)) {
		if name != "Content-Type" {
			out = append(out, name+": "+e.Header[name])
		}
	}
	if e.Body != "" {
		out = append(out, "with "+e.Body)
	}
	if e.WebSocket {
		out = append(out, "as a WebSocket")
	}
	if e.Time != "" {
		out = append(out, "at "+e.Time)
	}
	if e.Address != "" {
		out = append(out, "where the host leads to "+e.Address)
	}
	if e.Issues != "" {
		out = append(out, "whose answer hands out "+e.Issues)
	}
	return out
}

func (p *printer) limits(changes []Change) {
	if len(changes) == 0 {
		return
	}
	p.line("", "")
	p.line(bold, "changed limits")
	for _, l := range changes {
		p.line(paint(l.Wider), "  grant %q: %s %s -> %s (%s)   %s", clean(l.Grant), l.What, clean(l.Old), clean(l.New), l.way(), clean(strings.Join(l.Places, " -> ")))
		if l.Note != "" {
			p.line("", "    %s", clean(l.Note))
		}
		if l.Example != nil {
			p.example("    ", l.Example, l.Wider)
		}
	}
}

func paint(wider bool) string {
	if wider {
		return red
	}
	return green
}

func way(wider bool) string {
	if wider {
		return "wider"
	}
	return "narrower"
}

func (l Change) way() string { return way(l.Wider) }

func (p *printer) settings(settings []Setting) {
	if len(settings) == 0 {
		return
	}
	p.line("", "")
	p.line(bold, "changed settings")
	for _, s := range settings {
		p.line(paint(s.Wider), "  %s: %s -> %s (%s)", clean(s.What), clean(s.Old), clean(s.New), way(s.Wider))
		if s.Note != "" {
			p.line("", "    %s", clean(s.Note))
		}
		if s.Example != nil {
			p.example("    ", s.Example, s.Wider)
		}
	}
}

// clean is text of a policy as a terminal may have it, and not too much of it.
func clean(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case i > 10*maxValue:
			return b.String() + "..."
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
