package sandbox

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// descriptors counts what this process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestExitCodes(t *testing.T) {
	r := newRoom(t)
	r.run("true")
	before := descriptors(t)
	defer func() {
		if after := descriptors(t); after != before {
			t.Errorf("%d descriptors open after the runs, %d before", after, before)
		}
	}()
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "exit 125": 125, "kill -TERM $$": 143, "kill -KILL $$": 137} {
		if code, _ := r.run("sh", "-c", script); code != want {
			t.Errorf("%q: exit code %d, want %d", script, code, want)
		}
	}
}

func TestCommandsThatCannotRun(t *testing.T) {
	r := newRoom(t)
	dir := filepath.Dir(r.config.Workdir)
	tool := filepath.Join(dir, "tool", "bin", "hidden-tool")
	if err := os.MkdirAll(filepath.Dir(tool), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho found\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Dir(tool))
	r.write("plain", "x")
	os.Chmod(r.write("script", "#!"+dir+"/interpreter\n"), 0o755)
	cases := []struct {
		command, says, hint string
		code                int
	}{
		{"no-such-command", "not found", "", ExitNotFound},
		{"./no-such-command", "not found", "", ExitNotFound},
		{"hidden-tool", tool + ", which the sandbox cannot see", "--ro " + dir + "/tool", ExitNotFound},
		{tool, "which the sandbox cannot see", "--ro " + dir + "/tool", ExitNotFound},
		{"./plain", "not an executable", "chmod +x", ExitNotRunnable},
		{"/usr", "not an executable", "", ExitNotRunnable},
		{"./script", "interpreter", "--ro " + dir, ExitNotFound},
	}
	for _, c := range cases {
		r.config.Command = []string{c.command}
		r.refused(c.code, c.says, c.hint)
	}
	r.config.RO = []string{dir + "/tool"}
	if code, out := r.run("hidden-tool"); code != 0 || out != "found\n" {
		t.Errorf("with --ro: %d, %q", code, out)
	}
}

func TestStandardStreams(t *testing.T) {
	r := newRoom(t)
	in := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	r.config.Stdin = bytes.NewReader(in)
	if _, out := r.run("cat"); out != string(in) {
		t.Errorf("%d bytes came back, want %d", len(out), len(in))
	}
	r.config.Stdin = nil
	if code, out := r.run("cat"); code != 0 || out != "" {
		t.Errorf("without input: %d, %q", code, out)
	}
	// Nobody ever closes this one.
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	defer reader.Close()
	r.config.Stdin = reader
	if code, _ := r.run("sh", "-c", "echo on stdout; echo on stderr >&2; exit 3"); code != 3 || r.out.String() != "on stdout\n" || r.err.String() != "on stderr\n" {
		t.Errorf("%d, %q, %q", code, &r.out, &r.err)
	}
}

func TestSignals(t *testing.T) {
	r := newRoom(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		reader, writer := io.Pipe()
		r.config.Stdout = writer
		cage := r.prepare("/usr/bin/python3", "-c", `
import signal,sys,time
for s in (1,2,3,10,12,15): signal.signal(s,lambda n,f:sys.exit(n+100))
print("ready",flush=True)
while True: time.sleep(1)
`)
		if err := cage.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, reader)
		if err := cage.Signal(s); err != nil {
			t.Error(err)
		}
		if code, err := cage.Wait(); err != nil || code != int(s)+100 {
			t.Errorf("%v: exit code %d, %v; want %d", s, code, err, int(s)+100)
		}
		if err := cage.Signal(s); err != nil {
			t.Errorf("after the end: %v", err)
		}
		r.close(cage)
	}
}

