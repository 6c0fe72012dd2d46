package sandbox

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// room is a host directory for one test: a work folder, a state folder, and what a run printed.
type room struct {
	t        *testing.T
	config   CageConfig
	out, err bytes.Buffer
}

func newRoom(t *testing.T) *room {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"work", "state"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := &room{t: t}
	r.config = CageConfig{Workdir: filepath.Join(dir, "work"), StateDir: filepath.Join(dir, "state"), Stdout: &r.out, Stderr: &r.err}
	return r
}

// path names something below the work folder.
func (r *room) path(names ...string) string {
	return filepath.Join(append([]string{r.config.Workdir}, names...)...)
}

func (r *room) write(name, text string) string {
	r.t.Helper()
	path := r.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// run runs one command in a cage of its own and returns its exit code and output.
func (r *room) run(command ...string) (int, string) {
	r.t.Helper()
	cage := r.prepare(command...)
	defer r.close(cage)
	if err := cage.Start(); err != nil {
		r.t.Fatal(err)
	}
	code, err := cage.Wait()
	if err != nil {
		r.t.Fatalf("wait: %v; stderr: %s", err, &r.err)
	}
	return code, r.out.String()
}

func (r *room) prepare(command ...string) *Cage {
	r.t.Helper()
	r.config.Command = command
	r.out.Reset()
	r.err.Reset()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cage, err := Prepare(ctx, r.config)
	if err != nil {
		r.t.Fatalf("prepare: %v; stderr: %s", err, &r.err)
	}
	return cage
}

func (r *room) close(cage *Cage) {
	r.t.Helper()
	if err := cage.Close(); err != nil {
		r.t.Errorf("close: %v", err)
	}
	if err := cage.Close(); err != nil {
		r.t.Errorf("close again: %v", err)
	}
}

// shell runs a script and returns its output; the script must succeed.
func (r *room) shell(script string) string {
	r.t.Helper()
	code, out := r.run("sh", "-c", script)
	if code != 0 {
		r.t.Fatalf("exit code %d; stdout: %s; stderr: %s", code, out, &r.err)
	}
	return strings.TrimSpace(out)
}

// python runs a script and returns its output, one line for each attempt.
func (r *room) python(script string) string {
	r.t.Helper()
	code, out := r.run("/usr/bin/python3", "-c", script)
	if code != 0 {
		r.t.Fatalf("exit code %d; stdout: %s; stderr: %s", code, out, &r.err)
	}
	return strings.TrimSpace(out)
}

func TestTrue(t *testing.T) {
	r := newRoom(t)
	t.Log(r.shell("id; pwd; env; ls -la / . /dev /run /etc/resolv.conf; cat /etc/resolv.conf /proc/self/mountinfo; ls -l /proc/self/fd; cat /proc/self/status"))
}

const victimEnv = "SANDBOX_TEST_VICTIM"

func victim() int { return 0 }

var _ = exec.Command
