package e2e

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const registryHost = "npm.example.com"

// packagesFolder is where packages of npm are installed that the tests use, once for each
// lockfile, outside the repository.
func packagesFolder(name string) (string, error) {
	lock, err := os.ReadFile(filepath.Join("testdata", name, "package-lock.json"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	return filepath.Join(cache, "scupper-test", name+"-"+hex.EncodeToString(sum[:8])), nil
}

// installPackages needs a network and is therefore called before the tests are sealed.
// The folder appears when it is complete; what ends in one of the suffixes is left out.
func installPackages(name string, without ...string) error {
	folder, err := packagesFolder(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(folder), "part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	if err := os.CopyFS(part, os.DirFS(filepath.Join("testdata", name))); err != nil {
		return err
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional")
	npm.Dir = part
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("install %s: %w\n%s", name, err, out)
	}
	if err := prune(part, without); err != nil {
		return err
	}
	if err := os.Rename(part, folder); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

// prune removes links, and files with one of the suffixes.
func prune(folder string, without []string) error {
	if len(without) == 0 {
		return nil
	}
	return filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Type()&os.ModeSymlink != 0 || slices.ContainsFunc(without, func(s string) bool { return strings.HasSuffix(path, s) }) {
			return os.Remove(path)
		}
		return nil
	})
}

const registryConfig = `storage: ./storage
web: { enable: false }
auth: { htpasswd: { file: ./htpasswd } }
packages:
  '@*/*': { access: $all, publish: $all, unpublish: $all }
  '**': { access: $all, publish: $all, unpublish: $all }
max_body_size: 100mb
log: { type: stdout, format: json, level: http }
`

// startRegistry runs verdaccio, without uplinks, as https://npm.example.com of the
// world. It holds packages and takes whatever is published.
func startRegistry(w *world, packages []npmPackage) {
	w.t.Helper()
	startRegistryWith(w, packages, registryConfig, "")
}

// startRegistryWith has users, in the form of htpasswd.
func startRegistryWith(w *world, packages []npmPackage, configuration, users string) {
	w.t.Helper()
	folder, err := packagesFolder("verdaccio")
	if err != nil {
		w.t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "scupper-registry-")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { os.RemoveAll(dir) })
	for _, p := range packages {
		p.store(w.t, filepath.Join(dir, "storage"))
	}
	config := filepath.Join(dir, "config.yaml")
	for path, text := range map[string]string{config: configuration, filepath.Join(dir, "htpasswd"): users} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	address := freeAddress(w.t)
	cmd := exec.Command("node", filepath.Join(folder, "node_modules/verdaccio/bin/verdaccio"), "--config", config, "--listen", address)
	cmd.Dir = dir
	// verdaccio keeps a list of its packages here, not beside its configuration.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "VERDACCIO_STORAGE_PATH=" + filepath.Join(dir, "storage")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	awaitListening(w.t, cmd)
	w.inet.Forward(registryHost, &url.URL{Scheme: "http", Host: address})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// awaitListening starts cmd, waits until it says that it listens, and ends it with the
// test.
func awaitListening(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan bool, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "http address") {
				ready <- true
			} else if len(ready) == 0 {
				said.WriteString(lines.Text() + "\n")
			}
		}
	}()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended; cmd.Wait() })
	select {
	case <-ready:
	case <-ended:
		t.Fatalf("the registry ended:\n%s", &said)
	case <-time.After(30 * time.Second):
		t.Fatal("the registry does not listen after 30 s")
	}
}

// fiftyPackages are small packages, every second one with a scope, in the shape of a
// usual dependency list.
func fiftyPackages(t *testing.T) []npmPackage {
	t.Helper()
	var out []npmPackage
	for i := range 50 {
		name := fmt.Sprintf("lib-%02d", i)
		if i%2 == 1 {
			name = fmt.Sprintf("@team-%d/part-%02d", i%3, i)
		}
		out = append(out, makePackage(t, name, "1.0.0"))
	}
	return out
}

// project writes package.json and a lockfile that depend on packages into the work
// folder of the world.
func project(w *world, packages []npmPackage) {
	w.t.Helper()
	dependencies, locked := map[string]string{}, map[string]any{}
	for _, p := range packages {
		dependencies[p.name] = p.version
		locked["node_modules/"+p.name] = map[string]string{"version": p.version, "resolved": p.url(), "integrity": p.integrity()}
	}
	root := map[string]any{"name": "app", "version": "1.0.0", "dependencies": dependencies}
	locked[""] = root
	w.work("package.json", indented(w.t, root))
	w.work("package-lock.json", indented(w.t, map[string]any{
		"name": "app", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": locked,
	}))
}

func indented(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}
