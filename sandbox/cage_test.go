package sandbox

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// prelude gives attackers a way to make system calls and to say what came of an attempt.
const prelude = `
import ctypes,errno,os,socket,sys
libc=ctypes.CDLL(None,use_errno=True); libc.syscall.restype=ctypes.c_long
def sys_(n,*a):
    a=[ctypes.c_long(x) if isinstance(x,int) else x for x in a]
    ctypes.set_errno(0); r=libc.syscall(ctypes.c_long(n),*a)
    return "ok" if r>=0 else errno.errorcode[ctypes.get_errno()]
def attempt(name,f):
    try: r=f()
    except OSError as e: r=errno.errorcode.get(e.errno,str(e))
    print(name+"="+str(r if r is not None else "ok"))
`

// attempts runs an attacker and returns what came of each attempt.
func (r *room) attempts(script string) map[string]string {
	r.t.Helper()
	results := map[string]string{}
	for line := range strings.Lines(r.python(prelude + script)) {
		name, result, _ := strings.Cut(strings.TrimSpace(line), "=")
		results[name] = result
	}
	return results
}

// want compares attempts with what they must come to.
func (r *room) want(got map[string]string, want map[string]string) {
	r.t.Helper()
	if diff := cmp.Diff(got, want); diff != "" {
		r.t.Errorf("attempts (-got +want):\n%s", diff)
	}
}
