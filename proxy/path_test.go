package proxy

import (
	"fmt"
	"strconv"
	"testing"

	"scupper.dev/scupper/capability"
)

// pathRow is one spelling of a request target.
type pathRow struct {
	id, send, want string
	reason         capability.Reason
	fields         []string // name, value of a header besides
}

func (r pathRow) header() (text string) {
	for i := 0; i < len(r.fields); i += 2 {
		text += r.fields[i] + ": " + r.fields[i+1] + "\r\n"
	}
	return text
}

// paths are spellings of request targets: want is what arrives, empty when refused.
var paths = []pathRow{
	{"control", "/public/a", "/public/a", "", nil},
	{"control deep", "/public/a/b-c/d.txt", "/public/a/b-c/d.txt", "", nil},
	{"PATH-08 no rule", "/secret", "", capability.PathNotGranted, nil},
	{"PATH-09 boundary", "/publicx/a", "", capability.PathNotGranted, nil},
	{"PATH-13 case", "/PUBLIC/a", "", capability.PathNotGranted, nil},
	{"PATH-13 case, encoded", "/%50UBLIC/a", "", capability.PathNotGranted, nil},
	{"PATH-01 dots", "/public/../secret", "", capability.MalformedPath, nil},
	{"PATH-01 dot", "/public/./a", "", capability.MalformedPath, nil},
	{"PATH-08 leading dot", "/./public/a", "", capability.MalformedPath, nil},
	{"PATH-02 encoded dots", "/public/%2e%2e/secret", "", capability.MalformedPath, nil},
	{"PATH-02 encoded dots, upper", "/public/%2E%2E/secret", "", capability.MalformedPath, nil},
	{"PATH-02 mixed", "/public/.%2E/secret", "", capability.MalformedPath, nil},
	{"PATH-03 encoded slash behind dots", "/public/..%2fsecret", "", capability.MalformedPath, nil},
	{"PATH-06 parameters", "/public/..;/secret", "", capability.MalformedPath, nil},
	{"PATH-06 parameters, plain", "/public/a;x=1", "", capability.PathNotGranted, nil},
	{"PATH-06 parameters on the literal", "/public;x=1/..;y/secret", "", capability.MalformedPath, nil},
	{"PATH-07 double encoding", "/public/%252e%252e/secret", "", capability.PathNotGranted, nil},
	{"PATH-07 double encoding with slash", "/public/%252e%252e%252fsecret", "", capability.PathNotGranted, nil},
	{"PATH-03 encoded slash", "/public%2fa", "", capability.PathNotGranted, nil},
	{"PATH-03 encoded slash in a variable", "/public/a%2fb", "", capability.PathNotGranted, nil},
	{"rendered", "/%70ublic/a", "/public/a", "", nil},
	{"rendered variable", "/public/%61%2Db", "/public/a-b", "", nil},
	{"broken escape", "/public/%zz", "", capability.MalformedPath, nil},
	{"NUL", "/public/a%00b", "", capability.MalformedPath, nil},
	{"CRLF", "/public/a%0d%0ab", "", capability.MalformedPath, nil},
	{"overlong", "/public/%c0%af", "", capability.MalformedPath, nil},
	{"PATH-04 backslash", `/public\..\secret`, "", capability.MalformedPath, nil},
	{"PATH-04 encoded backslash", "/public/%5c..%5csecret", "", capability.MalformedPath, nil},
	{"PATH-05 leading slashes", "//public/a", "", capability.MalformedPath, nil},
	{"PATH-05 inner slashes", "/public//a", "", capability.MalformedPath, nil},
	{"PATH-05 slashes before dots", "/public//../secret", "", capability.MalformedPath, nil},
	{"undeclared query", "/public/a?x=1", "", capability.QueryNotGranted, nil},
	{"HP-15 unparsable query", "/public/a?x=1;y=2", "", capability.MalformedQuery, nil},
	{"empty query", "/public/a?", "/public/a", "", nil},
	{"PATH-04 backslash in a variable", `/public/a\b`, "", capability.MalformedPath, nil},
	{"PATH-04 encoded backslash in a variable", "/public/a%5cb", "", capability.MalformedPath, nil},
	{"PATH-10 method override", "/public/a", "", capability.MethodOverride, []string{"x-http-method-override", "DELETE"}},
	{"PATH-12 once", "/search?repo=mine", "/search?repo=mine", "", nil},
	{"PATH-12 twice", "/search?repo=mine&repo=other", "", capability.QueryNotGranted, nil},
	{"PATH-12 encoded name", "/search?repo=mine&%72epo=other", "", capability.QueryNotGranted, nil},
}

