package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// goClient builds testdata/goclient, a static Go program, into the work folder.
func goClient(w *world, args ...string) client {
	w.t.Helper()
	path := w.at("work/goclient")
	if _, err := os.Stat(path); err != nil {
		build := exec.Command("go", "build", "-o", path, "./testdata/goclient")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			w.t.Fatalf("build testdata/goclient: %v\n%s", err, out)
		}
	}
	return client{append([]string{path}, args...), args[0] == "get"}
}

// TestClients has every client that people use get what is granted, without a proxy
// variable, and be refused the rest.
func TestClients(t *testing.T) {
	const granted, refused = "https://api.example.com/public/a", "https://api.example.com/private"
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy(bothSchemes)
			for _, tc := range []struct {
				name, version string
				get           func(url string) client
			}{
				{"curl h2", "2", func(url string) client { return curl(url) }},
				{"curl h1", "1.1", func(url string) client { return curl("--http1.1", url) }},
				{"curl h2 through the explicit proxy", "2", func(url string) client { return curl(explicitly(url)...) }},
				{"curl h1 through the explicit proxy", "1.1", func(url string) client { return curl(explicitly("--http1.1", url)...) }},
				{"Node fetch", "1.1", nodeFetch},
				{"Python urllib", "1.1", pythonGet},
				{"Go net/http", "2", func(url string) client { return goClient(w, "get", url) }},
			} {
				t.Run(tc.name, func(t *testing.T) {
					a := w.control(tc.get(granted)).wantStatus(200).wantVersion(tc.version).farSide("GET " + granted).wantAllowed(1)
					if len(a.received) == 1 && a.received[0].Proto != "HTTP/2.0" {
						a.errorf("the far side was spoken to in %s, want HTTP/2.0, which it offers", a.received[0].Proto)
					}
					w.attack(tc.get(refused)).refused(403, "path_not_granted")
				})
			}
			t.Run("one connection", func(t *testing.T) {
				const other = "https://api.example.com/public/b"
				for _, version := range []string{"--http1.1", "--http2"} {
					w.attack(command("curl", "-sS", version, "-o", "a", "-o", "b", "-o", "c", "-w", "%{http_code} %{num_connects}\n", granted, refused, other)).
						wantStdout("200 1\n403 0\n200 0\n").wantReason("path_not_granted").farSide("GET "+granted, "GET "+other)
				}
			})
			t.Run("in clear", func(t *testing.T) {
				const granted = "http://plain.example.com/public/a"
				for _, c := range []client{curl(granted), curl(explicitly(granted)...), curl(explicitly("-p", granted)...)} {
					a := w.control(c).wantStatus(200).wantVersion("1.1").farSide("GET " + granted).wantAllowed(1)
					if len(a.received) == 1 && a.received[0].Proto != "HTTP/1.1" {
						a.errorf("the far side was spoken to in %s", a.received[0].Proto)
					}
				}
				w.attack(curl("-X", "POST", granted)).refused(403, "method_not_granted")
			})
		})
	}
}

// TestNamesResolve has the resolvers that programs use look up a granted name.
func TestNamesResolve(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	const name, address, address6 = "api.example.com", "198.18.0.1", "fd00:64:198::c612:1"
	node := func(script string) client { return command("node", "-e", script) }
	for _, tc := range []struct {
		name   string
		look   client
		want   string
		denied client
	}{
		{"libc", command("getent", "ahosts", name), address, command("getent", "ahosts", "evil.example.net")},
		{"Go", goClient(w, "resolve", name), address, goClient(w, "resolve", "evil.example.net")},
		{"Node lookup", node(`require("dns").lookup("api.example.com", {all: true}, (e, a) => console.log(JSON.stringify(a)))`), address, node(`require("dns").lookup("evil.example.net", e => process.exit(e ? 1 : 0))`)},
		{"Node c-ares", node(`require("dns").resolve4("api.example.com", (e, a) => console.log(a[0]))`), address, node(`require("dns").resolve4("evil.example.net", e => process.exit(e.code == "ENOTFOUND" ? 1 : 0))`)},
		{"Node c-ares v6", node(`require("dns").resolve6("api.example.com", (e, a) => console.log(a[0]))`), address6, node(`require("dns").resolve6("evil.example.net", e => process.exit(e.code == "ENOTFOUND" ? 1 : 0))`)},
	} {
		t.Run("USE-28 "+tc.name, func(t *testing.T) {
			w.control(tc.look).wantStdout(tc.want).wantDenials().farSideNothing()
			w.attack(tc.denied).wantFailure().wantDenials("name no_grant evil.example.net").farSideNothing()
		})
	}
}

