package policyfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gitproto"
)

const gitPolicy = `version = 1
use "git" {
  url          = "https://git.example.com"
  repositories = ["acme/*", "tools/lint.git", "group/*/deep"]
}
`

const gitGrant = `version = 1
grant "clone" {
  reason     = "r"
  owner      = "o"
  host       = "git.example.com"
  credential = anonymous
  git {
    repositories = ["acme/*", "tools/lint", "group/*/deep"]
    operations   = ["fetch"]
    max          = "1KiB"
  }
}
`

const refs, objects = "/info/refs?service=git-upload-pack", "/git-upload-pack"

// TestGit: a preset and a git block grant the same, in both forms of an address.
func TestGit(t *testing.T) {
	for _, policy := range []string{gitPolicy, gitGrant} {
		p := load(t, policy, Options{}).Policy
		for _, repository := range []string{"acme/app", "acme/app.git", "tools/lint", "tools/lint.git", "group/any/deep", "group/any/deep.git"} {
			if got := decide(t, p, "GET https://git.example.com/"+repository+refs); got != "/"+repository+refs {
				t.Errorf("refs of %s: %q", repository, got)
			}
			for _, coding := range []string{"", "gzip"} {
				if got := decide(t, p, "POST https://git.example.com/"+repository+objects, withBody(gitproto.MediaType, coding)...); got != "/"+repository+objects {
					t.Errorf("objects of %s, coding %q: %q", repository, coding, got)
				}
			}
		}
	}
}

func TestGitNeighbours(t *testing.T) {
	const at = "https://git.example.com"
	p := load(t, gitPolicy, Options{}).Policy
	denied(t, p, []neighbour{
		{"EXF-02 push asks for refs", "GET " + at + "/acme/app/info/refs?service=git-receive-pack", capability.QueryNotGranted, nil},
		{"EXF-02 push", "POST " + at + "/acme/app/git-receive-pack", capability.PathNotGranted, withBody("application/x-git-receive-pack-request", "")},
		{"EXF-02 push, .git", "POST " + at + "/acme/app.git/git-receive-pack", capability.PathNotGranted, withBody("application/x-git-receive-pack-request", "")},
		{"EXF-02 push under another name", "POST " + at + "/acme/app/git-upload-pack", capability.BodyNotGranted, withBody("application/x-git-receive-pack-request", "")},
		{"EXF-09 another owner", "GET " + at + "/mallory/app/info/refs?service=git-upload-pack", capability.PathNotGranted, nil},
		{"EXF-09 push to another owner", "POST " + at + "/mallory/app/git-receive-pack", capability.PathNotGranted, nil},
		{"another repository of a listed owner", "GET " + at + "/tools/other" + refs, capability.PathNotGranted, nil},
		{"a beginning of the name", "GET " + at + "/tools/lint2" + refs, capability.PathNotGranted, nil},
		{"a repository deeper", "GET " + at + "/acme/app/sub" + refs, capability.PathNotGranted, nil},
		{"a repository that is none", "GET " + at + "/acme/.git" + refs, capability.PathNotGranted, nil},
		{"an endless name", "GET " + at + "/acme/" + strings.Repeat("a", 101) + refs, capability.PathNotGranted, nil},
		{"an encoded slash", "GET " + at + "/acme%2fapp" + refs, capability.PathNotGranted, nil},
		{"the old protocol, refs", "GET " + at + "/acme/app/info/refs", capability.QueryNotGranted, nil},
		{"the old protocol, objects", "GET " + at + "/acme/app/objects/info/packs", capability.PathNotGranted, nil},
		{"the old protocol, HEAD", "GET " + at + "/acme/app/HEAD", capability.PathNotGranted, nil},
		{"another parameter", "GET " + at + "/acme/app" + refs + "&x=secret", capability.QueryNotGranted, nil},
		{"the service twice", "GET " + at + "/acme/app" + refs + "&service=git-receive-pack", capability.QueryNotGranted, nil},
		{"an archive", "POST " + at + "/acme/app/git-upload-archive", capability.PathNotGranted, nil},
		{"large files", "POST " + at + "/acme/app.git/info/lfs/objects/batch", capability.PathNotGranted, withBody("application/vnd.git-lfs+json", "")},
		{"large file locks", "POST " + at + "/acme/app.git/info/lfs/locks", capability.PathNotGranted, nil},
		{"device login", "POST " + at + "/login/device/code", capability.PathNotGranted, nil},
		{"web edit", "POST " + at + "/acme/app/edit/main/README", capability.PathNotGranted, nil},
		{"a release", "GET " + at + "/acme/app/releases/download/v1/x.tgz", capability.PathNotGranted, nil},
		{"the page", "GET " + at + "/acme/app", capability.PathNotGranted, nil},
		{"a post to refs", "POST " + at + "/acme/app" + refs, capability.MethodNotGranted, nil},
		{"a read of objects", "GET " + at + "/acme/app" + objects, capability.MethodNotGranted, nil},
		{"a form", "POST " + at + "/acme/app" + objects, capability.BodyNotGranted, withBody("application/x-www-form-urlencoded", "")},
		{"another coding", "POST " + at + "/acme/app" + objects, capability.BodyNotGranted, withBody(gitproto.MediaType, "br")},
		{"two codings", "POST " + at + "/acme/app" + objects, capability.BodyNotGranted, withBody(gitproto.MediaType, "gzip, gzip")},
		{"too large", "POST " + at + "/acme/app" + objects, capability.BodyTooLarge, with(func(r *capability.Request) {
			r.Body = capability.Body{Present: true, Type: gitproto.MediaType, Length: maxFetch + 1}
		})},
		{"its own token", "GET " + at + "/acme/app" + refs, capability.ForeignCredential, withHeader("Authorization", "Basic eDpnaHBfeA==")},
		{"a protocol of its own", "GET " + at + "/acme/app" + refs, capability.HeaderNotGranted, withHeader("Git-Protocol", "version=2:secret")},
		{"cleartext", "GET http://git.example.com/acme/app" + refs, capability.PortNotGranted, nil},
	})
}

