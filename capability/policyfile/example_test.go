package policyfile

import (
	"os"
	"regexp"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

const examplePath = "../../policy.hcl"

// TestExample: the policy at the root of the project loads without a remark, is laid
// out as `policy fmt` does it, and grants what its notes say.
func TestExample(t *testing.T) {
	text, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	file, diags := Parse("policy.hcl", text, Options{Now: testTime})
	if len(diags) > 0 {
		t.Fatalf("got %v, want no remarks", diags)
	}
	if formatted, _ := Format("policy.hcl", text); string(formatted) != string(text) {
		t.Error("not formatted: scupper policy fmt -w policy.hcl")
	}
	for line, want := range map[string]string{
		"GET https://npm.example.com/left-pad":                                           "/left-pad",
		"PUT https://npm.example.com/left-pad":                                           "method_not_granted",
		"GET https://api.example.com/repos/acme/app/issues":                              "/repos/acme/app/issues",
		"GET https://api.example.com/repos/acme/app/issues?per_page=9&state=open&page=2": "/repos/acme/app/issues?state=open&page=2&per_page=9",
		"GET https://api.example.com/repos/acme/app/issues?state=secret":                 "query_not_granted",
		"GET https://api.example.com/repos/evil/app/issues":                              "path_not_granted",
		"GET https://api.example.com/repos/acme/app/issues/7/comments":                   "/repos/acme/app/issues/7/comments",
		"POST https://api.example.com/repos/acme/app/issues/7/comments":                  "method_not_granted",
		"GET https://api.example.com/repos/acme/app/issues/c2VjcmV0/comments":            "path_not_granted",
		"GET https://other.example.com/":                                                 "no_grant",
	} {
		if got := decide(t, file.Policy, line); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
	late := func(r *capability.Request) { r.Time = time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC) }
	last := func(r *capability.Request) { r.Time = time.Date(2030, 12, 31, 23, 59, 59, 999, time.UTC) }
	if got := decide(t, file.Policy, "GET https://api.example.com/repos/acme/app/issues", last); got != "/repos/acme/app/issues" {
		t.Errorf("in the last second of the last day: got %q", got)
	}
	if got := decide(t, file.Policy, "GET https://api.example.com/repos/acme/app/issues", late); got != "grant_expired" {
		t.Errorf("on the day after: got %q", got)
	}
}

// TestExampleAlternatives: the lines that are not in force would load if they were.
func TestExampleAlternatives(t *testing.T) {
	text, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	mark := regexp.MustCompile(`(?m)^( *)#: `)
	if n := len(mark.FindAll(text, -1)); n < 10 {
		t.Fatalf("%d lines are not in force, want some", n)
	}
	all := mark.ReplaceAll(text, []byte("$1"))
	file, diags := Parse("policy.hcl", all, files(map[string]string{"package-lock.json": lock, "company-ca.pem": certificate(t)}))
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	if len(file.Files) != 2 || file.Upstream.Resolver != "203.0.113.53:53" || len(file.Upstream.ExtraCA) == 0 || variable(file.Environment, "CI") != "1" {
		t.Errorf("got %+v", file)
	}
	if got := decide(t, file.Policy, "GET https://npm.example.com/not-in-the-lockfile"); got != "path_not_granted" {
		t.Errorf("got %q", got)
	}
}
