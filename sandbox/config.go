package sandbox

import "io"

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
	Stdout, Stderr io.Writer // nil discards
	Limits         Limits
}

// Limits of one cage. A zero field is the default.
type Limits struct {
	Processes uint64 // at once; default 4096
	OpenFiles uint64 // a process; default 16384 or what the caller may have
	FileBytes uint64 // size of one file; default none
	Scratch   uint64 // bytes of /tmp, /var/tmp, /run, /home/agent and /dev/shm together; default 2 GiB
}

// Control is one of the things that hold a sandbox, and whether it does.
type Control struct {
	Name    string
	InForce bool
	Detail  string
}

func (l Limits) withDefaults() Limits {
	if l.Processes == 0 {
		l.Processes = 4096
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = 16384
	}
	if l.Scratch == 0 {
		l.Scratch = 2 << 30
	}
	return l
}
