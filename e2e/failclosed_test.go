package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failure is a run that must not happen.
type failure struct {
	name    string
	prepare func(*world) // may be nil
	flags   []string     // $AT is the world's folder
	command []string     // default: one that leaves a mark
	code    int
	says    []string // among them the next thing to type or to change
}

const markFile = "ran"

// leaveMark is a command that shows that it ran.
func leaveMark() []string { return []string{"sh", "-c", "touch " + markFile} }

// run runs a failure by command lines, each put in front of scupper's.
func (f failure) run(t *testing.T, around ...string) {
	t.Run(f.name, func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		if f.prepare != nil {
			f.prepare(w)
		}
		command := f.command
		if command == nil {
			command = append([]string{"--"}, leaveMark()...)
		}
		args := append([]string{prepared("scupper"), "run", "--audit", "$AT/audit"}, append(f.flags, command...)...)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "$AT", w.dir)
		}
		argv := append(append([]string{}, around...), args...)
		w.start(client{argv: argv}, argv, nil).wantExit(f.code).wantSays(f.says...).farSideNothing()
		if _, err := os.Lstat(w.at("work/" + markFile)); err == nil {
			t.Error("the command ran")
		}
		wantNoPlaceholders(w)
	})
}

// wantSays looks for texts on standard error, and for no stack trace there.
func (a *attempt) wantSays(texts ...string) *attempt {
	a.t.Helper()
	for _, text := range texts {
		a.wantStderr(text)
	}
	for _, trace := range []string{"goroutine ", "panic", ".go:"} {
		if strings.Contains(a.stderr, trace) {
			a.errorf("a stack trace, or a part of one: %q", trace)
		}
	}
	return a
}