func TestStopEndsEverything(t *testing.T) {
	r := newRoom(t)
	cage := r.prepare("sh", "-c", "trap '' TERM INT; sleep 1000 & sleep 1000")
	if err := cage.Start(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	r.close(cage)
	if _, err := cage.Wait(); err == nil {
		t.Error("a killed run has an exit code")
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("took %v", took)
	}
	neverStarted := r.prepare("true")
	r.close(neverStarted)
}

func TestEnvironment(t *testing.T) {
	r := newRoom(t)
	t.Setenv("SECRET_TOKEN", "s3cret")
	t.Setenv("HTTPS_PROXY", "http://192.0.2.1")
	r.config.TrustPEM = "-----BEGIN CERTIFICATE-----\nours\n-----END CERTIFICATE-----\n"
	r.config.Env = []string{"EXTRA=1=2", "TERM=dumb"}
	r.config.LookupEnv = func(name string) string {
		return map[string]string{"PATH": "/usr/bin:/nowhere:relative:" + filepath.Dir(r.config.Workdir), "LANG": "C.UTF-8", "CI": "yes", "TERM": "xterm", "TZ": "UTC"}[name]
	}
	want := []string{"AWS_CA_BUNDLE=" + BundlePath, "CARGO_HTTP_CAINFO=" + BundlePath, "CI=true", "CURL_CA_BUNDLE=" + BundlePath, "DENO_CERT=" + AuthorityPath, "EXTRA=1=2",
		"GIT_SSL_CAINFO=" + BundlePath, "GOFLAGS=-buildvcs=false", "HOME=/home/agent", "LANG=C.UTF-8", "LOGNAME=agent", "NODE_EXTRA_CA_CERTS=" + AuthorityPath, "PATH=/usr/bin",
		"PIP_CERT=" + BundlePath, "PWD=" + r.config.Workdir, "REQUESTS_CA_BUNDLE=" + BundlePath, "SSL_CERT_FILE=" + BundlePath, "TERM=dumb", "TZ=UTC", "USER=agent",
		"npm_config_cafile=" + AuthorityPath}
	if got := r.shell("env | LC_ALL=C sort | grep -v ^_="); got != strings.Join(want, "\n") {
		t.Errorf("environment:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	got := r.attempts(`
attempt("authority",lambda:open("/scupper/ca.pem").read().split()[1])
attempt("bundle",lambda:"ours" in open("/scupper/ca-bundle.pem").read())
attempt("system bundle",lambda:"ours" in open("/etc/ssl/certs/ca-certificates.crt").read())
attempt("SBX-18 all there is",lambda:sorted(os.listdir("/scupper")))
attempt("replace",lambda:os.rename("/scupper","/x"))
attempt("write",lambda:open("/scupper/ca.pem","w"))
attempt("user",lambda:__import__("pwd").getpwuid(os.getuid()).pw_dir)
attempt("hosts",lambda:socket.gethostbyname("localhost"))
attempt("name",lambda:socket.gethostname())
`)
	r.want(got, map[string]string{"authority": "CERTIFICATE-----", "bundle": "True", "system bundle": "True", "SBX-18 all there is": "['ca-bundle.pem', 'ca.pem']",
		"replace": "EROFS", "write": "EROFS", "user": "/home/agent", "hosts": "127.0.0.1", "name": "sandbox"})
}

func TestLimits(t *testing.T) {
	r := newRoom(t)
	r.config.Limits = Limits{Processes: 20, OpenFiles: 64, FileBytes: 1 << 20, Scratch: 4 << 20}
	got := r.attempts(`
def forks():
    n=0
    try:
        while n<100:
            if os.fork()==0: __import__("time").sleep(30)
            n+=1
    except OSError as e: return errno.errorcode[e.errno]+" below 20: "+str(n<20)
    return "no limit"
def files():
    fs=[]
    try:
        while len(fs)<1000: fs.append(os.open("/dev/null",0))
    except OSError as e:
        for f in fs: os.close(f)
        return errno.errorcode[e.errno]
def fill(path,n):
    with open(path,"wb") as f: f.write(b"x"*n)
import signal; signal.signal(signal.SIGXFSZ,signal.SIG_IGN)
attempt("open files",files)
attempt("one file",lambda:fill("big",2<<20))
attempt("scratch",lambda:[fill("/tmp/%d"%i,1<<20) for i in range(8)])
attempt("forks",forks)
import resource
attempt("core",lambda:resource.getrlimit(resource.RLIMIT_CORE))
`)
	r.want(got, map[string]string{"open files": "EMFILE", "one file": "EFBIG", "scratch": "ENOSPC", "forks": "EAGAIN below 20: True", "core": "(0, 0)"})
}
