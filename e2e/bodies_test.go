package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
)

const bodies = `version = 1

grant "bodies" {
  reason     = "test"
  owner      = "test"
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = ["POST", "DELETE"]
    path    = "/comments"
    body {
      type   = "application/json"
      max    = "1KiB"
      schema = file("comment.schema.json")
      coding = "gzip"
    }
  }
  allow {
    methods = ["POST"]
    path    = "/rpc"
    query   = any
    body {
      type = "application/json"
      max  = "1KiB"
    }
  }
  allow {
    methods = ["POST"]
    path    = "/form"
    body {
      type = "application/x-www-form-urlencoded"
      max  = "1KiB"
      form = { state = required(one_of("open", "closed")), title = slug }
    }
  }
  allow {
    methods = ["POST"]
    path    = "/upload"
    body {
      type = "multipart/form-data"
      max  = "4KiB"
      parts = {
        title  = { value = slug, required = true }
        report = { type = "text/csv", max = "1KiB", filename = regex("[a-z]{1,20}[.]csv") }
      }
    }
  }
  allow {
    methods = ["POST"]
    path    = "/dns-query"
    body {
      type = "application/dns-message"
      max  = "1KiB"
    }
  }
}
`

const commentSchema = `{
  "type": "object", "additionalProperties": false, "required": ["body"],
  "properties": {"body": {"type": "string", "maxLength": 40}, "number": {"type": "integer"}}
}`

// framings are the ways in which curl says how long the body is that it reads from
// standard input.
var framings = []struct {
	name string
	args []string
}{
	{"with length", []string{"--data-binary", "@-"}},
	{"chunked", []string{"-X", "POST", "-T", "-"}},
}

// sender sends a body on one front in one framing.
type sender struct {
	w     *world
	name  string
	args  []string
	known bool // the length
}

// bodySenders starts a world under the policy of these tests.
func bodySenders(t *testing.T) []sender {
	t.Helper()
	w := newWorld(t, ordinaryUser(t))
	w.user.file(t, w.at("comment.schema.json"), []byte(commentSchema))
	w.policy(bodies)
	var out []sender
	for _, f := range fronts {
		for i, framing := range framings {
			args := append(append([]string{}, f.args...), framing.args...)
			out = append(out, sender{w, f.name + ", " + framing.name, args, i == 0})
		}
	}
	return out
}

// post sends content to a path of the host, with this type and further arguments.
func (s sender) post(path, media, content string, args ...string) client {
	s.w.work("body", content)
	c := curl(append(append([]string{"-H", "Content-Type: " + media, "-H", "Expect:"}, s.args...), append(args, "https://api.example.com"+path)...)...)
	return client{append([]string{"sh", "-c", `exec "$@" < body`, "sh"}, c.argv...), true}
}

// arrives looks at what the far side has of an allowed body.
func (s sender) arrives(a *attempt, path, media, body string) {
	s.w.t.Helper()
	a.wantStatus(200).farSide("POST https://api.example.com" + path).wantAllowed(1)
	if len(a.received) != 1 {
		return
	}
	got := a.received[0]
	if h := got.Header; got.BodyHead != body || h.Get("Content-Type") != media || h.Get("Content-Encoding") != "" || h.Get("Content-Length") != fmt.Sprint(len(body)) {
		a.errorf("the far side has %q and %v, want %q of type %q", got.BodyHead, h, body, media)
	}
	if chunked := strings.Contains(a.log.String(), `"length":-1`); chunked == s.known {
		a.errorf("the client sent a body of known length: %t, want %t", !chunked, s.known)
	}
}