// TestHappyEyeballs has clients that try IPv6 first lose no time.
func TestHappyEyeballs(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	const script = `const begin = performance.now()
require("https").get({host: "api.example.com", path: "/public/a", autoSelectFamily: true}, r => r.resume()).on("socket",
	s => s.on("connect", () => console.log((performance.now() - begin) / 1000)))`
	for name, c := range map[string]client{
		"curl": command("curl", "-sS", "-o", "page", "-w", "%{time_connect}\n", "https://api.example.com/public/a"),
		"Node": command("node", "-e", script),
	} {
		t.Run("USE-27 "+name, func(t *testing.T) {
			a := w.control(c).wantDenials()
			seconds, err := strconv.ParseFloat(strings.TrimSpace(a.stdout), 64)
			if took := time.Duration(seconds * float64(time.Second)); err != nil || took > 150*time.Millisecond {
				a.errorf("connecting took %v (%v): the other family is tried after 200 ms", took, err)
			}
		})
	}
}

const clones = `version = 1

grant "clone" {
  reason     = "test"
  owner      = "test"
  host       = "git.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/acme/app.git/info/refs"
    query   = { service = "git-upload-pack" }
  }
  allow {
    methods = ["GET"]
    path    = "/acme/app.git/{file...}"
  }
}
`

// repositories makes acme/app.git, ready to be served as files.
func repositories(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := `git init -q app && cd app && echo content > file && git add file && git -c user.name=test -c user.email=test@example.com commit -q -m test
cd .. && git clone -q --bare app acme/app.git && cp -r acme/app.git acme/other.git && cd acme/app.git && git update-server-info`
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make repositories: %v\n%s", err, out)
	}
	return dir
}

func TestGit(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(clones)
	w.inet.Handle("git.example.com", http.FileServer(http.Dir(repositories(t))))
	a := w.control(command("git", "clone", "-q", "https://git.example.com/acme/app.git"))
	a.wantAllowed(len(a.received)).wantExplained()
	if content, err := os.ReadFile(w.at("work/app/file")); err != nil || string(content) != "content\n" {
		t.Errorf("the clone has %q, %v", content, err)
	}
	w.attack(command("git", "ls-remote", "https://git.example.com/acme/other.git")).wantExit(128).wantStderr("403").
		wantDenials("http path_not_granted GET git.example.com /acme/other.git/info/refs").farSideNothing()
	w.attack(command("git", "-C", "app", "push", "-q", "origin", "HEAD:stolen")).wantFailure().wantStderr("403").
		wantDenials("http query_not_granted GET git.example.com /acme/app.git/info/refs").farSideNothing()
	w.attack(command("git", "-c", "http.extraHeader=Authorization: Basic c3RvbGVu", "ls-remote", "https://git.example.com/acme/app.git")).wantFailure().wantStderr("403").
		wantDenials("http foreign_credential GET git.example.com /acme/app.git/info/refs").farSideNothing()
}

// TestDownload streams more than anybody should hold in memory.
func TestDownload(t *testing.T) {
	const size = 64 << 20
	w := newWorld(t, ordinaryUser(t))
	w.policy(bothSchemes)
	body := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		chunk := make([]byte, 1<<20)
		for range size / len(chunk) {
			if _, err := rw.Write(chunk); err != nil {
				return
			}
		}
	})
	w.inet.Handle("api.example.com", body)
	w.inet.Handle("plain.example.com", body)
	for _, args := range [][]string{{"https://api.example.com/public/a"}, {"--http1.1", "https://api.example.com/public/a"}, {"http://plain.example.com/public/a"}} {
		a := w.control(command(append([]string{"curl", "-sS", "-o", "page"}, args...)...)).wantAllowed(1)
		file, err := os.Stat(filepath.Join(w.dir, "work/page"))
		if err != nil || file.Size() != size {
			a.errorf("got %v, %v, want %d bytes", file, err, size)
		}
		for _, allowed := range a.log.allowed("http") {
			if got := a.log.outcomes(allowed.ID); got[0].Received < size {
				a.errorf("%d bytes on record, want at least %d", got[0].Received, size)
			}
		}
	}
}
