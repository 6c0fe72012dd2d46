package probe

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Control is one of the things that hold a sandbox.
type Control string

// The controls that attempts are made against.
const (
	Network      Control = "network"
	SystemCalls  Control = "system calls"
	HostFiles    Control = "files of the host"
	ReadOnlyRoot Control = "read-only root"
	Processes    Control = "processes of the host"
	Environment  Control = "environment"
	Descriptors  Control = "descriptors"
	Capabilities Control = "capabilities"
	Identity     Control = "identity"
)

// Controls lists all controls.
func Controls() []Control {
	return []Control{Network, SystemCalls, HostFiles, ReadOnlyRoot, Processes, Environment, Descriptors, Capabilities, Identity}
}

// Scene is what an attempt has to know of the bait.
type Scene struct {
	Port     uint16   // of listeners on 127.0.0.1 and ::1, TCP and UDP
	Abstract string   // name of an abstract unix socket, with the @ in front
	Sockets  []string // paths of unix sockets that are bait
	Services []string // paths of unix sockets that services of this host may have
	File     string   // a file of the host that anybody may read
	Secret   string   // stands in the environment and in an open file outside
	Variable string   // the name of the secret's variable
	PID      int      // of a process outside
	Command  string   // what /proc calls that process
}

// Result is what came of an attempt.
type Result struct {
	Control Control `json:"control"`
	Name    string  `json:"name"`
	Came    string  `json:"came"` // "got out", or the error
	Out     bool    `json:"out"`
}

// attempt is one way out. It gets out where try returns nil.
type attempt struct {
	control Control
	name    string
	try     func(Scene) error
}

// Run makes all attempts, one after the other. That of inherited descriptors is first,
// before others open any.
func Run(s Scene) []Result {
	var all []Result
	for _, a := range slices.Concat(insideAttempts(), hostAttempts(), fileAttempts(), callAttempts(), networkAttempts()) {
		err := a.try(s)
		all = append(all, Result{a.control, a.name, came(err), err == nil})
	}
	return all
}

// limit is how long an attempt waits for an answer.
const limit = time.Second

// errNothing is what an attempt comes to that looked for something and did not find it.
var errNothing = errors.New("nothing there")

// came names an error in one word where it has one.
func came(err error) string {
	if err == nil {
		return "got out"
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		if name := unix.ErrnoName(number); name != "" {
			return name
		}
	}
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return "no answer"
	}
	if errors.Is(err, io.EOF) {
		return "closed"
	}
	return strings.ToValidUTF8(err.Error(), "?")
}

// anyOf gets out where one of several tries does; the first error stands for all.
func anyOf(tries ...func() error) error {
	results := make(chan error, len(tries))
	for _, try := range tries {
		go func() { results <- try() }()
	}
	var first error
	out := false
	for range tries {
		err := <-results
		out = out || err == nil
		if first == nil {
			first = err
		}
	}
	if out {
		return nil
	}
	return first
}