// says looks for a mismatch in the log.
func (a *attempt) says(text string) *attempt {
	a.t.Helper()
	for _, d := range a.log.denials() {
		if !strings.Contains(d.raw, `"mismatch":"`) || !strings.Contains(d.raw, text) {
			a.errorf("%q is not in the mismatch of %s", text, d.raw)
		}
	}
	for _, r := range a.log {
		if r.Event != "run_started" && strings.Contains(r.raw, "hunter2") { // that one has the command
			a.errorf("something of the body is in the log: %s", r.raw)
		}
	}
	return a
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

const (
	jsonMedia = "application/json"
	formMedia = "application/x-www-form-urlencoded"
	sentMedia = "multipart/form-data; boundary=scupper-0f5d1c9a7be24638"
	titlePart = "--x1\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na-b\r\n"
	csvHead   = "--x1\r\nContent-Disposition: form-data; name=\"report\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n"
)

// TestBodies sends each kind of body on every front and in every framing: what was
// judged arrives, written anew.
func TestBodies(t *testing.T) {
	rewritten := strings.NewReplacer("--x1", "--scupper-0f5d1c9a7be24638").Replace(titlePart + csvHead + "1,2\r\n--x1--\r\n")
	for _, s := range bodySenders(t) {
		t.Run(s.name, func(t *testing.T) {
			s.w.t = t
			s.arrives(s.w.control(s.post("/comments", jsonMedia, "{ \"number\" : 1.0,\n\"body\":\"\\u0061\" }")), "/comments", jsonMedia, `{"number":1.0,"body":"a"}`)
			s.arrives(s.w.control(s.post("/form", formMedia+"; charset=utf-8", "title=%61-b&state=open")), "/form", formMedia, "state=open&title=a-b")
			s.arrives(s.w.control(s.post("/upload", "multipart/form-data; boundary=x1", csvHead+"1,2\r\n"+titlePart+"--x1--\r\n")), "/upload", sentMedia, rewritten)
			s.arrives(s.w.control(s.post("/comments", jsonMedia, gzipped(`{"body": "a"}`), "-H", "Content-Encoding: gzip")), "/comments", jsonMedia, `{"body":"a"}`)
			s.w.attack(s.post("/comments", jsonMedia, `{"body":"a","hunter2":1}`)).refused(403, "body_not_granted").says("additionalProperties")
			s.w.attack(s.post("/comments", jsonMedia, gzipped(`{"body":"`+strings.Repeat("hunter2", 10_000)+`"}`), "-H", "Content-Encoding: gzip")).refused(413, "body_too_large")
			s.w.attack(s.post("/form", formMedia, "state=open&_method=DELETE")).refused(403, "body_not_granted").says("another method")
			s.w.attack(s.post("/upload", "multipart/form-data; boundary=x1", titlePart+titlePart+"--x1--\r\n")).refused(403, "body_not_granted").says("occurs more than once")
		})
	}
}

// TestBodyAttacks sends bodies that parsers read differently, on each front and in each
// framing in turn.
func TestBodyAttacks(t *testing.T) {
	senders := bodySenders(t)
	upload := func(parts string) string { return parts + "--x1--\r\n" }
	for i, tc := range []struct {
		name, path, media, content, says string
		args                             []string
	}{
		{name: "a name twice", path: "/comments", media: jsonMedia, content: `{"body":"a","body":"hunter2"}`, says: "twice"},
		{name: "a name twice, escaped", path: "/rpc", media: jsonMedia, content: `{"role":"user","\u0072ole":"hunter2"}`, says: "twice"},
		{name: "a name in another case", path: "/rpc", media: jsonMedia, content: `{"role":"user","Role":"hunter2"}`, says: "case only"},
		{name: "half a surrogate pair", path: "/rpc", media: jsonMedia, content: `{"a":"\ud800"}`, says: "surrogate"},
		{name: "a byte order mark", path: "/rpc", media: jsonMedia, content: "\ufeff{}", says: "byte order mark"},
		{name: "UTF-16", path: "/rpc", media: jsonMedia + "; charset=utf-16", content: "\xfe\xff\x00{\x00}", says: "not UTF-8"},
		{name: "a second value", path: "/rpc", media: jsonMedia, content: `{}{"a":"hunter2"}`, says: "behind"},
		{name: "a number out of range", path: "/rpc", media: jsonMedia, content: `{"a":1e999}`, says: "range"},
		{name: "deep", path: "/rpc", media: jsonMedia, content: strings.Repeat(`[`, 500) + strings.Repeat(`]`, 500), says: "too deep"},
		{name: "a JSON-RPC batch", path: "/rpc", media: jsonMedia, content: `[{"jsonrpc":"2.0","method":"read","id":1},{"jsonrpc":"2.0","method":"delete","id":2}]`, says: "array of requests"},
		{name: "PATH-10 a member for another method", path: "/rpc", media: jsonMedia, content: `{"_method":"DELETE"}`, says: "another method"},
		{name: "a long string", path: "/comments", media: jsonMedia, content: `{"body":"` + strings.Repeat("hunter2", 10) + `"}`, says: "/body: maxLength"},
		{name: "a second gzip member", path: "/comments", media: jsonMedia, content: gzipped(`{"body":"a"}`) + gzipped(`{"body":"hunter2"}`), says: "coded", args: []string{"-H", "Content-Encoding: gzip"}},
		{name: "something behind gzip", path: "/comments", media: jsonMedia, content: gzipped(`{"body":"a"}`) + "hunter2", says: "coded", args: []string{"-H", "Content-Encoding: gzip"}},
		{name: "no gzip", path: "/comments", media: jsonMedia, content: `{"body":"a"}`, says: "gzip", args: []string{"-H", "Content-Encoding: gzip"}},
		{name: "a coding that is not granted", path: "/comments", media: jsonMedia, content: "x", says: "coded as br", args: []string{"-H", "Content-Encoding: br"}},
		{name: "two codings", path: "/comments", media: jsonMedia, content: "x", says: "coded as gzip, gzip", args: []string{"-H", "Content-Encoding: gzip, gzip"}},
		{name: "a coding where none is granted", path: "/rpc", media: jsonMedia, content: gzipped("{}"), says: "coded as gzip", args: []string{"-H", "Content-Encoding: gzip"}},
		{name: "a field twice", path: "/form", media: formMedia, content: "state=open&state=closed", says: "occurs more than once"},
		{name: "a field that is not declared", path: "/form", media: formMedia, content: "state=open&hunter2=1", says: "not declared"},
		{name: "HP-15 a pair with two readings", path: "/form", media: formMedia, content: "state=open;title=hunter2", says: "read form"},
		{name: "PATH-10 a field in PHP", path: "/form", media: formMedia, content: "state=open&.method=DELETE", says: "another method"},
		{name: "a preamble", path: "/upload", media: "multipart/form-data; boundary=x1", content: upload("hunter2\r\n" + titlePart), says: "begin with a boundary"},
		{name: "an epilogue", path: "/upload", media: "multipart/form-data; boundary=x1", content: upload(titlePart) + "hunter2", says: "closing boundary"},
		{name: "a second boundary", path: "/upload", media: "multipart/form-data; boundary=x1; boundary=y", content: upload(titlePart), says: ""},
		{name: "filename*", path: "/upload", media: "multipart/form-data; boundary=x1", content: upload(titlePart + strings.Replace(csvHead, "filename=", "filename*=", 1) + "\r\n"), says: "other headers"},
		{name: "a path as a filename", path: "/upload", media: "multipart/form-data; boundary=x1", content: upload(titlePart + strings.Replace(csvHead, "a.csv", "../a.csv", 1) + "\r\n"), says: "filename of part"},
		{name: "a coding of a part", path: "/upload", media: "multipart/form-data; boundary=x1", content: upload(titlePart + strings.Replace(csvHead, "\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\n", 1) + "\r\n"), says: "other headers"},
		{name: "a nested form", path: "/upload", media: "multipart/form-data; boundary=x1", content: upload(titlePart + strings.Replace(csvHead, "text/csv", "multipart/mixed; boundary=z", 1) + "\r\n"), says: "other headers"},
		{name: "DNS-08 a message where JSON is granted", path: "/rpc", media: "application/dns-message", content: "hunter2", says: "application/dns-message"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := senders[i%len(senders)]
			s.w.t = t
			a := s.w.attack(s.post(tc.path, tc.media, tc.content, tc.args...))
			if tc.says == "" {
				a.refused(400, "malformed_request")
				return
			}
			a.refused(403, "body_not_granted").says(tc.says)
		})
	}
}

