package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

const granted = `version = 1
grant "api" {
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/status"
  }
}
`

// ask is a request as a front would make it of METHOD URL-without-scheme.
func ask(t *testing.T, text string) *capability.Request {
	t.Helper()
	method, target, _ := strings.Cut(text, " ")
	target, body, _ := strings.Cut(target, " ")
	host, rest, _ := strings.Cut(target, "/")
	path, query, _ := strings.Cut("/"+rest, "?")
	p, err := capability.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	q, err := capability.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	r := &capability.Request{Time: time.Unix(1, 0), Kind: capability.KindHTTP, Host: capability.Host(host), Port: 443, Scheme: capability.HTTPS, Method: method, Path: p, Query: q}
	if body != "" {
		r.Body = capability.Body{Present: true, Type: body, Length: 10}
	}
	return r
}

// proposed runs requests against the granted policy, all of which are refused, and
// returns what is proposed of them.
func proposed(t *testing.T, requests ...*capability.Request) string {
	t.Helper()
	file, diags := policyfile.Parse("policy.hcl", []byte(granted), policyfile.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	dir := t.TempDir()
	guard, err := audit.New(audit.Config{Dir: dir, Policy: file.Policy, PolicyText: file.Text, PolicyPath: "policy.hcl"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if guard.Authorize(r).Allowed() {
			t.Fatalf("%v is granted already", r)
		}
	}
	if err := guard.Close(0); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := writeProposal(&b, dir, "last"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestProposalPermitsWhatWasRefused judges again under the proposal.
func TestProposalPermitsWhatWasRefused(t *testing.T) {
	for _, c := range []struct {
		name     string
		refused  []string
		still    []string // refused under the proposal too
		contains []string
	}{
		{
			name: "one", refused: []string{"GET api.example.com/repos/app"},
			still:    []string{"PUT api.example.com/repos/app", "GET api.example.com/repos/app/x", "GET api.example.com/repos/other", "GET api.example.com/repos/app?a=1"},
			contains: []string{`path    = "/repos/app"`},
		},
		{
			name: "two stay two", refused: []string{"GET api.example.com/repos/a", "GET api.example.com/repos/b"},
			still: []string{"GET api.example.com/repos/c"},
		},
		{
			name: "numbers", refused: []string{"GET api.example.com/issues/1", "GET api.example.com/issues/22", "GET api.example.com/issues/333", "HEAD api.example.com/issues/1"},
			still:    []string{"GET api.example.com/issues/x", "GET api.example.com/issues/1/2", "HEAD api.example.com/issues/2"},
			contains: []string{"{part} stands for 3 values that were seen, and for every other int", "where   = { part = int }"},
		},
		{
			name: "versions", refused: []string{"GET api.example.com/v/1.0.0/x", "GET api.example.com/v/1.2.0/x", "GET api.example.com/v/2.0.0-rc.1/x"},
			still: []string{"GET api.example.com/v/latest/x", "GET api.example.com/v/1.0.0/y"}, contains: []string{"{ part = semver }"},
		},
		{
			name: "names", refused: []string{"GET api.example.com/a", "GET api.example.com/b.c", "GET api.example.com/D~e"},
			still: []string{"GET api.example.com/@x", "GET api.example.com/a/b"}, contains: []string{"{ part = slug }"},
		},
		{
			name: "not even a slug", refused: []string{"GET api.example.com/@a", "GET api.example.com/@b", "GET api.example.com/%7Bx%7D", "GET api.example.com/$%7Bx%7D"},
			still: []string{"GET api.example.com/@c", "GET api.example.com/x"},
		},
		{
			name: "two places differ", refused: []string{"GET api.example.com/a/-/a-1.tgz", "GET api.example.com/b/-/b-1.tgz", "GET api.example.com/c/-/c-1.tgz"},
			still: []string{"GET api.example.com/a/-/b-1.tgz"},
		},
		{
			name: "one variable a path", refused: []string{"GET api.example.com/a/1", "GET api.example.com/a/2", "GET api.example.com/a/3", "GET api.example.com/b/1", "GET api.example.com/b/2", "GET api.example.com/b/3", "GET api.example.com/c/1", "GET api.example.com/c/2", "GET api.example.com/c/3"},
			still: []string{"GET api.example.com/d/1"},
		},
		{
			name: "methods join", refused: []string{"GET api.example.com/x", "HEAD api.example.com/x", "DELETE api.example.com/y"},
			still: []string{"HEAD api.example.com/y", "DELETE api.example.com/x"}, contains: []string{`["GET", "HEAD"]`, "body    = none"},
		},
		{
			name: "queries", refused: []string{"GET api.example.com/x?page=1", "GET api.example.com/x?page=2&per=9", "GET api.example.com/x?id=abc"},
			still: []string{"GET api.example.com/x", "GET api.example.com/x?page=a", "GET api.example.com/x?per=1", "GET api.example.com/x?page=1&id=a"},
		},
		{
			name: "bodies", refused: []string{"POST api.example.com/x application/json", "POST api.example.com/x text/plain", "POST api.example.com/x multipart/form-data", "POST api.example.com/x application/x-www-form-urlencoded"},
			still: []string{"POST api.example.com/x application/xml", "GET api.example.com/x", "POST api.example.com/x?a=1 text/plain"},
		},
		{
			name: "hosts", refused: []string{"GET other.example.com/x", "GET api.example.com/x"},
			still: []string{"GET other.example.com/y", "GET third.example.com/x"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var requests []*capability.Request
			for _, text := range c.refused {
				requests = append(requests, ask(t, text))
			}
			text := proposed(t, requests...)
			file, diags := policyfile.Parse("proposal.hcl", []byte(text), policyfile.Options{})
			if diags.HasErrors() {
				t.Fatalf("%v in\n%s", diags, text)
			}
			for _, r := range requests {
				if d := file.Policy.Decide(r); !d.Allowed() {
					t.Errorf("%s %s is refused: %s, under\n%s", r.Method, r.Path, d.Reason, text)
				}
			}
			for _, still := range c.still {
				if file.Policy.Decide(ask(t, still)).Allowed() {
					t.Errorf("%s is permitted, under\n%s", still, text)
				}
			}
			for _, want := range c.contains {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
		})
	}
}

// TestProposalRemarks has refusals that no grant can answer, and text of the sandbox
// that would like to be policy.
func TestProposalRemarks(t *testing.T) {
	evil := ask(t, "GET api.example.com/%22%7D%7D%20grant%20%22all%22%20%7B/%E2%80%AE/$%7Bx%7D")
	again := ask(t, "GET api.example.com/x")
	requests := []*capability.Request{
		{Kind: capability.KindName, Host: "evil.example.net", Protocol: "A"},
		{Kind: capability.KindHTTP, Method: "BREW\n}\ngrant \"all\" {", Host: "api.example.com", Port: 443, Scheme: capability.HTTPS, Path: evil.Path},
		evil, again, again, again,
	}
	text := proposed(t, requests...)
	file, diags := policyfile.Parse("proposal.hcl", []byte(text), policyfile.Options{})
	if diags.HasErrors() || len(file.Policy.Grants()) > 1 {
		t.Errorf("%v in\n%s", diags, text)
	}
	for _, want := range []string{"#   name A evil.example.net\n", "# Asked 3 times.\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\u202e") || strings.Contains(text, "\ngrant \"all\"") {
		t.Errorf("text of the sandbox got through:\n%s", text)
	}
}

func ExampleExplainCmd_proposal() {
	r := &refusal{&audit.Record{Kind: "http", Method: "GET", Smallest: "grant \"x\" {\n  host = \"api.example.com\"\n  credential = anonymous\n  allow {\n    methods = [\"GET\"]\n    path    = \"/a\"\n  }\n}\n"}, 2}
	fmt.Print(string(propose("20270102T030405Z", []*refusal{r})))
	// Output:
	// # Proposed from what run 20270102T030405Z was refused. Every block permits something that was
	// # asked for inside the sandbox: grant what the work needs, and take the rest out.
	//
	// version = 1
	//
	// grant "new-api.example.com" {
	//   reason = "..." # why
	//   owner  = "..." # who answers for it
	//   # expires = "2030-01-31" # until when
	//   host       = "api.example.com"
	//   credential = anonymous
	//
	//   # Asked 2 times.
	//   allow {
	//     methods = ["GET"]
	//     path    = "/a"
	//   }
	// }
}

// FuzzProposal has logs that say anything: what is proposed loads, and nothing in it
// drives a terminal.
func FuzzProposal(f *testing.F) {
	f.Add("http", "PUT", "api.example.com", "/a", "grant \"x\" {\n  host = \"api.example.com\"\n  credential = anonymous\n  allow {\n    methods = [\"GET\"]\n    path    = \"/a\"\n  }\n}\n", "")
	f.Add("name", "", "evil.example.net", "", "grant \"x\" {\n", "")
	f.Add("packet", "}\ngrant", "\x1b[2J", "\u202e", "", "${x}\n}")
	f.Fuzz(func(t *testing.T, kind, method, host, path, smallest, excerpt string) {
		r := &audit.Record{Kind: kind, Method: method, Host: host, Path: path, Smallest: smallest, Excerpt: excerpt, Reason: "no_grant"}
		text := string(propose("run", []*refusal{{r, 1}, {r, 2}}))
		if _, diags := policyfile.Parse("proposal.hcl", []byte(text), policyfile.Options{}); diags.HasErrors() {
			t.Errorf("%v in\n%s", diags, text)
		}
		if strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
			t.Errorf("not printable: %q", text)
		}
	})
}
