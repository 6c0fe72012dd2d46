package capability

import (
	"slices"
	"testing"
)

func toolPolicy(t *testing.T) *Policy {
	t.Helper()
	p, err := Compile(nil, []Role{
		{Name: "dev", Position: Position{File: "p.hcl", Line: 2, Column: 1}, Tools: []string{"read", "bash", "edit", "pinned", "gone"}},
		{Name: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.WithTools([]Tool{{Name: "read"}, {Name: "write"}, {Name: "bash"}, {Name: "edit", Disabled: true}, {Name: "pinned", Quarantined: true}})
}

func TestToolCallsAreDeniedUnlessTheRoleListsTheTool(t *testing.T) {
	whole := toolPolicy(t)
	dev, err := whole.ForRole("dev")
	if err != nil {
		t.Fatal(err)
	}
	dev, err = dev.WithPlaceholders(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		role, tool string
		want       Reason
	}{
		{"dev", "read", Granted},
		{"dev", "bash", Granted},
		{"dev", "write", ToolNotGranted},
		{"dev", "edit", ToolDisabled},
		{"dev", "pinned", ToolQuarantined},
		{"dev", "gone", ToolUnknown},
		{"dev", "READ", ToolUnknown},
		{"dev", "", ToolUnknown},
		{"none", "read", ToolNotGranted},
		{"", "read", ToolNotGranted},
		{"other", "read", ToolNotGranted},
	} {
		for name, p := range map[string]*Policy{"the policy": whole, "that of the role": dev} {
			d := p.Decide(&Request{Kind: KindTool, Tool: ToolCall{Role: row.role, Name: row.tool}})
			if d.Reason != row.want || d.Allowed() != (row.want == Granted) {
				t.Errorf("%s: role %q, tool %q: got %s, want %s", name, row.role, row.tool, d.Reason, row.want)
			}
		}
	}
	if got := whole.ToolsOf("dev"); !slices.Equal(got, []string{"bash", "read"}) {
		t.Errorf("tools of dev: %v", got)
	}
	if got := new(Policy).Decide(&Request{Kind: KindTool, Tool: ToolCall{Role: "dev", Name: "read"}}); got.Allowed() {
		t.Error("the zero policy allows a tool")
	}
}

func TestDeniedToolsHaveOneSentence(t *testing.T) {
	for _, r := range []Reason{ToolUnknown, ToolNotGranted, ToolDisabled, ToolQuarantined} {
		if r.Sentence() != ToolUnknown.Sentence() {
			t.Errorf("%s has a sentence of its own: %q", r, r.Sentence())
		}
	}
}
