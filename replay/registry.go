package replay

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// Registry is an npm registry with packages made on the spot. It serves packuments
// and tarballs, and, like a real registry, it takes whatever is published to it:
// what must not arrive there has to be stopped on the way.
type Registry struct {
	base     string
	packages map[string]registryPackage
}

type registryPackage struct {
	version string
	tarball []byte
}

// NewRegistry makes a registry that is reached at base, for example
// "https://npm.example.com", with one version of each named package.
func NewRegistry(base string, version string, names ...string) (*Registry, error) {
	r := &Registry{base: strings.TrimSuffix(base, "/"), packages: make(map[string]registryPackage)}
	for _, name := range names {
		tarball, err := pack(name, version)
		if err != nil {
			return nil, fmt.Errorf("pack %q: %w", name, err)
		}
		r.packages[name] = registryPackage{version, tarball}
	}
	return r, nil
}

// pack makes the tarball of a package with one module.
func pack(name, version string) ([]byte, error) {
	manifest, err := json.Marshal(map[string]string{"name": name, "version": version, "main": "index.js"})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for file, content := range map[string][]byte{"package.json": manifest, "index.js": fmt.Appendf(nil, "module.exports = %q\n", name)} {
		header := &tar.Header{Name: "package/" + file, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// ServeHTTP answers as the registry.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintln(w, `{"ok":true}`)
		return
	}
	full, err := url.PathUnescape(strings.TrimPrefix(req.URL.EscapedPath(), "/"))
	if err != nil {
		http.Error(w, "bad path", http.StatusBadRequest)
		return
	}
	name, file, isFile := strings.Cut(full, "/-/")
	p, ok := r.packages[name]
	switch {
	case !ok:
		http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
	case isFile && file == r.file(name, p):
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(p.tarball)
	case isFile:
		http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(r.packument(name, p))
	}
}

func (r *Registry) file(name string, p registryPackage) string {
	return fmt.Sprintf("%s-%s.tgz", path.Base(name), p.version)
}

func (r *Registry) packument(name string, p registryPackage) map[string]any {
	return map[string]any{
		"name":      name,
		"dist-tags": map[string]string{"latest": p.version},
		"versions": map[string]any{p.version: map[string]any{
			"name": name, "version": p.version, "main": "index.js",
			"dist": map[string]string{"tarball": r.tarballURL(name, p), "integrity": p.integrity(), "shasum": p.shasum()},
		}},
	}
}

func (r *Registry) tarballURL(name string, p registryPackage) string {
	return fmt.Sprintf("%s/%s/-/%s", r.base, name, r.file(name, p))
}

// integrity is a Subresource Integrity string, as lockfiles hold it.
func (p registryPackage) integrity() string {
	sum := sha512.Sum512(p.tarball)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (p registryPackage) shasum() string {
	sum := sha1.Sum(p.tarball)
	return hex.EncodeToString(sum[:])
}

// Project returns a package.json and a package-lock.json that depend on every
// package of the registry.
func (r *Registry) Project() (manifest, lockfile []byte, err error) {
	dependencies := make(map[string]string)
	locked := map[string]any{"": map[string]any{"name": "demo", "version": "1.0.0", "dependencies": dependencies}}
	for name, p := range r.packages {
		dependencies[name] = p.version
		locked["node_modules/"+name] = map[string]string{"version": p.version, "resolved": r.tarballURL(name, p), "integrity": p.integrity()}
	}
	manifest, err = json.MarshalIndent(map[string]any{"name": "demo", "version": "1.0.0", "private": true, "dependencies": dependencies}, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	lockfile, err = json.MarshalIndent(map[string]any{"name": "demo", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": locked}, "", "  ")
	return manifest, lockfile, err
}
