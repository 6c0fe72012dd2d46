package e2e

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestCage tries every way out at once, as every user: each fails fast, nothing of them
// arrives anywhere, and the log has each packet.
func TestCage(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy(publicAPI)
			const url = "https://api.example.com/public/a"
			w.control(curl(url)).wantStatus(200).farSide("GET " + url).wantAllowed(1)
			s, services := furnish(w)
			wantWaysOut(w, s, services)
			services.calls.Store(0)

			w.flags = append(w.flags, "--ro", prepared("attacker"), "--env", s.environment())
			a := w.attack(attacker()).wantExit(0).farSideNothing()
			if n := services.calls.Load(); n != 0 {
				t.Errorf("%d connections reached services of the host", n)
			}
			wantAnswers(t, a)
			wantRecords(t, a)
		})
	}
}

// wantWaysOut shows that without a sandbox what is tried works.
func wantWaysOut(w *world, s scene, services *services) {
	w.t.Helper()
	s.Outside = true
	w.env = append(w.env, s.environment())
	defer func() { w.env = w.env[:len(w.env)-1] }()
	got := w.direct(attacker()).wantExit(0).answers()
	for _, trial := range trials() {
		if trial.outside && got[trial.name].Came != "ok" {
			w.t.Errorf("control: without a sandbox %s comes to %q", trial.name, got[trial.name].Came)
		}
	}
	if services.calls.Load() == 0 {
		w.t.Error("control: no connection reached a service of the host")
	}
}

func wantAnswers(t *testing.T, a *attempt) {
	got := a.answers()
	for _, trial := range trials() {
		t.Run(trial.name, func(t *testing.T) {
			answer, there := got[trial.name]
			if !there {
				t.Fatalf("not tried; %s", a.stderr)
			}
			if !slices.Contains(strings.Fields(trial.want), answer.Came) {
				t.Errorf("came to %q, want %q", answer.Came, trial.want)
			}
			if answer.Took > enough {
				t.Errorf("took %v, want at most %v", answer.Took, enough)
			}
		})
	}
}

// wantRecords compares the denials in the log with what the trials must leave there.
func wantRecords(t *testing.T, a *attempt) {
	a.looked[theLog] = true
	var want, got []string
	for _, trial := range trials() {
		if trial.record != "" {
			want = append(want, trial.record)
		}
	}
	for _, d := range a.log.denials() {
		got = append(got, d.what())
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("denials in the log (-want +got):\n%s", diff)
	}
}

// services are what listens on the host and must never be called.
type services struct{ calls atomic.Int64 }

func (s *services) listen(w *world, network, address string) net.Listener {
	w.t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { l.Close() })
	if network == "unix" && address[0] != '@' {
		if err := os.Chmod(address, 0o666); err != nil {
			w.t.Fatal(err)
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.calls.Add(1)
			c.Close()
		}
	}()
	return l
}

// furnish puts services and secrets where a host has them, and tells scupper's
// environment of them.
func furnish(w *world) (scene, *services) {
	w.t.Helper()
	s := &services{}
	l := s.listen(w, "tcp4", "127.0.0.1:0")
	port := l.Addr().(*net.TCPAddr).Port
	s.listen(w, "tcp6", fmt.Sprintf("[::1]:%d", port))
	out := scene{Loopback: uint16(port), Secret: "secret-of-the-host", PID: os.Getpid()}
	runtime := fmt.Sprintf("/run/user/%d", w.user.uid)
	agent, other := temporary(w, "/tmp"), temporary(w, "/var/tmp")
	for _, dir := range []string{runtime, w.at("home/.docker/run")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			w.t.Fatal(err)
		}
		os.Chmod(dir, 0o755)
	}
	os.Chmod(w.at("home/.docker"), 0o755)
	out.Sockets = []string{
		"/run/docker.sock", w.at("home/.docker/run/docker.sock"), agent + "/agent.1", other + "/service", runtime + "/bus", "@scupper-e2e",
	}
	for _, path := range out.Sockets {
		s.listen(w, "unix", path)
	}
	w.env = append(w.env, "SCUPPER_E2E_SECRET="+out.Secret, "SSH_AUTH_SOCK="+agent+"/agent.1", "XDG_RUNTIME_DIR="+runtime,
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+runtime+"/bus", "DOCKER_HOST=unix:///run/docker.sock")
	inherit(w, out.Secret)
	return out, s
}

// temporary makes a folder that everybody may read.
func temporary(w *world, in string) string {
	w.t.Helper()
	dir, err := os.MkdirTemp(in, "scupper-services-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// inherit leaves descriptors 5 and 9 open, as a careless launcher does: a file and a
// socket.
func inherit(w *world, secret string) {
	w.t.Helper()
	file, err := os.Open(w.user.file(w.t, w.at(secret), []byte(secret)))
	if err != nil {
		w.t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	socket := os.NewFile(uintptr(fd), "socket")
	w.t.Cleanup(func() { file.Close(); socket.Close() })
	w.extra = make([]*os.File, 7)
	w.extra[5-3], w.extra[9-3] = file, socket
}

// TestFloodIsCounted sends more packets than have records of their own.
func TestFloodIsCounted(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	const ports = 300
	script := fmt.Sprintf(`import socket
for port in range(20000, 20000+%d):
    try: socket.create_connection(("203.0.113.9", port), 5)
    except ConnectionRefusedError: pass
    else: raise SystemExit(1)`, ports)
	a := w.attack(python(script, false)).wantExit(0).farSideNothing()
	a.looked[theLog] = true
	var counted int64
	for _, r := range a.log {
		if r.Event == "decision" && r.Kind == "packet" {
			counted++
		}
		if r.Event == "repeated" {
			counted += r.Count
		}
	}
	if counted != ports || len(a.log.denials()) > ports/2 {
		t.Errorf("%d packets in %d records, want %d in few", counted, len(a.log.denials()), ports)
	}
}