func searching(w *world) []*capability.Grant {
	allows := func() []*capability.Allow {
		search := allow(w.t, "GET", "/search")
		search.Query.Parameters = []capability.ParameterRule{{Name: "repo", Value: capability.Literal("mine"), Required: true}}
		return []*capability.Allow{allow(w.t, "GET", "/public/{rest...}"), search}
	}
	return []*capability.Grant{w.grant("allowed.example", allows()...), w.clear("allowed.example", allows()...)}
}

// TestPaths has every row of paths arrive as it is rendered, or not at all, whichever way
// it is sent.
func TestPaths(t *testing.T) {
	each(t, everyWay(), func(t *testing.T, by option) {
		w := newWorld(t, searching, by)
		for _, row := range paths {
			t.Run(row.id, func(t *testing.T) {
				w.forget()
				status, body := w.say(w.inside(), "GET "+row.send+" HTTP/1.1\r\nHost: HOST\r\n"+row.header()+"\r\n")
				w.arrived(t, row.want, row.reason, status, body)
			})
		}
	})
	each(t, secured(), func(t *testing.T, by option) {
		w := newWorld(t, searching, by)
		for _, row := range paths {
			t.Run(row.id+" over h2", func(t *testing.T) {
				w.forget()
				h := w.rawH2()
				h.open(1, append(h.get(w, row.send), h.fields(row.fields...)...), true)
				status, _ := strconv.Atoi(h.statuses(1)[1])
				w.arrived(t, row.want, row.reason, status, "")
			})
		}
	})
}

// arrived wants the rendered form at the far side, or nothing and one record.
func (w *world) arrived(t *testing.T, want string, reason capability.Reason, status int, body string) {
	t.Helper()
	if want == "" {
		if status != statusOf(reason) {
			t.Errorf("got status %d, want %d: %s", status, statusOf(reason), body)
		}
		w.refused(reason)
		return
	}
	if got := w.far().requests(); status != 200 || len(got) != 1 || got[0].URI != want {
		t.Errorf("got %d, far side saw %+v, want %s", status, got, want)
	}
}

func TestMethods(t *testing.T) {
	w := newWorld(t, nil)
	for _, method := range []string{"DELETE", "PUT", "PATCH", "get", "PROPFIND", "X"} {
		t.Run("method "+method, func(t *testing.T) {
			w.forget()
			if status, _ := w.say(w.inside(), method+" /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 403 {
				t.Errorf("got status %d, want 403", status)
			}
			w.refused(capability.MethodNotGranted)
		})
	}
}

func TestBodies(t *testing.T) {
	rows := []struct {
		name, header, body string
		status             int
		reason             capability.Reason
	}{
		{"declared", "Content-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n", "{}", 200, ""},
		{"another type", "Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}", 403, capability.BodyNotGranted},
		{"no type", "Content-Length: 2\r\n", "{}", 403, capability.BodyNotGranted},
		{"coded", "Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n", "{}", 403, capability.BodyNotGranted},
		{"no parsable type", "Content-Type: ;;\r\nContent-Length: 2\r\n", "{}", 400, capability.MalformedRequest},
		{"declared too long", fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", 65<<10), "", 413, capability.BodyTooLarge},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, nil)
			status, _ := w.say(w.inside(), "POST /notes HTTP/1.1\r\nHost: HOST\r\n"+row.header+"\r\n"+row.body)
			if status != row.status {
				t.Errorf("got status %d, want %d", status, row.status)
			}
			if row.reason != "" {
				w.refused(row.reason)
			} else if got := w.tls.requests()[0]; got.Body != row.body || got.Header.Get("Content-Type") != "application/json" {
				t.Errorf("far side saw %+v", got)
			}
		})
	}
	t.Run("a body on a GET", func(t *testing.T) {
		w := newWorld(t, nil)
		if status, _ := w.say(w.inside(), "GET /public/a HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\n{}"); status != 403 {
			t.Errorf("got status %d, want 403", status)
		}
		w.refused(capability.BodyNotGranted)
	})
}
