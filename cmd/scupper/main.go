// Command scupper runs a program, most often an AI agent or a package manager, in a
// sandbox whose only way out is a set of capability grants.
//
//	scupper run -- npm ci
//
// Each file here is one command: it parses flags, builds and runs; nothing else.
package main

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"scupper.dev/scupper/sandbox"
)

type runOnly struct {
	Run RunCmd `cmd:"" help:"Run a command in a sandbox whose only way out is the policy's grants."`
}

type commands struct {
	Init InitCmd `cmd:"" help:"Write a policy from the configuration of the clients here."`
	runOnly
	Call    CallCmd    `cmd:"" help:"Call a tool."`
	Gateway GatewayCmd `cmd:"" help:"Serve the tools to agents: MCP over stdio or HTTP, and plain HTTP."`
	Policy  PolicyCmd  `cmd:"" help:"Check, format, trust and look at policies."`
	Audit   AuditCmd   `cmd:"" help:"Verify, read, report and export what was recorded."`
	Explain ExplainCmd `cmd:"" help:"Say why a request was refused and which grant would permit it."`
	Doctor  DoctorCmd  `cmd:"" help:"Say what this machine can enforce, and prove that nothing gets out of a sandbox."`
	Demo    DemoCmd    `cmd:"" help:"Show an install that works and an upload that does not, offline."`
	Replay  ReplayCmd  `cmd:"" help:"Replay attacks and jobs in sandboxes, offline, and say what leaked."`
	Version VersionCmd `cmd:"" help:"Print the version."`
}

// startTime is how long a start takes at most on a machine that is not overloaded.
const startTime = 100 * time.Millisecond

func main() {
	// The same binary prepares the sandbox from inside its new namespaces; that must
	// come before anything else is touched.
	if sandbox.IsStage(os.Args) {
		if sandbox.Stage() != nil {
			os.Exit(exitRun)
		}
		return // the supervisor has been told
	}
	// Starting allocates a few megabytes within a few milliseconds; collecting in between
	// would take a good part of both.
	percent := debug.SetGCPercent(-1)
	time.AfterFunc(startTime, func() { debug.SetGCPercent(percent) })
	go sandbox.Foresee()
	app := &App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Color: term.IsTerminal(int(os.Stderr.Fd()))}
	if isProbe(os.Args) {
		os.Exit(probeMain(app, os.Args[2]))
	}
	if isReplay(os.Args) {
		os.Exit(replayMain(app, os.Args[2]))
	}
	os.Exit(app.main(os.Args[1:]))
}

// grammar is what args are parsed by. Describing every command takes a millisecond, and
// run is started again and again.
func grammar(args []string) any {
	if len(args) > 0 && args[0] == "run" {
		return &runOnly{}
	}
	return &commands{}
}

// main runs the command that args name and returns the exit code.
func (a *App) main(args []string) int {
	parser, err := kong.New(grammar(args),
		kong.Name("scupper"),
		kong.Description("Gives an AI agent's sandbox exactly the network it was granted, and records what was done with it."),
		kong.Writers(a.Stdout, a.Stderr),
	)
	if err != nil {
		return a.report(&exitError{code: exitUsage, err: err})
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		return a.report(&exitError{code: exitUsage, err: err, hint: "scupper --help lists the commands, scupper COMMAND --help shows an example"})
	}
	if err := ctx.Run(a); err != nil {
		return a.report(err)
	}
	return 0
}
