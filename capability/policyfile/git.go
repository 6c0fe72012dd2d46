package policyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gitproto"
)

var gitBlock = shape{attributes: []string{"repositories", "operations", "max"}}

// maxFetch bounds what git posts in one round of a fetch unless the policy says
// otherwise. A line that names an object has 50 bytes, and rounds double the number of
// them: this is a clone of a repository with 5,000 tags, or a fetch whose history
// meets the server's within a few thousand commits.
const maxFetch = 256 << 10

const repositoriesExample = `repositories = ["acme/*"]`

// git expands a git block into two allow blocks for each repository: the refs, and
// what is posted for objects.
func (s *source) git(b *hcl.Block) []*capability.Allow {
	content := s.content(b.Body, gitBlock)
	s.gitOperations(content, b)
	most := int64(maxFetch)
	if a := content.Attributes["max"]; a != nil && s.given(a.Expr) {
		most, _ = s.size(a.Expr)
	}
	a := content.Attributes["repositories"]
	if a == nil {
		s.fail(b.DefRange, "the git block names no repositories", "write "+repositoriesExample)
		return nil
	}
	var out []*capability.Allow
	for _, r := range s.repositories(a.Expr) {
		out = append(out, r.fetch(s.position(b.DefRange.Start), most)...)
	}
	return out
}

func (s *source) gitOperations(content *hcl.BodyContent, b *hcl.Block) {
	a := content.Attributes["operations"]
	if a == nil {
		s.fail(b.DefRange, "the git block names no operations", `write operations = ["fetch"]`)
		return
	}
	items, _ := s.list(a.Expr, `operations = ["fetch"]`)
	for _, i := range items {
		switch v, ok := s.word(i); {
		case v == "push":
			s.later(i.Range(), v)
		case ok && v != "fetch":
			s.fail(i.Range(), fmt.Sprintf("no operation %q", v), `write operations = ["fetch"]: it clones, fetches and lists refs`+suggest(v, "fetch"))
		}
	}
}

// repository is the path of one, or of several where a part of it is "*".
type repository []string

func (s *source) repositories(e hcl.Expression) []repository {
	if v, ok := s.bound[hcl.ExprAsKeyword(e)]; ok {
		var out []repository
		for _, r := range v.list {
			out = append(out, strings.Split(r, "/"))
		}
		return out
	}
	v := s.repositoryNames(e)
	out := make([]repository, len(v))
	for i, r := range v {
		out[i] = strings.Split(r, "/")
	}
	return out
}

// repositoryNames reads a list of repositories; ".git" at their ends is understood.
func (s *source) repositoryNames(e hcl.Expression) []string {
	items, _ := s.list(e, repositoriesExample)
	var out []string
	for _, i := range items {
		v, ok := s.word(i)
		if !ok {
			continue
		}
		name := strings.TrimSuffix(strings.Trim(v, "/"), ".git")
		switch {
		case slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return part != "*" && !isRepositoryPart(part) }):
			s.fail(i.Range(), fmt.Sprintf("%q is not a repository", v), `write the path behind the host, as in "acme/app"; "*" stands for one whole part, as in "acme/*"`)
		case strings.HasPrefix(name, "*"):
			s.warn(i.Range(), "repositories of everybody at the host", `also those that someone else can read the traffic of: name the owner, as in "acme/*"`)
			out = append(out, name)
		case slices.Contains(out, name):
			s.fail(i.Range(), fmt.Sprintf("%q is given twice", name), "each repository stands once")
		default:
			out = append(out, name)
		}
	}
	return out
}

// isRepositoryPart: of the path of a repository.
func isRepositoryPart(s string) bool {
	return made(s, 100, "._~-") && strings.IndexByte(".-", s[0]) < 0
}

// template is the path of the repositories with a suffix, and its variables. Each
// repository is served with ".git" and without.
func (r repository) template(suffix string) (*capability.Template, error) {
	part, err := capability.Regexp("[A-Za-z0-9_~][A-Za-z0-9._~-]{0,99}")
	if err != nil {
		return nil, err
	}
	where := make(map[string]capability.Pattern)
	path := ""
	for i, p := range r {
		name := fmt.Sprintf("part_%d", i+1)
		switch last := i == len(r)-1; {
		case last && p == "*":
			path, where["repository"] = path+"/{repository}", part
		case last:
			path, where["repository"] = path+"/{repository}", capability.OneOf(p, p+".git")
		case p == "*":
			path, where[name] = path+"/{"+name+"}", part
		default:
			path += "/" + p
		}
	}
	return capability.ParseTemplate(path+suffix, where)
}

// fetch is what a clone or a fetch sends (gitprotocol-http).
func (r repository) fetch(at capability.Position, most int64) []*capability.Allow {
	refs, err1 := r.template("/info/refs")
	objects, err2 := r.template("/git-upload-pack")
	if err1 != nil || err2 != nil { // every part has been checked
		return nil
	}
	return []*capability.Allow{{
		Position: at, Methods: []string{"GET"}, Path: refs, Headers: gitHeaders("*/*"),
		Query: capability.QueryRule{Parameters: []capability.ParameterRule{{Name: "service", Value: capability.Literal("git-upload-pack"), Required: true}}},
	}, {
		Position: at, Methods: []string{"POST"}, Path: objects, Headers: gitHeaders("application/x-git-upload-pack-result"),
		Body: &capability.BodyRule{Type: gitproto.MediaType, Max: most, Coding: "gzip", Inspector: gitproto.Fetch{}},
	}}
}

// gitHeaders are constant but for the version of the protocol. Some servers know git
// by the beginning of its name.
func gitHeaders(accept string) []capability.HeaderRule {
	return []capability.HeaderRule{
		{Name: "Accept", Value: capability.Literal(accept)},
		{Name: "Accept-Encoding", Value: capability.Literal("gzip")},
		{Name: "Git-Protocol", Value: capability.OneOf("version=2", "version=1")},
		{Name: "User-Agent", Value: capability.Literal("git/2 (scupper)")},
	}
}
