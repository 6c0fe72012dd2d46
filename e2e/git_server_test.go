package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const gitHost = "git.example.com"

// gitEnvironment keeps the tests' own git from the configuration of whoever runs them.
func gitEnvironment(dir string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.com"}
}

// gitServer is git http-backend behind nginx, as https://git.example.com of a world.
// It takes pushes from everybody.
type gitServer struct {
	t    *testing.T
	root string
}

func startGitServer(w *world, repositories ...string) *gitServer {
	w.t.Helper()
	return startPrivateGitServer(w, "", repositories...)
}

// startPrivateGitServer wants every request to have this Authorization, unless it is
// empty.
func startPrivateGitServer(w *world, authorization string, repositories ...string) *gitServer {
	w.t.Helper()
	wanted := ""
	if authorization != "" {
		wanted = fmt.Sprintf(`if ($http_authorization != "%s") { add_header WWW-Authenticate 'Basic realm="git"' always; return 401; }`, authorization)
	}
	s := &gitServer{w.t, serverFolder(w.t)}
	for _, r := range repositories {
		s.git("", "init", "-q", "--bare", "-b", "main", r+".git")
		s.git(r+".git", "config", "uploadpack.allowFilter", "true")
	}
	socket := filepath.Join(s.root, "fcgi")
	wrap := exec.Command("/usr/sbin/fcgiwrap", "-s", "unix:"+socket)
	wrap.Env = gitEnvironment(s.root)
	startServer(w.t, "unix", socket, wrap)
	backend := filepath.Join(strings.TrimSpace(s.git("", "--exec-path")), "git-http-backend")
	startNginx(w, gitHost, fmt.Sprintf(`client_max_body_size 10m; location / { %s
    fastcgi_pass unix:%s;
    fastcgi_param SCRIPT_FILENAME %s;
    fastcgi_param GIT_PROJECT_ROOT %s;
    fastcgi_param GIT_HTTP_EXPORT_ALL "";
    fastcgi_param PATH_INFO $uri;
    fastcgi_param QUERY_STRING $query_string;
    fastcgi_param REQUEST_METHOD $request_method;
    fastcgi_param CONTENT_TYPE $content_type;
    fastcgi_param CONTENT_LENGTH $content_length;
    fastcgi_param REMOTE_USER anybody;
    fastcgi_param GIT_PROTOCOL $http_git_protocol;
  }`, wanted, socket, backend, s.root))
	return s
}

// git runs git in a folder under the server's and returns what it printed.
func (s *gitServer) git(dir string, args ...string) string { return s.gitWith("", dir, args...) }

func (s *gitServer) gitWith(stdin, dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = filepath.Join(s.root, dir), gitEnvironment(s.root), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// commit adds n commits to a repository's main branch, each with a tag of its own, and
// so as many refs.
func (s *gitServer) commit(repository, name string, n int) {
	s.t.Helper()
	var stream strings.Builder
	from := ""
	if strings.Contains(s.git(repository+".git", "for-each-ref"), "refs/heads/main") {
		from = "from refs/heads/main^0\n"
	}
	for i := range n {
		content := fmt.Sprintf("%s %d\n", name, i)
		fmt.Fprintf(&stream, "commit refs/heads/main\nmark :%d\ncommitter Dev <dev@example.com> %d +0000\ndata %d\n%s%sM 100644 inline %s\ndata %d\n%s\n",
			i+1, 1767323045+i, len(content), content, from, name, len(content), content)
		fmt.Fprintf(&stream, "reset refs/tags/%s-%d\nfrom :%d\n\n", name, i, i+1)
		from = ""
	}
	s.gitWith(stream.String(), repository+".git", "fast-import", "--quiet")
}
