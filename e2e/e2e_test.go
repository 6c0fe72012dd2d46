// Package e2e tests the built scupper with real clients against a pretend Internet
// in network namespaces of its own. A test is written as a control and an attack:
//
//	w := newWorld(t, ordinaryUser(t))
//	w.policy(readNPM)
//	w.control(curl("https://npm.example.com/lib")).wantStatus(200).farSide("GET https://npm.example.com/lib")
//	w.attack(curl("-X", "PUT", "https://npm.example.com/lib")).refused(403, "method_not_granted")
//
// Guarantees: no packet leaves the namespaces. An attack whose test does not look at
// the client's view, the far side and the log fails. Every line of every log that a
// run wrote is read and its sequence checked.
//
// Non-guarantees: tests run one after another, because each has the ports of its
// pretend Internet to itself.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"scupper.dev/scupper/replay"
)

// preparedVar names the folder with what had to be made while there was a network.
const preparedVar = "SCUPPER_E2E_PREPARED"

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

// testMain runs twice: outside it prepares, inside the sealed copy it tests.
func testMain(m *testing.M) int {
	if isAttacker() {
		return attackMain()
	}
	if os.Getenv(parcelsVar) != "" {
		return sendMain()
	}
	if os.Getenv(preparedVar) == "" {
		dir, err := prepare()
		defer os.RemoveAll(dir)
		if err != nil {
			fmt.Fprintf(os.Stderr, "prepare end-to-end tests: %v\nscripts/setup installs what they need\n", err)
			return 3
		}
		os.Setenv(preparedVar, dir)
	}
	code, err := replay.Sealed(context.Background(), m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return code
}

// prepare builds scupper into a folder that every user may read, and installs the
// registry and the clients that are packages.
func prepare() (string, error) {
	dir, err := os.MkdirTemp("", "scupper-e2e-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return dir, err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "scupper"), "scupper.dev/scupper/cmd/scupper")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("build scupper: %w\n%s", err, out)
	}
	if err := copyAttacker(filepath.Join(dir, "attacker")); err != nil {
		return dir, err
	}
	if err := installPackages("sdks", ".map", ".md", ".ts", ".mts", ".mjs"); err != nil {
		return dir, err
	}
	if err := installPackages("mcp", ".map", ".md", ".ts", ".mts", ".h"); err != nil {
		return dir, err
	}
	return dir, installPackages("verdaccio")
}

func prepared(name string) string { return filepath.Join(os.Getenv(preparedVar), name) }
