package e2e

import (
	"strings"
	"testing"
)

const gitPolicy = `version = 1

use "git" {
  url          = "https://git.example.com"
  repositories = ["acme/app"]
}
`

const gitURL = "https://" + gitHost + "/acme/app"

// TestPresetGit clones, fetches and lists, in every version of the protocol and in
// both forms of the address; a push, another repository and another body are refused.
func TestPresetGit(t *testing.T) {
	for _, u := range users(t) {
		t.Run("USE-04 "+u.name, func(t *testing.T) {
			w := newWorld(t, u)
			server := startGitServer(w, "acme/app", "acme/secret")
			server.commit("acme/app", "first", 30)
			w.policy(gitPolicy)

			// Thirty tags are wants enough for git to compress what it posts.
			w.control(shell("git clone -q "+gitURL+" two && cat two/first")).wantStdout("first 29").fetched(t, "version=2")
			w.control(shell("git -c protocol.version=1 clone -q "+gitURL+".git one && cat one/first")).wantStdout("first 29").fetched(t, "version=1")
			w.control(shell("git -c protocol.version=0 clone -q "+gitURL+" zero && cat zero/first")).wantStdout("first 29").fetched(t, "")
			w.control(shell("git clone -q --depth 2 --filter=blob:none --no-checkout "+gitURL+" part && git -C part log --oneline | wc -l")).wantStdout("2").fetched(t, "version=2")
			w.control(command("git", "ls-remote", gitURL)).wantStdout("refs/tags/first-29").fetched(t, "version=2")

			server.commit("acme/app", "second", 2)
			for _, clone := range []string{"two", "one"} {
				w.control(shell("cd "+clone+" && git fetch -q && git merge -q FETCH_HEAD && cat second")).wantStdout("second 1").fetched(t, "version=2")
			}
			w.control(shell("cd zero && git -c protocol.version=0 fetch -q && git show origin/main:second")).wantStdout("second 1").fetched(t, "")

			push := "cd two && git -c user.name=x -c user.email=x@example.com commit -q --allow-empty -m secret && "
			w.attack(shell(push + "git push -q origin HEAD:main")).wantExit(128).wantStderr("scupper: these query parameters are not granted").
				wantReason("query_not_granted").farSideNothing()
			// EXF-09: it is the address on the wire that counts.
			w.attack(shell(push + "git remote set-url origin https://" + gitHost + "/acme/secret && git push -q origin HEAD:main")).wantExit(128).wantStderr("scupper: this path is not granted").
				wantReason("path_not_granted").farSideNothing()
			w.attack(command("git", "ls-remote", "https://"+gitHost+"/acme/secret")).wantExit(128).wantReason("path_not_granted").farSideNothing()
		})
	}
}

// fetched looks at what of a fetch arrived: the form that is judged, and nothing that
// names the client.
func (a *attempt) fetched(t *testing.T, version string) {
	t.Helper()
	a.wantAllowed(len(a.received))
	for _, e := range a.received {
		h := e.Header
		if h.Get("User-Agent") != "git/2 (scupper)" || h.Get("Git-Protocol") != version || h.Get("Content-Encoding") != "" || h.Get("Accept-Language") != "" {
			t.Errorf("%s arrived with %v", e.URI, h)
		}
		if strings.Contains(e.BodyHead, "agent=") || e.Method == "POST" && !strings.Contains(e.BodyHead, "0000") {
			t.Errorf("%s arrived with body %q", e.URI, e.BodyHead)
		}
	}
	if len(a.received) < 2 {
		a.errorf("%d requests arrived", len(a.received))
	}
}

// TestGitBodies posts what is no fetch to the place of a fetch.
func TestGitBodies(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	startGitServer(w, "acme/app").commit("acme/app", "first", 1)
	w.policy(gitPolicy)
	post := func(path, media string, args ...string) client {
		return curl(append(args, "-H", "Content-Type: application/x-git-"+media+"-request", gitURL+path)...)
	}
	const objects = "/git-upload-pack"
	w.control(post(objects, "upload-pack", "-d", "0000")).wantStatus(200).farSide("POST " + gitURL + objects).wantAllowed(1)
	w.control(post(objects, "upload-pack", "-H", "Git-Protocol: version=2", "-d", "0014command=ls-refs\n00010009peel\n0000")).wantStatus(200).wantStdout("refs/heads/main")
	for name, body := range map[string]string{
		"text":             "secret",
		"behind the probe": "0000secret",
		"server option":    "0014command=ls-refs\n0018server-option=secret00010000",
		"object info":      "0018command=object-info\n00010000",
		"push":             "00660000000000000000000000000000000000000000 0123456789abcdef0123456789abcdef01234567 refs/heads/main0000",
	} {
		a := w.attack(post(objects, "upload-pack", "-d", body)).wantStatus(403).wantReason("body_not_granted").farSideNothing()
		if strings.Contains(a.body, "secret") {
			t.Errorf("%s: the answer repeats it: %s", name, a.body)
		}
	}
	w.work("body", strings.Repeat("0032have 0123456789abcdef0123456789abcdef01234567\n", 6000))
	w.attack(post(objects, "upload-pack", "--data-binary", "@body")).refused(413, "body_too_large")
	w.attack(post(objects, "upload-pack", "--data-binary", "@body", "-H", "Transfer-Encoding: chunked")).refused(413, "body_too_large")
	w.attack(post(objects, "receive-pack", "-d", "0000")).refused(403, "body_not_granted")
	w.attack(post("/git-receive-pack", "receive-pack", "-d", "0000")).refused(403, "path_not_granted")
	w.attack(curl(gitURL+"/info/refs?service=git-receive-pack")).refused(403, "query_not_granted")
	w.attack(curl(gitURL+"/HEAD")).refused(403, "path_not_granted")
	w.attack(curl("-u", "x:ghp_secret", gitURL+"/info/refs?service=git-upload-pack")).refused(403, "foreign_credential")
}

// TestGitServerTakesPushes is the control of the refused pushes: without scupper they
// get through.
func TestGitServerTakesPushes(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	server := startGitServer(w, "acme/app")
	server.commit("acme/app", "first", 1)
	w.direct(shell("export GIT_SSL_CAINFO=" + w.at("ca.pem") + " && git clone -q " + gitURL + " two && cd two && git -c user.name=x -c user.email=x@example.com commit -q --allow-empty -m secret && git push -q origin HEAD:main")).wantExit(0)
	if got := server.git("acme/app.git", "log", "-1", "--format=%s", "main"); got != "secret\n" {
		t.Errorf("the last commit at the server is %q", got)
	}
}
