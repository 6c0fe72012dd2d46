package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const archiveHost = "deb.example.com"

// debPackage is a package that the tests made. Its version has no epoch in file names.
type debPackage struct{ name, version string }

// debPackages have the names that need care: plus signs, a tilde, an epoch.
func debPackages() []debPackage {
	return []debPackage{{"hello", "2.10-3"}, {"libgreet++", "1:2.0~rc1+b1"}, {"words-all", "1.0"}}
}

func (p debPackage) pool() string {
	_, version, found := strings.Cut(p.version, ":")
	if !found {
		version = p.version
	}
	prefix := p.name[:1]
	if strings.HasPrefix(p.name, "lib") {
		prefix = p.name[:4]
	}
	return fmt.Sprintf("pool/main/%s/%s/%s_%s_all.deb", prefix, p.name, p.name, version)
}

// build makes the package under root and returns its paragraph of Packages.
func (p debPackage) build(t *testing.T, root string) string {
	t.Helper()
	tree := t.TempDir()
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Dev <dev@example.com>\nDescription: made by a test\n", p.name, p.version)
	archiveFile(t, tree, "DEBIAN/control", []byte(control))
	archiveFile(t, tree, "usr/share/doc/"+p.name+"/README", []byte("this is "+p.name+"\n"))
	if err := os.Chmod(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, p.pool())
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, file).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v\n%s", err, out)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%sFilename: %s\nSize: %d\nSHA256: %s\n", control, p.pool(), len(content), sum256(content))
}

func sum256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func archiveFile(t *testing.T, root, name string, content []byte) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// startArchive serves packages as http://deb.example.com/debian of the world, as a
// static server does. With byHash, indexes are there by their hash alone, as a client
// sees it whose list is older than the archive.
func startArchive(w *world, packages []debPackage, byHash bool) {
	w.t.Helper()
	root := serverFolder(w.t)
	var index bytes.Buffer
	for _, p := range packages {
		index.WriteString(p.build(w.t, filepath.Join(root, "debian")) + "\n")
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(index.Bytes()) // into memory
	if err := z.Close(); err != nil {
		w.t.Fatal(err)
	}
	release := "Origin: test\nSuite: bookworm\nCodename: bookworm\nArchitectures: all amd64\nComponents: main\nDate: Fri, 02 Jan 2026 03:04:05 UTC\n"
	if byHash {
		release += "Acquire-By-Hash: yes\n"
	}
	release += "SHA256:\n"
	const suite, folder = "debian/dists/bookworm/", "main/binary-amd64/"
	for name, content := range map[string][]byte{"Packages": index.Bytes(), "Packages.gz": zipped.Bytes()} {
		release += fmt.Sprintf(" %s %d %s%s\n", sum256(content), len(content), folder, name)
		if byHash {
			name = "by-hash/SHA256/" + sum256(content)
		}
		archiveFile(w.t, root, suite+folder+name, content)
	}
	archiveFile(w.t, root, suite+"Release", []byte(release))
	startNginx(w, archiveHost, "location / { root "+root+"; }")
}