// wantNoPlaceholders looks for files that a run made over protected paths and left.
func wantNoPlaceholders(w *world) {
	w.t.Helper()
	for _, pattern := range []string{"work/.git", "home/.local/state/scupper/placeholders/run-*"} {
		if left, err := filepath.Glob(w.at(pattern)); err != nil || len(left) > 0 {
			w.t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func file(name, text string) func(*world) {
	return func(w *world) { w.user.file(w.t, w.at(name), []byte(text)) }
}

// TestPolicyThatDoesNotHold is about policies under which nothing may run.
func TestPolicyThatDoesNotHold(t *testing.T) {
	for _, f := range []failure{
		{name: "HOST-13 empty", prepare: file("policy.hcl", ""), flags: []string{"--policy", "$AT/policy.hcl"}, code: 2, says: []string{"policy.hcl", "version = 1"}},
		{name: "missing", flags: []string{"--policy", "$AT/policy.hcl"}, code: 2, says: []string{"policy.hcl", "no such file", "scupper policy"}},
		{name: "a directory", flags: []string{"--policy", "$AT/home"}, code: 2, says: []string{"home"}},
		{name: "untrusted", prepare: file("work/policy.hcl", publicAPI), code: 2, says: []string{"has not been accepted", "scupper policy trust policy.hcl"}},
		{name: "HOST-13 broken", prepare: file("policy.hcl", "version = 1\ngrant \"x\" {\n  hots = 1\n}\n"), flags: []string{"--policy", "$AT/policy.hcl"}, code: 2,
			says: []string{"policy.hcl:3", "hots"}},
		{name: "no HCL", prepare: file("policy.hcl", "\x00\xff{{{"), flags: []string{"--policy", "$AT/policy.hcl"}, code: 2, says: []string{"policy.hcl:1"}},
		{name: "role that is not there", prepare: file("policy.hcl", publicAPI), flags: []string{"--policy", "$AT/policy.hcl", "--role", "ghost"}, code: 2,
			says: []string{"ghost"}},
		{name: "role without a policy", flags: []string{"--role", "ghost"}, code: 2, says: []string{"ghost", "--policy FILE"}},
	} {
		f.run(t)
	}
}

// TestBadFlags is about what the operator mistyped.
func TestBadFlags(t *testing.T) {
	for _, f := range []failure{
		{name: "no command", command: []string{}, code: 2, says: []string{"no command", "scupper run --policy policy.hcl -- npm ci"}},
		{name: "no command after --", command: []string{"--"}, code: 2, says: []string{"no command", "scupper run --policy policy.hcl -- npm ci"}},
		{name: "unknown flag", flags: []string{"--all-hosts"}, code: 2, says: []string{"--all-hosts", "--help"}},
		{name: "resolve", flags: []string{"--resolve", "api.example.com"}, code: 2, says: []string{"api.example.com", "--resolve api.example.com:443:192.0.2.7:8443"}},
		{name: "env without a name", flags: []string{"--env", "=x"}, code: 2, says: []string{"--env", "--env NAME"}},
		{name: "authority that is missing", flags: []string{"--upstream-ca", "$AT/none.pem"}, code: 2, says: []string{"none.pem"}},
		{name: "authority that is none", prepare: file("none.pem", "x"), flags: []string{"--upstream-ca", "$AT/none.pem"}, code: 2, says: []string{"none.pem", "PEM"}},
		{name: "SBX-12 workdir /", flags: []string{"--workdir", "/"}, code: 2, says: []string{"the whole host", "use a folder"}},
		{name: "SBX-12 workdir home", flags: []string{"--workdir", "$AT/home"}, code: 2, says: []string{"credentials", "project"}},
		{name: "SBX-12 workdir around the state", flags: []string{"--workdir", "$AT"}, code: 2, says: []string{"--workdir", "use a folder"}},
		{name: "SBX-12 workdir in the log", flags: []string{"--workdir", "$AT/audit"}, code: 2, says: []string{"decides and records", "use a folder"}},
		{name: "SBX-12 ro of the log", flags: []string{"--ro", "$AT/audit"}, code: 2, says: []string{"decides and records", "use a folder"}},
		{name: "SBX-12 rw of /etc", flags: []string{"--rw", "/etc"}, code: 2, says: []string{"/etc", "use a folder"}},
		{name: "SBX-12 link to home", prepare: func(w *world) {
			if err := os.Symlink(w.at("home"), w.at("link")); err != nil {
				w.t.Fatal(err)
			}
		}, flags: []string{"--workdir", "$AT/link"}, code: 2, says: []string{"credentials"}},
		{name: "workdir that is missing", flags: []string{"--workdir", "$AT/none"}, code: 2, says: []string{"does not exist", "mkdir -p"}},
		{name: "workdir that is a file", flags: []string{"--workdir", "$AT/ca.pem"}, code: 2, says: []string{"not a directory", "name a directory"}},
	} {
		f.run(t)
	}
}

// TestCommandThatCannotRun is about the codes that shells use.
func TestCommandThatCannotRun(t *testing.T) {
	for _, f := range []failure{
		{name: "not found", command: []string{"--", "no-such-command"}, code: 127, says: []string{"no-such-command", "not found"}},
		{name: "path not found", command: []string{"--", "./no-such-command"}, code: 127, says: []string{"no-such-command", "not found"}},
		{name: "not executable", prepare: file("work/script", "#!/bin/sh\ntouch ran\n"), command: []string{"--", "./script"}, code: 126,
			says: []string{"not an executable file", "chmod +x"}},
		{name: "a directory", command: []string{"--", "/usr"}, code: 126, says: []string{"/usr"}},
		{name: "out of sight", prepare: func(w *world) {
			if err := os.Chmod(w.user.file(w.t, w.at("home/tool"), []byte("#!/bin/sh\n")), 0o755); err != nil {
				w.t.Fatal(err)
			}
		}, command: []string{"--", "$AT/home/tool"}, code: 127, says: []string{"cannot see", "add --ro"}},
	} {
		f.run(t)
	}
}

// inOtherMounts runs a command in a mount namespace of its own, after a script that may
// mount, without capabilities.
func inOtherMounts(script string) []string {
	return []string{"unshare", "-U", "-c", "--keep-caps", "-m", "sh", "-c", script + ` && exec setpriv --inh-caps=-all --ambient-caps=-all "$@"`, "sh"}
}

// withoutNetfilter answers for nftables as a kernel does that was built without: the
// filter is for socket(AF_NETLINK, any, NETLINK_NETFILTER) of this machine's own
// architecture (seccomp(2), struct seccomp_data).
func withoutNetfilter() []string {
	return []string{"python3", "-c", `
import ctypes, os, platform, struct, sys
call = {"x86_64": 41, "aarch64": 198}[platform.machine()]
RET, LOAD, EQUAL = 0x06, 0x20, 0x15
lines = [(LOAD,0,0,0), (EQUAL,0,5,call), (LOAD,0,0,16), (EQUAL,0,3,16), (LOAD,0,0,32), (EQUAL,0,1,12), (RET,0,0,0x50000|93), (RET,0,0,0x7fff0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *l) for l in lines))
libc = ctypes.CDLL(None, use_errno=True)
header = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(program))
for args in (38, 1, 0, 0, 0), (22, 2, ctypes.create_string_buffer(header)):
    if libc.prctl(*args): raise SystemExit(os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])`}
}

// TestMachineThatLacksSomething is about parts that a sandbox cannot do without.
func TestMachineThatLacksSomething(t *testing.T) {
	failure{name: "SBX-05 no bubblewrap", prepare: func(w *world) { w.env = append(w.env, "PATH="+w.at("home")) }, code: 3,
		says: []string{"bubblewrap", "apt-get install bubblewrap"}}.run(t)
	failure{name: "SBX-05 no nftables", code: 3, says: []string{"set up the network namespace", "modprobe nft_tproxy"}}.run(t, withoutNetfilter()...)
	for _, kind := range []string{"user", "net", "mnt", "pid"} {
		failure{name: "SBX-05 no " + kind + " namespaces", code: 3, says: []string{"namespaces", "sysctl -w"}}.run(t,
			"unshare", "-U", "-c", "--keep-caps", "sh", "-c", `echo 0 >/proc/sys/user/max_`+kind+`_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all "$@"`, "sh")
	}
	failure{name: "no home", prepare: func(w *world) { w.env = append(w.env, "HOME=") }, code: 3, says: []string{"HOME", "set HOME"}}.run(t)
}

// TestLogThatCannotBeWritten is about the directory of the log.
func TestLogThatCannotBeWritten(t *testing.T) {
	says := []string{"audit", "--audit DIR"}
	failure{name: "full", code: 125, says: says}.run(t, inOtherMounts(`cd .. && mount -t tmpfs -o size=4k,mode=777 none audit && cat ca.pem ca.pem ca.pem ca.pem ca.pem ca.pem >audit/full 2>/dev/null; cd work`)...)
	failure{name: "read-only", code: 125, says: says}.run(t, inOtherMounts(`mount -t tmpfs -o ro none ../audit`)...)
	failure{name: "not ours", prepare: func(w *world) {
		if err := os.Chmod(w.at("audit"), 0); err != nil {
			w.t.Fatal(err)
		}
	}, code: 125, says: says}.run(t)
}

// TestLogThatFillsUp spends the space for records on refused requests. Then granted ones
// pass only as far as their small records find a place, and at last none.
func TestLogThatFillsUp(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	const url = "https://api.example.com/public/a"
	w.control(curl(url)).wantStatus(200).farSide("GET " + url).wantAllowed(1)
	argv, audit := w.runArgs(command("curl", "-sS", "-m", "20", "-o", "/dev/null", "https://api.example.com/private/[1-300]", "https://api.example.com/public/[1-40]",
		"--next", "-sS", "-m", "20", "-w", "\n%{http_code} %{http_version}", url))
	keep := inOtherMounts(`mkdir -p "` + audit + `" && mount -t tmpfs -o size=64k,mode=777 none "` + audit + `"`)
	keep[len(keep)-2] = strings.Replace(keep[len(keep)-2], "exec setpriv", "setpriv", 1) + `; code=$?; cat "` + audit + `"/*/*.jsonl >"` + w.at("log.jsonl") + `"; exit $code`
	a := w.start(client{argv: argv, http: true}, append(keep, argv...), nil)
	a.wantExit(125).wantStatus(403).wantStdout(`"reason":"audit_unavailable"`).wantSays("no space left", "--audit DIR")
	text, err := os.ReadFile(w.at("log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	log := parseLog(&recorder{TB: t}, "log.jsonl", text)
	if len(log.denials()) < 20 || len(log.allowed("http")) != len(a.received) || len(a.received) > 10 {
		t.Errorf("%d refused and %d allowed in the log, %d at the far side; want many, few and as many:\n%s", len(log.denials()), len(log.allowed("http")), len(a.received), log)
	}
}

// TestWithoutAPolicy runs the command, without a way out.
func TestWithoutAPolicy(t *testing.T) {
	for name, prepare := range map[string]func(*world){"none": nil, "HOST-13 empty ./policy.hcl": file("work/policy.hcl", "")} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ordinaryUser(t))
			if prepare != nil {
				prepare(w)
			}
			a := w.attack(shell("touch ran; exec curl -sS -m 20 https://api.example.com/public/a")).wantFailure().farSideNothing().
				wantReasons("name no_grant api.example.com")
			a.wantSays("no policy: everything is denied", "scupper init")
			if _, err := os.Lstat(w.at("work/ran")); err != nil {
				t.Errorf("control: the command did not run: %v", err)
			}
		})
	}
}

// TestExitCodes passes the command's own code through, and 128 + N for signal N.
func TestExitCodes(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	for script, code := range map[string]int{
		"exit 0": 0, "exit 1": 1, "exit 2": 2, "exit 3": 3, "exit 42": 42, "exit 125": 125, "exit 126": 126, "exit 127": 127, "exit 128": 128, "exit 255": 255,
		"kill -9 $$": 137, "kill -TERM $$": 143, "kill -SEGV $$": 139, "kill -INT $$": 130, "no-such-command": 127,
	} {
		t.Run(script, func(t *testing.T) { w.run(shell(script)).wantExit(code).wantSays() })
	}
}
