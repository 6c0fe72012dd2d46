package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEnvironment is the exact environment inside, in front of a host that has secrets
// under names that a list of prefixes would let through.
func TestEnvironment(t *testing.T) {
	for _, u := range users(t) {
		t.Run("CRED-13 "+u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.env = []string{
				"LANGCHAIN_API_KEY=secret", "YARN_NPM_AUTH_TOKEN=secret", "TERMINAL_TOKEN=secret", "TZ_KEY=secret", "PATHS=secret", "CI_JOB_TOKEN=secret",
				"AWS_SECRET_ACCESS_KEY=secret", "NPM_TOKEN=secret", "npm_config__auth=secret", "GITHUB_TOKEN=secret", "LC_SECRET=secret", "SSL_CERT_FILE=/secret",
				"HTTPS_PROXY=http://192.0.2.1", "https_proxy=http://192.0.2.1", "NO_PROXY=*", "NODE_OPTIONS=--secret", "LD_PRELOAD=/secret.so", "BASH_ENV=/secret",
				"PYTHONPATH=/secret", "GIT_CONFIG_GLOBAL=/secret", "XDG_CONFIG_HOME=/secret", "DOCKER_CONFIG=/secret", "KUBECONFIG=/secret",
				"TERM=xterm-256color", "LANG=de_DE.UTF-8", "LC_ALL=C.UTF-8", "TZ=Europe/Vienna", "CI=secret", "WANTED=from outside",
			}
			w.flags = append(w.flags, "--env", "WANTED", "--env", "GIVEN=a=b c", "--env", "EMPTY=", "--env", "TZ=UTC")
			a := w.run(command("env", "-0")).wantExit(0).farSideNothing()
			got := strings.Split(strings.TrimSuffix(a.stdout, "\x00"), "\x00")
			slices.Sort(got)
			const bundle, authority = "/scupper/ca-bundle.pem", "/scupper/ca.pem"
			want := []string{
				"AWS_CA_BUNDLE=" + bundle, "CARGO_HTTP_CAINFO=" + bundle, "CI=true", "CURL_CA_BUNDLE=" + bundle, "DENO_CERT=" + authority, "EMPTY=", "GIT_SSL_CAINFO=" + bundle,
				"GIVEN=a=b c", "GOFLAGS=-buildvcs=false", "HOME=/home/agent", "LANG=de_DE.UTF-8", "LC_ALL=C.UTF-8", "LOGNAME=agent", "NODE_EXTRA_CA_CERTS=" + authority, "PATH=" + u.path(),
				"PIP_CERT=" + bundle, "PWD=" + w.at("work"), "REQUESTS_CA_BUNDLE=" + bundle, "SSL_CERT_FILE=" + bundle, "TERM=xterm-256color", "TZ=UTC", "USER=agent",
				"WANTED=from outside", "npm_config_cafile=" + authority,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFurtherPaths are those of --ro and --rw.
func TestFurtherPaths(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			for _, dir := range []string{"read", "write", "hidden"} {
				if err := os.Mkdir(w.at(dir), 0o700); err != nil {
					t.Fatal(err)
				}
				u.own(t, w.at(dir))
				u.file(t, w.at(dir+"/file"), []byte("content of "+dir))
			}
			w.flags = append(w.flags, "--ro", w.at("read"), "--rw", w.at("write"))
			w.run(shell("cat ../read/file ../write/file && echo new >../write/new")).wantExit(0).wantStdout("content of readcontent of write").farSideNothing()
			w.run(shell("echo new >../read/file")).wantFailure().wantStderr("Read-only file system").farSideNothing()
			w.run(shell("rm ../read/file")).wantFailure().farSideNothing()
			w.run(shell("cat ../hidden/file")).wantFailure().wantStderr("No such file").farSideNothing()
			for name, want := range map[string]string{"write/new": "new\n", "read/file": "content of read"} {
				if got, err := os.ReadFile(w.at(name)); err != nil || string(got) != want {
					t.Errorf("%s: %v, %q, want %q", name, err, got, want)
				}
			}
		})
	}
}
