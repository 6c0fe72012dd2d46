package policyfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func show(t *testing.T, policy string, color bool, width int) string {
	t.Helper()
	_, diags := Parse("policy.hcl", []byte(policy), Options{Now: testTime})
	var b strings.Builder
	if err := diags.Write(&b, color, width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestExcerpt: the place is underlined, whatever stands before it on its line.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 300)
	for name, c := range map[string]struct{ policy, want string }{
		"tabs":         {"version\t=\t2", "    1 | version\t=\t2\n      |        \t \t^\n"},
		"wide letters": {`version = 1` + "\n" + `use "ü" { as = "npm" }`, `    2 | use "ü" { as = "npm" }` + "\n" + `      |     ^^^` + "\n"},
		"CRLF":         {"version = 2\r\n", "    1 | version = 2\n      |           ^\n"},
		"AUD-10":       {"version = 2 # \x1b[2J\x07", "    1 | version = 2 # ?[2J?\n      |           ^\n"},
		"long line":    {"version = 1\nuse \"" + long + "\" {\n}\n", "    2 | use \"" + long[:195] + "\n      |     " + strings.Repeat("^", 196) + "\n"},
		"far right":    {"version /*" + long + "*/ = 2", "    1 | " + long[:45] + "*/ = 2\n      | " + strings.Repeat(" ", 50) + "^\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := show(t, c.policy, false, 0)
			if !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant in it\n%s", got, c.want)
			}
		})
	}
}

func TestColorAndWidth(t *testing.T) {
	got := show(t, "version = 2", true, 40)
	want := "\x1b[31merror\x1b[0m: policy version 2\n  policy.hcl:1,11\n    1 | version = 2\n      |           \x1b[31m^\x1b[0m\n" +
		"  write version = 1 at the top: it is\n  what this scupper understands\n"
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}
