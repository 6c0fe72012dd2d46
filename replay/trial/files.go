package trial

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

type suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Cases    []test   `xml:"testcase"`
}

type test struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	File    string   `xml:"file,attr"`
	Line    int      `xml:"line,attr"`
	Failure *failure `xml:"failure,omitempty"`
	Error   *failure `xml:"error,omitempty"`
}

type failure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the results as a test suite of JUnit XML.
func (p *Report) WriteJUnit(w io.Writer) error {
	t := p.Totals()
	s := suite{Name: "scupper replay", Tests: t.Scenarios, Failures: t.Scenarios - t.Passed - t.Troubles, Errors: t.Troubles}
	for _, r := range p.Results {
		class := strings.TrimSuffix(filepath.Base(r.Scenario.File), ".hcl")
		c := test{Name: r.Scenario.Name, Class: class, File: r.Scenario.File, Line: r.Scenario.Line}
		if !r.OK() {
			f := r.failure()
			if r.Faults[0].Kind == Trouble {
				c.Error = f
			} else {
				c.Failure = f
			}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Result) failure() *failure {
	var lines []string
	for _, f := range r.Faults {
		lines = append(lines, fmt.Sprintf("%s: %s", f.Kind, f.Text))
	}
	if r.Step != nil {
		lines = append(lines, r.Step.sentence())
	}
	return &failure{Type: string(r.Faults[0].Kind), Message: r.Faults[0].Text, Text: strings.Join(lines, "\n")}
}

// The part of SARIF 2.1.0 that is written.
type (
	sarif struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

// WriteSARIF writes each fault at the line of the policy that let it through, or refused
// it, and beside it the scenario that shows it.
func (p *Report) WriteSARIF(w io.Writer, version string) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "scupper replay", Version: version, Rules: []sarifRule{
		{string(Leak), sarifText{"Data leaves the sandbox"}},
		{string(Refused), sarifText{"A legitimate job is refused"}},
		{string(Verdict), sarifText{"A scenario comes out otherwise than expected"}},
		{string(Dead), sarifText{"A scenario cannot fail"}},
		{string(Trouble), sarifText{"A scenario could not be replayed"}},
	}}}, Results: []sarifResult{}}
	for _, r := range p.Results {
		at := located(r.Scenario.File, r.Scenario.Line, 0)
		at.Message = &sarifText{"scenario " + r.Scenario.Name}
		for _, f := range r.Faults {
			one := sarifResult{Rule: string(f.Kind), Level: "error", Message: sarifText{r.Scenario.Name + ": " + f.Text}, Locations: []sarifLocation{at}}
			if r.Step != nil && r.Step.Position != "" {
				file, line, column := place(r.Step.Position)
				one.Locations, one.Related = []sarifLocation{located(file, line, column)}, []sarifLocation{at}
			}
			run.Results = append(run.Results, one)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(sarif{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func located(file string, line, column int) sarifLocation {
	return sarifLocation{Physical: sarifPhysical{sarifArtifact{filepath.ToSlash(file)}, sarifRegion{max(line, 1), column}}}
}
