package policyfile

import (
	"os"
	"strings"
	"testing"
)

// TestReadme: every policy that the README shows loads without a remark, and grants
// something.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```hcl\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the README shows no policy")
	}
	for _, block := range blocks {
		policy, _, _ := strings.Cut(block, "```")
		file, diags := Parse("README.md", []byte(policy), Options{Now: testTime})
		if len(diags) > 0 || len(file.Policy.Grants()) == 0 && len(file.Roles) == 0 {
			t.Errorf("%d grants, %d roles, %v in\n%s", len(file.Policy.Grants()), len(file.Roles), diags, policy)
		}
	}
}
