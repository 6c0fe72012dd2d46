package difference

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Markdown writes the report for a pull request.
func (r *Report) Markdown(w io.Writer) error {
	p := &printer{}
	p.line("", "### Policy: %s", r.Summary())
	p.line("", "")
	p.line("", "%s → %s", code(r.Old), code(r.New))
	p.markdownSets("Newly permitted", r.Wider, true)
	p.markdownSets("No longer permitted", r.Narrower, false)
	p.markdownLimits(r.Limits)
	p.markdownSettings(r.Settings)
	_, err := w.Write(p.Bytes())
	return err
}

func (p *printer) title(text string) {
	p.line("", "\n#### %s\n", text)
}

func (p *printer) markdownSets(title string, sets []Set, wider bool) {
	if len(sets) == 0 {
		return
	}
	p.title(title)
	for _, group := range grouped(sets) {
		head := "Grant " + code(group[0].Grant)
		if group[0].Role != "" {
			head += " in role " + code(group[0].Role)
		}
		if slices.ContainsFunc(group, Set.whole) {
			head += ": " + code(strings.Join(group[0].Terms, "; "))
		}
		p.line("", "- %s", head)
		for _, s := range group[:min(len(group), maxSets)] {
			p.markdownSet(s, wider)
		}
		if n := len(group) - maxSets; n > 0 {
			p.line("", "  - and %d more", n)
		}
	}
}

func (p *printer) markdownSet(s Set, wider bool) {
	at := code(s.Place)
	if s.Preset != "" {
		at += ", " + code(s.Preset)
	}
	if s.Nearest != "" {
		at += ", nearest " + code(s.Nearest)
	}
	p.line("", "  - %s (%s)", code(strings.Join(s.Methods, ", ")+" "+s.URL), at)
	for _, piece := range s.Pieces[:min(len(s.Pieces), maxShown)] {
		what := strings.TrimSpace("all of it " + code(strings.Join(s.shown(), "; ")))
		if len(piece.Only) > 0 {
			what = "only " + code(strings.Join(piece.Only, "; "))
		}
		if !piece.Certain {
			what += " — **" + doubt(wider) + "**"
		}
		p.line("", "    - %s", what)
		if piece.Example != nil {
			p.line("", "      - example: %s", piece.Example.markdown(wider))
		}
	}
	if n := len(s.Pieces) - maxShown; n > 0 {
		p.line("", "    - and %d more", n)
	}
}

func (e *Example) markdown(wider bool) string {
	return code(strings.Join(e.lines(), "; ")) + " (" + e.decided(wider) + ")"
}

func (p *printer) markdownLimits(changes []Change) {
	if len(changes) == 0 {
		return
	}
	p.title("Changed limits")
	p.line("", "| grant | limit | old | new | | where |")
	p.line("", "|---|---|---|---|---|---|")
	for _, l := range changes {
		note := way(l.Wider)
		if l.Note != "" {
			note += ", " + cell(l.Note)
		}
		if l.Example != nil {
			note += ", for example " + cell(l.Example.markdown(l.Wider))
		}
		p.line("", "| %s | %s | %s | %s | %s | %s |", cell(code(l.Grant)), l.What, cell(code(l.Old)), cell(code(l.New)), note, cell(code(strings.Join(l.Places, " → "))))
	}
}

func (p *printer) markdownSettings(settings []Setting) {
	if len(settings) == 0 {
		return
	}
	p.title("Changed settings")
	p.line("", "| setting | old | new | |")
	p.line("", "|---|---|---|---|")
	for _, s := range settings {
		note := way(s.Wider)
		if s.Note != "" {
			note += ", " + cell(code(s.Note))
		}
		p.line("", "| %s | %s | %s | %s |", cell(code(s.What)), cell(code(s.Old)), cell(code(s.New)), note)
	}
}

// code is a code span; no text can end it or span lines.
func code(s string) string {
	s = clean(s)
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fmt.Sprintf("%s %s %s", fence, s, fence)
	}
	return fence + s + fence
}

// cell is text in a table: a bar in it does not end the cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
