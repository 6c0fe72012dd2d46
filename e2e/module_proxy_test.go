package e2e

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"
)

const (
	goHost  = "go.example.com"
	sumName = "sum.example.com"
)

// goModule is one version of a module that the tests made. path is as go.mod has it.
type goModule struct {
	path, version, mod, source string
}

// goModules need each other as usual, and have the names that need care: capitals, a
// major version in the path, one that is incompatible with it.
func goModules() []goModule {
	return []goModule{
		{"example.com/Team/greet", "v1.2.0", "module example.com/Team/greet\n\ngo 1.24\n\nrequire (\n\texample.com/word/v2 v2.0.1\n\told.example.com/lib v2.0.0+incompatible\n)\n",
			"package greet\n\nimport (\n\t\"example.com/word/v2\"\n\t\"old.example.com/lib\"\n)\n\nfunc Greet() string { return word.Word + lib.End }\n"},
		{"example.com/word/v2", "v2.0.1", "module example.com/word/v2\n\ngo 1.24\n", "package word\n\nconst Word = \"drained\"\n"},
		{"old.example.com/lib", "v2.0.0+incompatible", "module old.example.com/lib\n", "package lib\n\nconst End = \" well\"\n"},
	}
}

// escaped is a path as the GOPROXY protocol has it.
func escaped(path string) string {
	var b strings.Builder
	for _, c := range path {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('!')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (m goModule) zip(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range map[string]string{"go.mod": m.mod, "code.go": m.source} {
		f, err := z.Create(m.path + "@" + m.version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// files are what a proxy serves of the module, by path.
func (m goModule) files(t *testing.T) map[string][]byte {
	t.Helper()
	at := "/" + escaped(m.path) + "/@v/"
	return map[string][]byte{
		at + "list":              []byte(m.version + "\n"),
		at + m.version + ".info": fmt.Appendf(nil, `{"Version":%q,"Time":"2026-01-02T03:04:05Z"}`, m.version),
		at + m.version + ".mod":  []byte(m.mod),
		at + m.version + ".zip":  m.zip(t),
	}
}

// sums are the module's two lines of go.sum.
func (m goModule) sums(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "module.zip")
	if err := os.WriteFile(file, m.zip(t), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := dirhash.HashZip(file, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(m.mod)), nil })
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, "%s %s %s\n%s %s/go.mod %s\n", m.path, m.version, whole, m.path, m.version, mod)
}

// startModuleProxy serves modules as https://go.example.com of the world, with a
// checksum database of the recorded ones behind it, and returns what GOSUMDB is then.
func startModuleProxy(w *world, modules, recorded []goModule) string {
	w.t.Helper()
	signer, verifier, err := note.GenerateKey(rand.Reader, sumName)
	if err != nil {
		w.t.Fatal(err)
	}
	files, sums := map[string][]byte{}, map[string][]byte{}
	for _, m := range modules {
		for path, content := range m.files(w.t) {
			files[path] = content
		}
	}
	for _, m := range recorded {
		sums[m.path+"@"+m.version] = m.sums(w.t)
	}
	database := sumdb.NewServer(sumdb.NewTestServer(signer, func(path, version string) ([]byte, error) {
		lines, known := sums[path+"@"+version]
		if !known {
			return nil, fmt.Errorf("no module %s@%s: %w", path, version, os.ErrNotExist)
		}
		return lines, nil
	}))
	mux := http.NewServeMux()
	mux.HandleFunc("/sumdb/"+sumName+"/supported", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("/sumdb/"+sumName+"/", http.StripPrefix("/sumdb/"+sumName, database))
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		content, known := files[r.URL.Path]
		if !known || r.Method != http.MethodGet {
			http.Error(rw, "not found", http.StatusNotFound)
			return
		}
		_, _ = rw.Write(content)
	})
	w.inet.Handle(goHost, mux)
	return verifier
}
