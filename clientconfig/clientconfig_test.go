package clientconfig

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read reads the settings of a made-up machine: files below root, with dir and home in
// it, and clients that answer as told.
func read(t *testing.T, files, env, answers map[string]string) []Setting {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := Reader{
		Dir: filepath.Join(root, "dir"), Home: filepath.Join(root, "home"), Root: root,
		Env: func(name string) string { return env[name] },
		Output: func(_ context.Context, _ []string, argv ...string) ([]byte, error) {
			if answer, ok := answers[argv[0]]; ok {
				return []byte(answer), nil
			}
			return nil, errors.New("not installed")
		},
	}
	return r.Read(context.Background())
}

func TestRead(t *testing.T) {
	const npmDefault = `{"registry": "https://npm.example.com/", "cafile": "/x", "audit": true, "@corp:registry": "https://corp.example.com/npm/"}`
	for _, c := range []struct {
		name                string
		files, env, answers map[string]string
		want                []Setting
	}{
		{name: "nothing"},
		{
			name: "npm's answer", answers: map[string]string{"npm": npmDefault},
			files: map[string]string{"home/.npmrc": "@corp:registry=https://corp.example.com/npm/\n//corp.example.com/npm/:_authToken=s3cret\n"},
			want: []Setting{
				{Client: "npm", Name: "registry", Value: "https://npm.example.com/", From: "npm's own configuration"},
				{Client: "npm", Name: "@corp:registry", Value: "https://corp.example.com/npm/", From: "~/.npmrc", Secret: true},
			},
		},
		{
			name: "no npm", files: map[string]string{"home/.npmrc": "registry = \"https://user:s3cret@npm.example.com/\"\n; registry=x\n"},
			want: []Setting{{Client: "npm", Name: "registry", Value: "https://npm.example.com/", From: "~/.npmrc", Secret: true}},
		},
		{
			name: "the environment is above the folder", env: map[string]string{"npm_config_registry": "https://npm.example.com"},
			files: map[string]string{"dir/.npmrc": "registry=https://evil.example.net\n"},
			want:  []Setting{{Client: "npm", Name: "registry", Value: "https://npm.example.com", From: "the environment"}},
		},
		{
			name: "the folder",
			files: map[string]string{
				"dir/.npmrc":      "registry=https://a.example.com\n@x:registry=https://${TOKEN}.example.com\n@y:registry=https://b.example.com\n",
				"dir/.yarnrc.yml": "nodeLinker: x\nnpmRegistryServer: \"https://c.example.com\" # ours\n",
				"dir/.yarnrc":     "registry \"https://d.example.com\"\n",
			},
			want: []Setting{
				{Client: "npm", Name: "registry", Value: "https://a.example.com", From: ".npmrc", Repository: true},
				{Client: "npm", Name: "@y:registry", Value: "https://b.example.com", From: ".npmrc", Repository: true},
				{Client: "npm", Name: "registry", Value: "https://c.example.com", From: ".yarnrc.yml", Repository: true},
				{Client: "npm", Name: "registry", Value: "https://d.example.com", From: ".yarnrc", Repository: true},
			},
		},
		{
			name: "go", env: map[string]string{"GOPROXY": "https://go.example.com"},
			answers: map[string]string{"go": `{"GOPROXY": "https://go.example.com", "GOSUMDB": "sum.example.com", "GOPRIVATE": ""}`},
			want: []Setting{
				{Client: "go", Name: "GOPROXY", Value: "https://go.example.com", From: "the environment"},
				{Client: "go", Name: "GOSUMDB", Value: "sum.example.com", From: "go env"},
			},
		},
		{
			name: "apt", files: map[string]string{
				"etc/apt/sources.list":             "# deb http://no.example.com x main\ndeb [arch=amd64 signed-by=/k] http://deb.example.com/debian stable main # c\ndeb cdrom:[x]/ stable main\n",
				"etc/apt/sources.list.d/a.sources": "Types: deb\nURIs: https://two.example.com/d\n http://three.example.com/d\nSuites: stable\n\nEnabled: no\nURIs: http://off.example.com\n",
				"etc/apt/sources.list.d/b.list":    "deb http://deb.example.com/debian other main\n",
			},
			want: []Setting{
				{Client: "apt", Name: "source", Value: "http://deb.example.com/debian", From: "/etc/apt/sources.list", Suites: []string{"stable", "other"}, Components: []string{"main"}},
				{Client: "apt", Name: "source", Value: "https://two.example.com/d", From: "/etc/apt/sources.list.d/a.sources", Suites: []string{"stable"}},
				{Client: "apt", Name: "source", Value: "http://three.example.com/d", From: "/etc/apt/sources.list.d/a.sources", Suites: []string{"stable"}},
			},
		},
		{
			name: "pip", files: map[string]string{"home/.config/pip/pip.conf": "[global]\nindex-url = https://u:p@pip.example.com/simple\n"},
			want: []Setting{{Client: "pip", Name: "index-url", Value: "https://pip.example.com/simple", From: "pip.conf", Secret: true}},
		},
		{
			name: "git", files: map[string]string{"dir/.git/config": "x"},
			answers: map[string]string{"git": "remote.origin.url\nhttps://t0ken@git.example.com/a/b.git\x00remote.up.url\ngit@git.example.com:a/b\x00"},
			want: []Setting{
				{Client: "git", Name: "remote origin", Value: "https://git.example.com/a/b.git", From: ".git/config", Repository: true, Secret: true},
				{Client: "git", Name: "remote up", Value: "git@git.example.com:a/b", From: ".git/config", Repository: true},
			},
		},
		{name: "git without a repository", answers: map[string]string{"git": "remote.origin.url\nhttps://git.example.com/a/b\x00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, read(t, c.files, c.env, c.answers)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestGitIsAskedSafely puts into a repository what git would execute or include, and
// asks the real git about it.
func TestGitIsAskedSafely(t *testing.T) {
	dir := t.TempDir()
	bait := filepath.Join(dir, "executed")
	config := "[core]\n\tpager = touch " + bait + "\n\tfsmonitor = touch " + bait + "\n[alias]\n\tconfig = !touch " + bait +
		"\n[include]\n\tpath = more\n[remote \"origin\"]\n\turl = https://git.example.com/a/b\n"
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"config": config, "more": "[remote \"more\"]\n\turl = https://evil.example.net/x\n"} {
		if err := os.WriteFile(filepath.Join(dir, ".git", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := Reader{Dir: dir, Env: os.Getenv, Output: output}.git(context.Background())
	want := []Setting{{Client: "git", Name: "remote origin", Value: "https://git.example.com/a/b", From: ".git/config", Repository: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := os.Lstat(bait); err == nil {
		t.Error("git executed what the repository says")
	}
}

// TestFileThatIsNone gives a pipe for a file: reading it would wait for ever.
func TestFileThatIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := file(path); got != "" {
		t.Errorf("got %q", got)
	}
}

func FuzzFiles(f *testing.F) {
	f.Add("registry=https://u:p@npm.example.com/\n@a:registry = x")
	f.Add("deb [a=b] http://deb.example.com x\n")
	f.Add("URIs: a\n b\nEnabled: no\n\nuris:c")
	f.Fuzz(func(t *testing.T, text string) {
		npmrc(text)
		oneLine(text)
		deb822(text)
		yarnSetting(text, "registry")
		clean, _ := withoutSecret(text)
		if again, secret := withoutSecret(clean); secret || again != clean {
			t.Errorf("%q became %q, and then %q", text, clean, again)
		}
	})
}
