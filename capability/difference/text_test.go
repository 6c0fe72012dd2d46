package difference

import (
	"strings"
	"testing"
	"unicode"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// hostile is a policy whose names and patterns would drive a terminal or end a code span.
func hostile(t *testing.T, mark string) *policyfile.File {
	t.Helper()
	template, err := capability.ParseTemplate("/a", nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &capability.Grant{
		Name: "g" + mark, Host: capability.HostPattern{Name: "api.example.com"}, Port: 443, Scheme: capability.HTTPS,
		Credential: capability.Credential{Mode: capability.Anonymous}, Position: capability.Position{File: "p" + mark + ".hcl", Line: 1},
		Allows: []*capability.Allow{{
			Methods: []string{"GET"}, Path: template, Position: capability.Position{File: "p" + mark + ".hcl", Line: 2},
			Query: capability.QueryRule{Parameters: []capability.ParameterRule{{Name: "q" + mark, Value: capability.Literal("v" + mark), Required: true}}},
		}},
	}
	p, err := capability.Compile([]*capability.Grant{g}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &policyfile.File{Name: "p" + mark + ".hcl", Policy: p}
}

// TestHostileText: nothing of a policy reaches a terminal or a page as it is. The
// control is that colour is there when it is asked for.
func TestHostileText(t *testing.T) {
	empty := &policyfile.File{Name: "old.hcl", Policy: new(capability.Policy)}
	r := between(t, empty, hostile(t, "\x1b[31m\u202e`\r\n| x"))
	var colored, plain, page strings.Builder
	if err := r.Text(&colored, true); err != nil || !strings.Contains(colored.String(), red+"newly permitted") {
		t.Errorf("no colour where it is asked for: %v %q", err, colored.String())
	}
	if err := r.Text(&plain, false); err != nil {
		t.Fatal(err)
	}
	if err := r.Markdown(&page); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"text": plain.String(), "colour": colored.String(), "markdown": page.String()} {
		text = strings.NewReplacer(red, "", bold, "", reset, "", green, "").Replace(text)
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%s has a control character at %q", name, text[i:min(len(text), i+30)])
		}
		if strings.Count(text, "x.hcl") == 0 {
			t.Errorf("%s does not name the file: nothing was tested", name)
		}
	}
	for line := range strings.Lines(page.String()) {
		if n := strings.Count(line, "``"); n%2 != 0 {
			t.Errorf("a code span is not closed in %q", line)
		}
	}
}

// TestUnknownSetting: a setting that a later version adds counts as wider when it
// changes, whichever way.
func TestUnknownSetting(t *testing.T) {
	known := leaf{text: "1", number: 1}
	for _, d := range []struct {
		name  string
		to    leaf
		wider bool
	}{{"memory", leaf{text: "2", number: 2}, true}, {"memory", leaf{text: "0.5", number: 0.5}, false}, {"body_rate", leaf{text: "2", number: 2}, false}, {"of_a_later_version", leaf{text: "0.5", number: 0.5}, true}} {
		if got, _ := known.widens(d.to, directions()[d.name]); got != d.wider {
			t.Errorf("%s from 1 to %s: wider %t, want %t", d.name, d.to.text, got, d.wider)
		}
	}
}
