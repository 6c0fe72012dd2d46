package sandbox

import (
	"io"
	"time"
)

// CageConfig says what one cage is made of.
type CageConfig struct {
	Command []string // what runs inside; at least one word
	Workdir string   // the writable folder; also where the command starts
	RW, RO  []string // further paths, writable and read-only, at the same place inside

	// Protect are paths that stay as they are although they lie in a writable folder: the policy, every file it names, lockfiles. One that does
	// not exist cannot be created. What git executes is added by the cage.
	Protect []string
	// Forbidden are host paths that no Workdir, RW or RO may equal, contain or lie inside: the audit and trust directories. StateDir, credential
	// stores, runtime directories and system directories are added by the cage.
	Forbidden []string
	// StateDir holds the journal of placeholders. It is created with mode 0700.
	StateDir string

	Env       []string            // NAME=VALUE, after and above what the cage sets
	LookupEnv func(string) string // where PATH, TERM, LANG, LC_ALL, TZ and CI come from; nil is os.Getenv

	Ports     []uint16 // TCP ports of grants, which reach the proxy; all others are reset
	TrustPEM  string   // certificate of the run's authority, PEM; empty when nothing is intercepted
	HostRoots string   // the host's bundle of root certificates; empty finds it

	SpareUID int // for root: the host uid and gid that the sandbox runs as; 0 is 165534

	Stdin          io.Reader // nil is an empty input
	Stdout, Stderr io.Writer // nil discards; where both are one writer, it gets what is printed in its order
	Terminal       TerminalUse
	Limits         Limits
	Nested         bool // programs inside may make user namespaces, for a sandbox of their own; a weakened control
	BestEffort     bool // a limit that was asked for and cannot be held is reported, not an error

	starting *readable // of a series: how a hardened process starts a child
}

// Limits of one cage. A zero field is the default, and was not asked for: where it cannot be held, that is reported and no error.
type Limits struct {
	Memory    uint64        // bytes of the whole sandbox, its temporary files included; default four fifths of what there is
	CPUs      float64       // processors' worth of time; default all
	Processes uint64        // and threads, at once; default 4096
	Time      time.Duration // from start to end; default none
	Output    uint64        // bytes of standard output and error together; default none
	OpenFiles uint64        // a process; default 16384 or what the caller may have
	FileBytes uint64        // size of one file; default none
	Scratch   uint64        // bytes of /tmp, /var/tmp, /run, /home/agent and /dev/shm together; default 2 GiB or half of the memory
}

// Control is one of the things that hold a sandbox, and whether it does.
type Control struct {
	Name    string `json:"name"`
	InForce bool   `json:"in_force"`
	Detail  string `json:"detail"`
}