// TestGitHeaders: languages, the client's name and its settings stay here.
func TestGitHeaders(t *testing.T) {
	p := load(t, gitPolicy, Options{}).Policy
	r, err := request(t, "POST https://git.example.com/acme/app"+objects)
	if err != nil {
		t.Fatal(err)
	}
	r.Body = capability.Body{Present: true, Type: gitproto.MediaType, Encoding: "gzip", Length: -1}
	r.Header = map[string][]string{
		"Accept": {"application/x-git-upload-pack-result"}, "User-Agent": {"secret"}, "Accept-Encoding": {"deflate, gzip, br, zstd"}, "Accept-Language": {"secret"},
		"Git-Protocol": {"version=2"}, "Content-Type": {gitproto.MediaType}, "Content-Encoding": {"gzip"},
	}
	got, _ := p.Decide(r).Header(r)
	want := map[string][]string{
		"Accept": {"application/x-git-upload-pack-result"}, "User-Agent": {"git/2 (scupper)"}, "Accept-Encoding": {"gzip"},
		"Git-Protocol": {"version=2"}, "Content-Type": {gitproto.MediaType},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}

func TestGitMaximum(t *testing.T) {
	for policy, want := range map[string]int64{
		gitPolicy: 256 << 10, gitGrant: 1 << 10, strings.Replace(gitPolicy, "repositories", "max = \"1MiB\"\nrepositories", 1): 1 << 20,
	} {
		for _, a := range load(t, policy, Options{}).Policy.Grants()[0].Allows {
			if a.Body != nil && a.Body.Max != want {
				t.Errorf("got %d, want %d under\n%s", a.Body.Max, want, policy)
			}
		}
	}
}

// TestPrintKeepsTheInspection: what is printed does not grant more than what was read.
func TestPrintKeepsTheInspection(t *testing.T) {
	text := "version = 1\n" + string(Print(load(t, gitGrant, Options{}).Policy.Grants()))
	for _, a := range load(t, text, Options{}).Policy.Grants()[0].Allows {
		if a.Body != nil && fmt.Sprint(*a.Body) != fmt.Sprint(capability.BodyRule{Type: gitproto.MediaType, Max: 1024, Coding: "gzip", Inspector: gitproto.Fetch{}}) {
			t.Errorf("the body is %+v after\n%s", *a.Body, text)
		}
	}
	loose := strings.ReplaceAll(text, "schema = git_fetch", "")
	if loose == text {
		t.Fatalf("no schema is printed in\n%s", text)
	}
}
