package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/netns"
)

// Cage is one sandbox that is ready to start, runs, or has ended.
type Cage struct {
	config   CageConfig
	bwrap    string
	folders  []folder
	detached *detached
	told     [4]*os.File // plan, texts, arguments and filter, shared with the child
	files    []stagedFile
	limits   Limits // with defaults
	group    *group
	kept     uint64 // capabilities
	journal  *journal
	process  *process
	io       *stdio
	sockets  netns.Sockets
	status   *statusReader
	started  bool
	overtime bool // it was ended because its time was up
	watching sync.WaitGroup
	reached  []audit.Reached // when ended is closed
	ended    chan struct{}
	exitCode int
	exitErr  error
	closing  sync.Once
	closeErr error
}

// Prepare builds a cage: its namespaces, its network and its mounts are there, and nothing of the command runs yet. The caller serves the sockets,
// calls Start, Wait and, in any case, Close. A context that ends before Prepare returns is an error; afterwards it has no effect.
func Prepare(ctx context.Context, config CageConfig) (*Cage, error) {
	c, err := begin(config)
	if err != nil {
		return nil, err
	}
	if err := c.tell(config.TrustPEM); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.connect(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// begin starts the child that builds the cage once it is told how.
func begin(config CageConfig) (*Cage, error) {
	c := &Cage{config: config, ended: make(chan struct{})}
	if err := c.begin(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cage) begin() error {
	if len(c.config.Command) == 0 {
		return usage("scupper run -- COMMAND", "no command")
	}
	var err error
	if c.bwrap, err = exec.LookPath("bwrap"); err != nil {
		return environment("find bubblewrap", err, hintBwrap)
	}
	if c.folders, err = c.config.folders(c.config.forbidden()); err != nil {
		return err
	}
	if len(c.folders) > maxFolders {
		return usage("name a folder above them", "%d folders are more than the %d that a sandbox can have", len(c.folders), maxFolders)
	}
	c.detached = detach(c.folders, c.outerUID())
	c.group = findGroup(c.config.Limits.CPUs > 0)
	c.limits = c.config.Limits.withDefaults(c.group.memoryTotal())
	if groups := c.group.marks(); len(groups) > 0 { // on record before they are made
		if c.journal, err = openJournal(c.config.StateDir, groups); err != nil {
			return err
		}
	}
	c.group.make(c.limits)
	if err := c.demandLimits(); err != nil {
		return err
	}
	if c.io, err = c.config.newStdio(c.outerUID()); err != nil {
		return err
	}
	return c.launch()
}

// tell tells the child what to build. It is called while the child starts; until connect the caller has time for something else again.
func (c *Cage) tell(trustPEM string) error {
	c.config.TrustPEM = trustPEM
	env := c.config.environment(c.folders)
	if err := findCommand(c.config.Command[0], valueOf(env, "PATH"), os.Getenv("PATH"), c.workdir(), c.folders); err != nil {
		return err
	}
	if err := c.writeFiles(); err != nil {
		return err
	}
	if err := c.protect(); err != nil {
		return err
	}
	return c.tellPlan(env)
}

// protect plans what covers the protected paths of the writable folders, and makes what is missing of them.
func (c *Cage) protect() (err error) {
	if c.journal == nil {
		if c.journal, err = openJournal(c.config.StateDir, nil); err != nil {
			return err
		}
	}
	return c.journal.place(func(live []placeholder) ([]placeholder, error) { return c.config.protect(c.folders, live) })
}

func (c *Cage) writeFiles() error {
	etc, err := etcFiles()
	if err != nil {
		return err
	}
	trust, err := c.config.trustFiles()
	c.files = append(etc, trust...)
	return err
}

// workdir is the folder of --workdir with symlinks resolved; it was checked before.
func (c *Cage) workdir() string { return realPath(absolute(c.config.Workdir)) }

// launch starts the child with everything it needs; what stands in its files comes later.
func (c *Cage) launch() (err error) {
	status, statusWriter, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("create status pipe: %w", err)
	}
	c.status = readStatus(status)
	l := launch{uid: c.outerUID(), io: c.io, group: c.group, starting: c.config.starting, files: []*os.File{statusWriter}}
	defer func() { err = errors.Join(err, l.close()) }()
	for i, name := range []string{"plan", "texts", "args"} {
		if c.told[i], err = inMemory(name); err != nil {
			return err
		}
	}
	if c.told[3], err = seccompFile(c.config.Nested); err != nil {
		return err
	}
	l.inherited = c.told[:]
	c.process, err = l.start()
	return err
}

// tellPlan writes what the child waits for.
func (c *Cage) tellPlan(env []string) error {
	var contents texts
	p := plan{Ports: c.config.Ports, Bwrap: c.bwrap, Command: c.config.Command, Folders: c.folders, Limits: c.limits, Nested: c.config.Nested}
	if c.io.terminal != nil {
		p.Terminal = c.io.terminal.streams
	}
	if _, counted := c.group.at["processes"]; counted {
		p.Limits.Processes = 0
	}
	for _, f := range c.files {
		p.Files = append(p.Files, placedText{f.Dest, contents.index(f.Text)})
	}
	p.Texts = contents.sizes()
	encoded, err := p.encode()
	if err != nil {
		return err
	}
	for i, content := range [...][]byte{encoded, []byte(strings.Join(contents, "")), encodeArgs(bwrapArgs(env, c.workdir(), c.io.terminal != nil))} {
		if err := fill(c.told[i], content); err != nil {
			return err
		}
	}
	mounts, err := c.detached.take()
	if err != nil {
		return err
	}
	return c.process.tellReady(mounts)
}

// Sockets are what the sandbox's traffic arrives at. Close closes them.
func (c *Cage) Sockets() netns.Sockets { return c.sockets }
