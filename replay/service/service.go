// Package service plays the services that scenarios need, on the pretend Internet.
//
//	inet.Handle("git.example.com", handler)   // one host, a few lines of Go
//	service.Install(inet, pack.Services, dir) // all stand-ins, and what a team's files add
//
// A team adds a service in its scenario files (block service), or here: one line in
// StandIns with a host and a handler. A stand-in behaves like the real service in what
// matters to an attack: it takes what is sent to it, whoever sends it.
//
// Guarantees: a stand-in reads all of a request before it answers, so that all of it is
// on record.
//
// Non-guarantees: none keeps anything, checks a credential, or limits what it takes.
package service

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"scupper.dev/scupper/replay"
	"scupper.dev/scupper/replay/scenario"
)

// A StandIn is one host of the pretend Internet.
type StandIn struct {
	Host  string // "*.attacker.test" is every name below it
	About string
	serve http.HandlerFunc // nil: it answers with what it received
}

// StandIns are the hosts that scenarios may name.
func StandIns() []StandIn {
	return []StandIn{
		{"llm.example.com", "LLM API: /v1/messages, /v1/files, /v1/models, with anybody's key", llm},
		{"llm2.example.com", "LLM API of another kind: /v1/responses, /v1/files, /v1/realtime", llm},
		{"api.example.com", "an API, answers with what it received", nil},
		{"git.example.com", "git host: acme/app, acme/lib and evil/loot by clone, fetch and push; gists, issues, GraphQL", gitHost},
		{"gist.example.com", "gists of the git host", nil},
		{"npm.example.com", "npm registry: packages, publish, search, advisories", nil},
		{"go.example.com", "Go module proxy", moduleProxy},
		{"sum.example.com", "Go checksum database", nil},
		{"pypi.example.com", "Python index: /simple/, uploads", pythonIndex},
		{"files.example.com", "files of the Python index", file},
		{"crates.example.com", "Rust registry", nil},
		{"gems.example.com", "Ruby registry", nil},
		{"maven.example.com", "Java registry", nil},
		{"apt.example.com", "Debian archive", file},
		{"oci.example.com", "container registry: manifests, blobs, uploads", containers},
		{"auth.example.com", "token service of the container registry", token},
		{"models.example.com", "model hub: resolve, preupload, commit", nil},
		{"storage.example.com", "object storage, path style", storage},
		{"*.storage.example.com", "object storage, a host for each bucket", storage},
		{"cdn.example.com", "content delivery network with many tenants", nil},
		{"*.cdn.example.com", "its tenants", nil},
		{"paste.example.com", "paste site: POST / makes a paste", paste},
		{"images.example.com", "image proxy: /proxy?url=… fetches for its caller", image},
		{"docs.example.com", "documentation", page},
		{"www.example.com", "web site", page},
		{"redirect.example.com", "answers 302 to whatever follows /to/", redirect},
		{"echo.example.com", "answers with what it received", nil},
		{"hooks.example.com", "webhooks of a chat", nil},
		{"chat.example.com", "chat API: messages, files, link previews", nil},
		{"telemetry.example.com", "error reports of many tenants", nil},
		{"tracker.example.com", "issue tracker: GraphQL, uploads", nil},
		{"mail.example.com", "SMTP and IMAP, a sink", nil},
		{"db.example.com", "databases, a sink", nil},
		{"resolver.example.com", "DNS over HTTPS", resolver},
		{"metadata.example.com", "metadata service of a cloud, by name", metadata},
		{"internal.example.com", "a service of the company's own network", nil},
		{"attacker.test", "the attacker's web host and resolver", nil},
		{"*.attacker.test", "names below it", nil},
		{"evil.test", "another attacker", nil},
		{"*.evil.test", "names below it", nil},
	}
}

// Known reports whether a stand-in answers for host.
func Known(host string) bool {
	return slices.ContainsFunc(StandIns(), func(s StandIn) bool { return scenario.Matches(s.Host, host) })
}

// Install makes the stand-ins, and the services of scenario files above them, answer on
// in. The git host has its repositories in dir, which is the caller's to remove.
func Install(in *replay.Internet, services []scenario.Service, dir string) error {
	for _, s := range StandIns() {
		if s.serve != nil {
			in.Handle(s.Host, read(s.serve))
		}
	}
	for _, address := range []string{"169.254.169.254", "fd00:ec2::254", "100.100.100.200"} {
		in.Handle(address, read(metadata))
	}
	in.Handle("git.example.com", read((&repositories{dir: dir}).ServeHTTP))
	registry, err := replay.NewRegistry("https://npm.example.com", "1.0.0", "left-pad", "is-number", "@acme/app")
	if err != nil {
		return err
	}
	in.Handle("npm.example.com", read(registry.ServeHTTP))
	for _, s := range services {
		in.Handle(s.Host, read(answers(s)))
	}
	return nil
}

// read has the whole body on record before next looks at the request.
func read(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body strings.Builder
		io.Copy(&body, io.LimitReader(r.Body, 64<<20))
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(strings.NewReader(body.String())), int64(body.Len()), nil
		next(w, r)
	})
}

// answers is what a service of a scenario file answers.
func answers(s scenario.Service) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, a := range s.Responses {
			if a.Method != "" && a.Method != r.Method || a.Path != "" && !fits(a.Path, r.URL.Path) {
				continue
			}
			for name, value := range a.Headers {
				w.Header().Set(name, value)
			}
			w.WriteHeader(a.Status)
			w.Write(a.Body)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s\n%s", r.Method, r.RequestURI, body)
	}
}

// fits compares a path with a pattern in which * stands for anything.
func fits(pattern, s string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(s, prefix)
	}
	return path.Clean(pattern) == path.Clean(s)
}
