package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"testing"
)

// npmPackage is one version of a package that the tests made.
type npmPackage struct {
	name, version string
	tarball       []byte
}

// makePackage packs a package.json and an index.js, always to the same bytes.
func makePackage(t *testing.T, name, version string) npmPackage {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	for _, file := range [][2]string{
		{"package/package.json", indented(t, map[string]string{"name": name, "version": version, "main": "index.js"})},
		{"package/index.js", fmt.Sprintf("module.exports = %q\n", name)},
	} {
		if err := archive.WriteHeader(&tar.Header{Name: file[0], Mode: 0o644, Size: int64(len(file[1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(file[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return npmPackage{name, version, packed.Bytes()}
}

func (p npmPackage) filename() string { return path.Base(p.name) + "-" + p.version + ".tgz" }

func (p npmPackage) url() string {
	return "https://" + registryHost + "/" + p.name + "/-/" + p.filename()
}

// integrity is in the form of Subresource Integrity, as lockfiles have it.
func (p npmPackage) integrity() string {
	sum := sha512.Sum512(p.tarball)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (p npmPackage) shasum() string {
	sum := sha1.Sum(p.tarball)
	return hex.EncodeToString(sum[:])
}

// store puts the package where verdaccio keeps its own.
func (p npmPackage) store(t *testing.T, storage string) {
	t.Helper()
	dir := filepath.Join(storage, filepath.FromSlash(p.name))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const when = "2026-01-01T00:00:00.000Z"
	packument := map[string]any{
		"name": p.name, "_id": p.name, "_rev": "1-0000000000000000",
		"dist-tags": map[string]string{"latest": p.version},
		"time":      map[string]string{"created": when, "modified": when, p.version: when},
		"versions": map[string]any{p.version: map[string]any{
			"name": p.name, "version": p.version, "main": "index.js", "_id": p.name + "@" + p.version,
			"dist": map[string]string{"integrity": p.integrity(), "shasum": p.shasum(), "tarball": p.url()},
		}},
		"_attachments": map[string]any{p.filename(): map[string]string{"shasum": p.shasum(), "version": p.version}},
		"_distfiles":   map[string]any{}, "_uplinks": map[string]any{}, "users": map[string]any{}, "readme": "",
	}
	for name, content := range map[string][]byte{"package.json": []byte(indented(t, packument)), p.filename(): p.tarball} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
