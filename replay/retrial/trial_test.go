package retrial

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

const oldText = `version = 1
credential "llm" {
  source { env = "LLM_KEY" }
  header "Authorization" { value = "Bearer ${secret}" }
}
grant "issues" {
  host = "api.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/repos/acme/{repo}/issues"
    query   = { state = one_of("open", "closed"), page = int, q = slug }
  }
  allow {
    methods = ["POST"]
    path    = "/repos/acme/{repo}/comments"
    body {
      type = "application/json"
      max  = "1KiB"
    }
  }
}
grant "llm" {
  host       = "llm.example.com"
  credential = credential.llm
  allow {
    methods = ["GET"]
    path    = "/v1/models"
    headers = { X-Trace = slug }
  }
}
`

func parse(t testing.TB, text string) *policyfile.File {
	t.Helper()
	f, diags := policyfile.Parse("policy.hcl", []byte(text), policyfile.Options{ReadFile: func(string) ([]byte, error) { return []byte(`{"type": "object"}`), nil }})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return f
}

const placeholder = "scupper-llm-0123456789abcdef"

func withPlaceholder(t testing.TB, f *policyfile.File) *capability.Policy {
	t.Helper()
	p, err := f.Policy.WithPlaceholders(map[string]string{"llm": placeholder})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run makes a log of the requests, and says which record is of which.
func run(t testing.TB, text string, requests []*capability.Request) (dir, run string, of map[string]*capability.Request) {
	t.Helper()
	dir, of = t.TempDir(), make(map[string]*capability.Request)
	g, err := audit.New(audit.Config{
		Dir: dir, Policy: withPlaceholder(t, parse(t, text)), PolicyText: []byte(text), PolicyPath: "policy.hcl", Version: "test", Budget: 1 << 40, WriteTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		d := g.Authorize(r)
		if _, known := of[d.ID]; !known {
			of[d.ID] = r
		}
		g.Finish(d, capability.Outcome{Status: 200, Sent: 100, Received: 1000})
	}
	if err := g.Close(0); err != nil {
		t.Fatal(err)
	}
	return dir, g.Run(), of
}

func ask(t testing.TB, method, host, target string) *capability.Request {
	t.Helper()
	rawPath, rawQuery, _ := strings.Cut(target, "?")
	path, err := capability.ParsePath(rawPath)
	if err != nil {
		t.Fatal(err)
	}
	query, err := capability.ParseQuery(rawQuery)
	if err != nil {
		t.Fatal(err)
	}
	return &capability.Request{Kind: capability.KindHTTP, Host: capability.Host(host), Port: 443, Scheme: capability.HTTPS, Method: method, Path: path, Query: query, Front: capability.Transparent, Protocol: "HTTP/1.1"}
}

func retry(t testing.TB, dir, run, text string) *Report {
	t.Helper()
	trial := New(Config{Dir: dir, Policy: parse(t, text), Version: "test"})
	if err := trial.Run(run); err != nil {
		t.Fatal(err)
	}
	return trial.Report()
}

// edits are changes of the policy, by name.
func edits() map[string]func(string) string {
	swap := func(from, to string) func(string) string {
		return func(s string) string { return strings.Replace(s, from, to, 1) }
	}
	return map[string]func(string) string{
		"same":            func(s string) string { return s },
		"wider path":      swap("/repos/acme/{repo}/issues", "/repos/{owner}/{repo}/issues"),
		"narrower path":   swap(`path    = "/repos/acme/{repo}/issues"`, "path    = \"/repos/acme/{repo}/issues\"\n    where   = { repo = \"app\" }"),
		"any query":       swap(`{ state = one_of("open", "closed"), page = int, q = slug }`, "any"),
		"narrower query":  swap("q = slug", `q = one_of("bug", "feature")`),
		"wider query":     swap("page = int", `page = regex("[0-9a-z]*")`),
		"no query":        swap(`    query   = { state = one_of("open", "closed"), page = int, q = slug }`+"\n", ""),
		"write method":    swap(`["GET"]`, `["GET", "DELETE"]`),
		"larger body":     swap(`"1KiB"`, `"2KiB"`),
		"smaller body":    swap(`"1KiB"`, `"10B"`),
		"schema":          swap(`max  = "1KiB"`, "max  = \"1KiB\"\n      schema = file(\"comment.schema.json\")"),
		"other type":      swap("application/json", "text/plain"),
		"anonymous":       swap("credential.llm", "anonymous"),
		"bound":           swap("credential = anonymous", "credential = credential.llm"),
		"strip":           swap("credential = anonymous", "credential = anonymous\n  foreign = strip"),
		"header gone":     swap("    headers = { X-Trace = slug }\n", ""),
		"header narrower": swap("X-Trace = slug", "X-Trace = int"),
		"expired":         swap(`host = "api.example.com"`, "host = \"api.example.com\"\n  expires = \"2026-01-01\""),
		"grant gone": func(s string) string {
			a, _, _ := strings.Cut(s, `grant "llm"`)
			_, b, _ := strings.Cut(a, `grant "issues"`)
			return "version = 1\ngrant \"issues\"" + b
		},
		"wildcard":   swap(`host = "api.example.com"`, `host = "*.example.com"`),
		"plain http": swap(`host = "api.example.com"`, "host = \"api.example.com\"\n  scheme = \"http\"\n  port = 443"),
		"another endpoint": func(s string) string {
			return s + "grant \"paste\" {\n  host = \"paste.example.com\"\n  credential = anonymous\n  allow {\n    methods = [\"GET\"]\n    path = \"/{name}\"\n  }\n}\n"
		},
	}
}

// anyRequest is a request of a vocabulary that comes close to the grants.
func anyRequest(t testing.TB, r *rand.Rand) *capability.Request {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	q := ask(t, pick("GET", "GET", "GET", "POST", "DELETE"), pick("api.example.com", "api.example.com", "llm.example.com", "paste.example.com", "other.test"),
		pick("/repos/acme/app/issues", "/repos/acme/lib/issues", "/repos/evil/app/issues", "/repos/acme/app/comments", "/v1/models", "/x", "/ghp_0123456789abcdefghijklmnop")+
			pick("", "", "?state=open", "?state=all", "?page=12", "?page=ab", "?q=bug", "?q=feature&state=open", "?q=secrets", "?page=1&page=2", "?token=abc", "?q=", "?_method=PUT", "?other=1"))
	q.Header = make(map[string][]string)
	for name, values := range map[string][]string{
		"Authorization": {"", "", "", "Bearer sk-foreign", "Bearer " + placeholder, placeholder}, "Cookie": {"", "", "", "", "a=b"},
		"X-Trace": {"", "", "12", "abc", "not a slug!"}, "X-Http-Method-Override": {"", "", "", "", "", "DELETE"}, "X-Other": {"", "", "", "", placeholder},
	} {
		if v := pick(values...); v != "" {
			q.Header[name] = []string{v}
		}
	}
	if q.Method == "POST" || r.IntN(9) == 0 {
		q.Body = capability.Body{Present: true, Type: pick("application/json", "text/plain"), Encoding: pick("", "", "gzip"), Length: []int64{0, 5, 100, 1500, -1}[r.IntN(5)]}
	}
	q.WebSocket = q.Method == "GET" && r.IntN(12) == 0
	q.Kind = []capability.Kind{capability.KindHTTP, capability.KindHTTP, capability.KindHTTP, capability.KindHTTP, capability.KindConnect, capability.KindName}[r.IntN(6)]
	return q
}

// What the log is said to show is what the new policy decides of the request itself.
func TestFindingsAreTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var requests []*capability.Request
	for range 4000 {
		requests = append(requests, anyRequest(t, r))
	}
	dir, id, of := run(t, oldText, requests)
	for name, edit := range edits() {
		t.Run(name, func(t *testing.T) {
			text := edit(oldText)
			if name != "same" && text == oldText {
				t.Fatal("the edit changes nothing")
			}
			file := parse(t, text)
			policy := withPlaceholder(t, file)
			h := &hearing{Trial: New(Config{Dir: dir, Policy: file, Version: "test"}), history: newHistory(dir, id, "policy.hcl")}
			var decided, open int
			for rec, err := range audit.Records(dir, id) {
				if err != nil {
					t.Fatal(err)
				}
				if rec.Event != audit.Decided {
					if rec.Event == audit.RunStarted {
						h.record(rec)
					}
					continue
				}
				f := h.judge(h.request(rec, "test"), "")
				asked := *of[rec.ID]
				asked.Time = rec.Time
				d := policy.Decide(&asked)
				inspected := d.Allowed() && d.Allow != nil && asked.Body.Present && d.Allow.Body.Inspector != nil
				switch {
				case f.answer == maybe:
					open++
				case inspected && f.answer == yes && name == "schema":
					t.Errorf("%s: a body that nobody has seen is taken", rec.ID)
				case (f.answer == yes) != d.Allowed():
					t.Errorf("%+v headers %v: said %v %s, is %s %s", rec, asked.Header, f.answer, f.reason, d.Verdict(), d.Reason)
				default:
					decided++
				}
			}
			t.Logf("%d decided, %d undecidable", decided, open)
			if decided < 3*open {
				t.Errorf("%d decided, %d undecidable", decided, open)
			}
		})
	}
}

func TestSamePolicyChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var requests []*capability.Request
	for range 2000 {
		requests = append(requests, anyRequest(t, r))
	}
	dir, id, _ := run(t, oldText, requests)
	report := retry(t, dir, id, oldText)
	if report.NewlyAllowed.Count != 0 || report.NewlyDenied.Count != 0 || report.Requests != 2000 {
		t.Errorf("got %+v", report)
	}
	for _, g := range report.Undecidable.Groups {
		if g.Example.Was == string(capability.Granted) {
			t.Errorf("an allowed request is undecidable under the policy that allowed it: %+v", g)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	var requests []*capability.Request
	for i := range 100_000 { // and as many outcomes
		requests = append(requests, ask(b, "GET", "api.example.com", fmt.Sprintf("/repos/acme/app%d/issues?page=%d&state=open", i%5000, i)))
	}
	dir, id, _ := run(b, oldText, requests)
	changed := edits()["wider path"](oldText)
	for b.Loop() {
		if report := retry(b, dir, id, changed); report.Records < 200_000 || report.Unchanged.Allowed != 100_000 {
			b.Fatalf("got %+v", report)
		}
	}
}
