package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.css
var style string

//go:embed page.html
var page string

// WriteHTML writes the report as one self-contained page.
func (r *Report) WriteHTML(w io.Writer) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"grouped": grouped, "plural": pluralOf, "size": size, "clock": clockTime, "date": date, "machine": machineTime, "lasted": lasted,
	}).Parse(page)
	if err != nil {
		return fmt.Errorf("parse report page: %w", err)
	}
	sum := sha256.Sum256([]byte(style))
	err = t.Execute(w, struct {
		*Report
		Style     template.CSS
		StyleHash template.HTMLAttr
	}{r, template.CSS(style), template.HTMLAttr("sha256-" + base64.StdEncoding.EncodeToString(sum[:]))})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// pluralOf is plural for the page, which has numbers of both types.
func pluralOf(n any, noun string) string {
	if i, ok := n.(int); ok {
		return plural(i, noun)
	}
	i, _ := n.(int64)
	return plural(i, noun)
}
