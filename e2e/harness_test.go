package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scupper.dev/scupper/replay"
)

// TestClientsReachTheFarSide shows that without scupper every client gets through to
// the pretend Internet: what a sandbox stops is stopped by scupper.
func TestClientsReachTheFarSide(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			const url, want = "https://api.example.com/x?q=1", "GET https://api.example.com/x?q=1"
			w.direct(curl(url)).wantExit(0).wantStatus(200).wantVersion("2").farSide(want)
			w.direct(curl("--http1.1", url)).wantStatus(200).wantVersion("1.1").farSide(want)
			w.direct(nodeFetch(url)).wantStatus(200).farSide(want)
			w.direct(pythonGet(url)).wantStatus(200).farSide(want)
			w.scupper("version").wantExit(0).farSideNothing()
			w.direct(shell("id -u; echo $HOME")).wantStdout(w.at("home")).farSideNothing()
		})
	}
}

// TestRegistryServesNPM is the control of every test that installs packages.
func TestRegistryServesNPM(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	packages := fiftyPackages(t)
	startRegistry(w, packages)
	project(w, packages)
	const registry = "--registry=https://" + registryHost
	w.direct(command("npm", "ci", "--no-audit", "--no-fund", registry)).wantExit(0)
	for _, p := range packages {
		if _, err := os.Stat(w.at("work/node_modules/" + p.name + "/index.js")); err != nil {
			t.Error(err)
		}
	}
	w.direct(command("npm", "view", "@team-1/part-01", "version", registry)).wantExit(0).wantStdout("1.0.0")
	w.direct(curl("https://" + registryHost + "/@team-1%2fpart-01")).wantStatus(200).farSide("GET https://" + registryHost + "/@team-1%2fpart-01")
	w.direct(curl("-X", "PUT", "-H", "Content-Type: application/json", "-d", publication, "https://"+registryHost+"/stolen")).wantStatus(201)
}

// publication is what npm publish sends, at its smallest.
const publication = `{"_id":"stolen","name":"stolen","dist-tags":{"latest":"1.0.0"},
	"versions":{"1.0.0":{"name":"stolen","version":"1.0.0","dist":{"shasum":"e5e9fa1ba31ecd1ae84f75caaa474f3a663f05f4","tarball":"https://npm.example.com/stolen/-/stolen-1.0.0.tgz"}}},
	"_attachments":{"stolen-1.0.0.tgz":{"content_type":"application/octet-stream","data":"c2VjcmV0","length":6}}}`

// recorder is a testing.TB that remembers whether a helper found fault.
type recorder struct {
	testing.TB
	faults int
}

func (r *recorder) Errorf(string, ...any) { r.faults++ }
func (r *recorder) Helper()               {}

// TestHelpersCanFail gives the helpers an attempt that got through.
func TestHelpersCanFail(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	got := w.direct(curl("https://api.example.com/"))
	unnamed := w.direct(python(`import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("198.51.100.9", 4444))
socket.getaddrinfo("secret.example.net", 1)
try: socket.create_connection(("198.51.100.9", 22))
except ConnectionRefusedError: pass`, false))
	loopback := w.direct(python(`import socket; socket.create_connection(("127.0.0.1", 443))`, false))
	for name, tc := range map[string]struct {
		attempt *attempt
		find    func(*attempt)
		faults  int
	}{
		"exit":            {got, func(a *attempt) { a.wantExit(1) }, 1},
		"failure":         {got, func(a *attempt) { a.wantFailure() }, 1},
		"status":          {got, func(a *attempt) { a.wantStatus(403) }, 1},
		"version":         {got, func(a *attempt) { a.wantVersion("1.1") }, 1},
		"stdout":          {got, func(a *attempt) { a.wantStdout("absent") }, 1},
		"stderr":          {got, func(a *attempt) { a.wantStderr("absent") }, 1},
		"reason":          {got, func(a *attempt) { a.wantReason("no_grant") }, 1},
		"reasons":         {got, func(a *attempt) { a.wantReasons("http no_grant api.example.com") }, 1},
		"allowed":         {got, func(a *attempt) { a.wantAllowed(1) }, 1},
		"within":          {got, func(a *attempt) { a.within(0) }, 1},
		"other request":   {got, func(a *attempt) { a.farSide("GET https://api.example.com/y") }, 1},
		"none expected":   {unnamed, func(a *attempt) { a.farSide() }, 4}, // 2 questions, 2 packets
		"no request":      {got, func(a *attempt) { a.farSideNoRequest("api.example.com") }, 1},
		"no other name":   {unnamed, func(a *attempt) { a.farSideNoRequest("api.example.com") }, 2}, // 2 questions
		"only names":      {unnamed, func(a *attempt) { a.farSideNames("secret.example.net") }, 2},  // 2 packets
		"no connection":   {loopback, func(a *attempt) { a.farSideNames() }, 1},
		"nothing, client": {got, func(a *attempt) { a.farSideNothing() }, 5},     // request, 2 questions, connection, SYN
		"nothing, packet": {unnamed, func(a *attempt) { a.farSideNothing() }, 4}, // 2 questions, UDP, SYN
	} {
		r := &recorder{TB: t}
		a := *tc.attempt
		a.t = r
		if tc.find(&a); r.faults != tc.faults {
			t.Errorf("%s: the helper found %d faults, want %d", name, r.faults, tc.faults)
		}
	}
	if got := (&attempt{looked: map[string]bool{farSide: true}}).unseen(); len(got) != 2 {
		t.Errorf("unseen: %v, want two", got)
	}
}

func TestLogReader(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("run/1.jsonl", `{"v":1,"seq":1,"event":"run_started","unknown":{}}
{"v":1,"seq":2,"event":"decision","id":"r-2","kind":"http","verdict":"deny","reason":"no_grant"}
`)
	write("run/2.jsonl", `{"v":1,"seq":3,"event":"decision","id":"r-3","kind":"http","verdict":"allow"}
{"v":1,"seq":4,"event":"outcome","decision":"r-3","status":200}
`)
	r := &recorder{TB: t}
	log := readLog(r, dir)
	if r.faults != 0 || len(log.denials()) != 1 || len(log.allowed("http")) != 1 || len(log.outcomes("r-3")) != 1 {
		t.Errorf("%d faults in\n%s", r.faults, log)
	}
	write("run/3.jsonl", "{\"seq\":6}\n{torn")
	if readLog(r, dir); r.faults != 2 {
		t.Errorf("%d faults, want a gap and a torn line", r.faults)
	}
	write("other/1.jsonl", "")
	if readLog(r, dir); r.faults != 5 {
		t.Errorf("%d faults, want a second run besides", r.faults)
	}
}

func TestConfiguredPorts(t *testing.T) {
	w := newWorldWith(t, ordinaryUser(t), replay.Config{HTTPPorts: []uint16{8080}})
	a := w.direct(curl("http://api.example.com:8080/")).wantStatus(200).farSide("GET http://api.example.com:8080/")
	if !strings.Contains(a.body, `"uri":"/"`) {
		t.Errorf("body %q is not the echo's", a.body)
	}
}
