package trial

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/replay/canary"
)

// A Report is the results of a pack, in the order of its files.
type Report struct {
	Results []*Result
	Without string // the layer that was left out; empty: none
}

// Totals are the results in numbers.
type Totals struct {
	Scenarios int `json:"scenarios"`
	Passed    int `json:"passed"`
	Attacks   int `json:"attacks"`
	Jobs      int `json:"jobs"`
	Leaks     int `json:"leaks"` // scenarios that show one, and the same for the others
	Refused   int `json:"refused"`
	Verdicts  int `json:"verdicts"`
	Dead      int `json:"dead"`
	Troubles  int `json:"troubles"`
}

// Totals counts.
func (p *Report) Totals() (t Totals) {
	for _, r := range p.Results {
		t.Scenarios++
		if r.OK() {
			t.Passed++
		}
		if r.Scenario.Attack() {
			t.Attacks++
		} else {
			t.Jobs++
		}
		for kind, n := range map[Kind]*int{Leak: &t.Leaks, Refused: &t.Refused, Verdict: &t.Verdicts, Dead: &t.Dead, Trouble: &t.Troubles} {
			if slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Kind == kind }) {
				*n++
			}
		}
	}
	return t
}

// headline is what people read first of a kind.
func headline(k Kind) string {
	return map[Kind]string{Leak: "LEAK", Refused: "REFUSED", Verdict: "UNEXPECTED", Dead: "CANNOT FAIL", Trouble: "NOT REPLAYED"}[k]
}

// WriteText writes the faults, and a summary, for people. With why each scenario has the
// step that decided it.
func (p *Report) WriteText(w io.Writer, why bool) error {
	var b strings.Builder
	for _, r := range p.Results {
		if r.OK() && !why {
			if r.Bits > 0 && p.Without == "" {
				fmt.Fprintf(&b, "known risk   %s (%s): %d bits arrived\n", audit.Printable(r.Scenario.Name), r.Scenario.Position(), r.Bits)
			}
			continue
		}
		if r.OK() {
			fmt.Fprintf(&b, "as expected  %s (%s)\n", audit.Printable(r.Scenario.Name), r.Scenario.Position())
		}
		for _, f := range r.Faults {
			fmt.Fprintf(&b, "%-12s %s (%s): %s\n", headline(f.Kind), audit.Printable(r.Scenario.Name), r.Scenario.Position(), audit.Printable(f.Text))
		}
		if r.Step != nil {
			fmt.Fprintf(&b, "             %s\n", audit.Printable(r.Step.sentence()))
		}
	}
	t, passed := p.Totals(), "as expected"
	switch p.Without {
	case "":
	case "all":
		passed = "arrive without scupper"
	default:
		passed = "as expected without the layer " + p.Without
	}
	fmt.Fprintf(&b, "%s: %s, %s; %d %s", count(t.Scenarios, "scenario"), count(t.Attacks, "attack"), count(t.Jobs, "job"), t.Passed, passed)
	for _, part := range []struct {
		n    int
		text string
	}{{t.Leaks, "with a leak"}, {t.Refused, "wrongly refused"}, {t.Verdicts, "with another verdict"}, {t.Dead, "that cannot fail"}, {t.Troubles, "not replayed"}} {
		if part.n > 0 {
			fmt.Fprintf(&b, ", %d %s", part.n, part.text)
		}
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Step) sentence() string {
	text := fmt.Sprintf("decided by: %s %s (%s)", s.Verdict, s.Request, s.Reason)
	if s.Grant != "" {
		text += fmt.Sprintf(", grant %q", s.Grant)
	}
	if s.Position != "" {
		text += " at " + s.Position
	}
	if s.Mismatch != "" {
		text += "; " + s.Mismatch
	}
	return text
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// entry is a result as JSON has it.
type entry struct {
	Name     string           `json:"name"`
	File     string           `json:"file"`
	Line     int              `json:"line"`
	Cases    []string         `json:"cases,omitempty"`
	Policy   string           `json:"policy"`
	Attack   bool             `json:"attack"`
	OK       bool             `json:"ok"`
	Bits     int              `json:"bits"`
	Faults   []Fault          `json:"faults,omitempty"`
	Found    []canary.Finding `json:"found,omitempty"`
	Layers   []string         `json:"layers,omitempty"`
	Beyond   []string         `json:"beyond,omitempty"`
	OneLayer bool             `json:"one_layer,omitempty"`
	Decision *Step            `json:"decision,omitempty"`
}

// WriteJSON writes everything for programs.
func (p *Report) WriteJSON(w io.Writer) error {
	all := make([]entry, len(p.Results))
	for i, r := range p.Results {
		s := r.Scenario
		all[i] = entry{s.Name, s.File, s.Line, s.Cases, s.Policy, s.Attack(), r.OK(), r.Bits, r.Faults, r.Found, r.Layers, r.Beyond, r.OneLayer, r.Step}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	t := p.Totals()
	return e.Encode(struct {
		OK      bool   `json:"ok"`
		Without string `json:"without,omitempty"`
		Totals
		Results []entry `json:"results"`
	}{t.Passed == t.Scenarios, p.Without, t, all})
}

// WriteMatrix writes which layer stopped which attack (x), what stops it where that layer
// is taken out of the policy (o), and which arrive then. What is no part of a policy is not
// taken away.
func (p *Report) WriteMatrix(w io.Writer) error {
	var names []string
	width := 8
	for _, name := range LayerNames() {
		if slices.ContainsFunc(p.Results, func(r *Result) bool { return slices.Contains(r.Layers, name) || slices.Contains(r.Beyond, name) }) {
			names = append(names, name)
		}
	}
	for _, r := range p.Results {
		width = max(width, len(r.Scenario.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %s\n", width, "scenario", strings.Join(names, "  "))
	single := make(map[string]int)
	for _, r := range p.Results {
		if !r.Scenario.Attack() {
			continue
		}
		fmt.Fprintf(&b, "%-*s", width, audit.Printable(r.Scenario.Name))
		for _, name := range names {
			mark := "."
			switch {
			case slices.Contains(r.Layers, name):
				mark = "x"
			case slices.Contains(r.Beyond, name):
				mark = "o"
			}
			fmt.Fprintf(&b, "  %-*s", len(name), mark)
		}
		if r.OneLayer {
			single[strings.Join(r.Layers, " and ")]++
			b.WriteString("  one layer")
		}
		b.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(single)) {
		fmt.Fprintf(&b, "%s stopped by %s alone\n", count(single[name], "attack"), name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteGitHub writes an annotation for each fault, as the workflow commands of GitHub
// Actions have them.
func (p *Report) WriteGitHub(w io.Writer) error {
	for _, r := range p.Results {
		for _, f := range r.Faults {
			_, err := fmt.Fprintf(w, "::error file=%s,line=%d,title=%s::%s\n", property(r.Scenario.File), r.Scenario.Line, property(headline(f.Kind)+" "+r.Scenario.Name), command(f.Text))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// command escapes the text of a workflow command.
func command(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(command(s))
}

// place is a position of a policy in three: file, line, column.
func place(position string) (file string, line, column int) {
	rest, last, ok := cutLast(position)
	if !ok {
		return position, 0, 0
	}
	fmt.Sscan(last, &column)
	file, last, _ = cutLast(rest)
	fmt.Sscan(last, &line)
	return cmp.Or(file, rest), line, column
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