// TestMethodParameters asks for another method in the query, where every parameter is
// granted.
func TestMethodParameters(t *testing.T) {
	s := bodySenders(t)[0]
	const url = "https://api.example.com/rpc?any=1"
	s.w.control(s.post("/rpc?any=1", jsonMedia, "{}")).wantStatus(200).farSide("POST " + url).wantAllowed(1)
	for _, q := range []string{"_method=DELETE", "a=1&%5FMETHOD=DELETE", "X-HTTP-Method-Override=PUT", ".method=DELETE"} {
		t.Run("PATH-10 "+q, func(t *testing.T) {
			s.w.t = t
			s.w.attack(s.post("/rpc?"+q, jsonMedia, "{}")).refused(403, "method_override")
		})
	}
	t.Run("PATH-10 header", func(t *testing.T) {
		s.w.t = t
		s.w.attack(s.post("/rpc", jsonMedia, "{}", "-H", "X-HTTP-Method-Override: DELETE")).refused(403, "method_override")
	})
	t.Run("no body where one is inspected", func(t *testing.T) {
		s.w.t = t
		s.w.attack(curl("-X", "POST", "https://api.example.com/comments")).refused(403, "body_not_granted").says("there is no body")
	})
	t.Run("HP-17 a body on DELETE", func(t *testing.T) {
		s.w.t = t
		s.w.control(curl("-X", "DELETE", "https://api.example.com/comments")).wantStatus(200).farSide("DELETE https://api.example.com/comments").wantAllowed(1)
		chunked := []string{"--http1.1", "-X", "DELETE", "-H", "Transfer-Encoding: chunked", "-H", "Content-Type: application/json"}
		with := func(body string) client {
			return curl(append(append([]string{}, chunked...), "-d", body, "https://api.example.com/comments")...)
		}
		a := s.w.control(with(`{ "body": "a" }`)).wantStatus(200).farSide("DELETE https://api.example.com/comments").wantAllowed(1)
		if got := a.received[0]; got.BodyHead != `{"body":"a"}` || got.Header.Get("Content-Length") != "12" {
			t.Errorf("the far side has %q and %v", got.BodyHead, got.Header)
		}
		s.w.attack(with(`{"hunter2":"GET / HTTP/1.1"}`)).refused(403, "body_not_granted").says("required")
	})
	t.Run("DNS-08 where the grant names it", func(t *testing.T) {
		s.w.t = t
		s.w.control(s.post("/dns-query", "application/dns-message", "message")).wantStatus(200).farSide("POST https://api.example.com/dns-query").wantAllowed(1)
		s.w.attack(s.post("/dns-query", jsonMedia, "{}")).refused(403, "body_not_granted")
		s.w.attack(s.post("/comments", "application/dns-message", "hunter2")).refused(403, "body_not_granted").says("application/dns-message")
	})
}
