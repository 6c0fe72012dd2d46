package e2e

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sceneVar holds what an attacker inside has to know, and makes this test binary one.
const sceneVar = "SCUPPER_E2E_SCENE"

// scene is what stands outside and must not be reached.
type scene struct {
	Loopback uint16   // the port of a service on 127.0.0.1 and ::1
	Sockets  []string // of services; one that begins with "@" is abstract
	Secret   string   // stands in the environment of scupper and of the tests, and in open files
	PID      int      // of the tests
	Outside  bool     // try only what works without a sandbox; the rest may harm the machine
}

// trial is one way out. What it comes to is "ok", the name of an error number, or one
// of NXDOMAIN, ALERT (of TLS), EOF and TIMEOUT.
type trial struct {
	name    string
	try     func(scene) error
	want    string // what it may come to, separated by blanks
	record  string // what the log has of it: kind, reason, protocol, destination; empty is nothing
	outside bool   // it succeeds without a sandbox
}

// answer is what came of a trial, as the attacker prints it.
type answer struct {
	Name string
	Came string
	Took time.Duration // of the fastest of at most three
}

// enough is how long a refusal may take.
const enough = 50 * time.Millisecond

// trials are all that is tried.
func trials() []trial {
	return slices.Concat(networkTrials(), resolverTrials(), socketTrials(), hostTrials(), fileTrials(), kernelTrials())
}

func isAttacker() bool { return os.Getenv(sceneVar) != "" }

// attackMain is the attacker: it prints an answer for each trial. A slow one is tried
// again, because the machine may have been busy.
func attackMain() int {
	var s scene
	if err := json.Unmarshal([]byte(os.Getenv(sceneVar)), &s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	out := json.NewEncoder(os.Stdout)
	for _, t := range trials() {
		if t.outside || !s.Outside {
			out.Encode(t.run(s))
		}
	}
	return 0
}

func (t trial) run(s scene) answer {
	a := answer{Name: t.name, Took: time.Hour}
	for i := 0; i < 3 && a.Took > enough; i++ {
		begin := time.Now()
		came := make(chan error, 1)
		go func() { came <- t.try(s) }()
		select {
		case err := <-came:
			a.Came = cameOf(err)
		case <-time.After(2 * trialLimit):
			a.Came = "HANG"
		}
		a.Took = min(a.Took, time.Since(begin))
	}
	return a
}

// cameOf names an error.
func cameOf(err error) string {
	if err == nil {
		return "ok"
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return unix.ErrnoName(number)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return "NXDOMAIN"
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return "ALERT"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return "ALERT"
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "TIMEOUT"
	}
	if errors.Is(err, io.EOF) {
		return "EOF"
	}
	return err.Error()
}

// copyAttacker makes a copy of this test binary that every user may run.
func copyAttacker(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := os.Open(self)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// attacker is the client that tries to get out.
func attacker() client { return command(prepared("attacker")) }

// environment is the variable that tells the attacker about the scene.
func (s scene) environment() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return sceneVar + "=" + string(b)
}

// answers are what the attacker printed, by name.
func (a *attempt) answers() map[string]answer {
	a.t.Helper()
	all := map[string]answer{}
	for line := range strings.Lines(a.stdout) {
		var got answer
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			a.errorf("%q is no answer: %v", line, err)
			continue
		}
		all[got.Name] = got
	}
	return all
}

// links are where the descriptors of all processes in sight lead.
func links() []string {
	var all []string
	names, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, name := range names {
		if to, err := os.Readlink(name); err == nil {
			all = append(all, to)
		}
	}
	return all
}
