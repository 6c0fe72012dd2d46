package capability

import (
	"strings"
	"testing"
)

// TestTemplateTail: a variable over several segments ends where the literal after it
// begins, and nothing behind it crosses a slash.
func TestTemplateTail(t *testing.T) {
	lookup := template(t, "/lookup/{mod...}@{version}", "mod", "go_module", "version", "go_version")
	free := template(t, "/{a...}@{b}", "b", OneOf("x", "x/y"))
	limited := template(t, "/{mod...}/@v/list", "mod", GoModule("example.com/lib", "go.example.com"))
	long := "/lookup/example.com" + strings.Repeat("/a.b", 40) + "@v1.0.0"
	for _, c := range []struct {
		template   *Template
		path, want string
	}{
		{lookup, "/lookup/example.com@v1.0.0", "/lookup/example.com@v1.0.0"},
		{lookup, "/lookup/example.com/a/b@v1.0.0", "/lookup/example.com/a/b@v1.0.0"},
		{lookup, "/lookup/example.com/%21a/b@v2.0.0+incompatible", "/lookup/example.com/!a/b@v2.0.0%2Bincompatible"},
		{lookup, "/lookup/example.com%2Fa@v1.0.0", ""},
		{lookup, "/lookup/example.com/a@b@v1.0.0", ""},
		{lookup, "/lookup/example.com/a@v1.0.0/b", ""},
		{lookup, "/lookup/example/a@v1.0.0", ""},
		{lookup, "/lookup/example.com/a@", ""},
		{lookup, "/lookup/@v1.0.0", ""},
		{lookup, "/lookup/example.com/a@v1.0.0/", ""},
		{lookup, long, ""},
		{free, "/a@x", "/a@x"},
		{free, "/a@x/y", ""},
		{free, "/a@x%2Fy", ""},
		{limited, "/example.com/lib/@v/list", "/example.com/lib/@v/list"},
		{limited, "/example.com/lib/v2/@v/list", "/example.com/lib/v2/@v/list"},
		{limited, "/go.example.com/x/y/@v/list", "/go.example.com/x/y/@v/list"},
		{limited, "/example.com/library/@v/list", ""},
		{limited, "/example.com/@v/list", ""},
		{limited, "/evil.test/example.com/lib/@v/list", ""},
		{limited, "/go.example.com/go.example.com." + "/@v/list", "/go.example.com/go.example.com./@v/list"},
		{limited, "/go.example.com.evil.test/@v/list", ""},
	} {
		p, err := ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := c.template.render(p); got != c.want {
			t.Errorf("%s under %s: got %q, want %q", c.path, c.template, got, c.want)
		}
		if c.template.Match(p) != (c.want != "") {
			t.Errorf("%s under %s: match and rendering differ", c.path, c.template)
		}
	}
}
