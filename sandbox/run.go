package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/proxy"
)

// Config says what one run is.
type Config struct {
	Cage  CageConfig   // the sandbox; ports and trust are filled in by Run
	Audit audit.Config // the policy and the log; controls are filled in by Run
	Egress

	Signals <-chan os.Signal // for the command; may be nil

	// Watch looks for new policies until ctx ends; nil: the first one stays. An error ends
	// the run.
	Watch func(ctx context.Context, policies *Policies) error

	// Serve serves what else the run has, such as tools, until ctx ends; nil: nothing. It
	// decides and records with the run's guard. An error ends the run.
	Serve func(ctx context.Context, guard *audit.Guard) error
}

// Result is what became of a run.
type Result struct {
	Exit    int // the command's exit code, 128 + N if signal N ended it
	Summary audit.Summary
}

// Run builds a sandbox, serves its network under the policy, runs the command and
// destroys everything. It returns when nothing of the run is left but its log. If any
// enforcer ends, the sandbox ends. An error means that the command did not run, or
// that the run was ended before the command was done.
func Run(ctx context.Context, config Config) (result Result, err error) {
	overrides, err := parseOverrides(config.Resolve)
	if err != nil {
		return result, err
	}
	config.Cage.Ports = ports(config.Audit.Policy)

	cage, err := begin(config.Cage)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, cage.Close()) }()

	ca, err := proxy.NewCA(time.Now())
	if err != nil {
		return result, fmt.Errorf("make the run's authority: %w", err)
	}
	if err := cage.tell(string(ca.CertPEM())); err != nil {
		return result, err
	}
	addresses := addressCheck(config.via)
	config.Audit.Controls, config.Audit.Overrides = append(cage.Controls(), addresses), config.Resolve
	guard, err := audit.New(config.Audit)
	if err != nil {
		return result, &Error{Code: ExitSandbox, Doing: "open the audit log", Err: err, Hint: "nothing runs without a log: " + hintLog}
	}
	exit := ExitSandbox
	defer func() {
		err = errors.Join(err, closeLog(guard, exit))
		if !cage.started {
			return
		}
		result.Summary = guard.Summary()
		result.Summary.Exit = exit
		if !addresses.InForce {
			result.Summary.NotInForce = []string{addresses.Name + ": " + addresses.Detail}
		}
		if n := nestedControl(); config.Cage.Nested {
			result.Summary.NotInForce = append(result.Summary.NotInForce, n.Name+": "+n.Detail)
		}
	}()

	if err := cage.harden(); err != nil {
		return result, err
	}
	if err := guard.Ready(); err != nil {
		return result, &Error{Code: ExitSandbox, Doing: "open the audit log", Err: err, Hint: "scupper audit key --new makes another key; the old logs verify with the old public key only"}
	}
	n := network{egress: config.Egress, overrides: overrides, ca: ca, guard: guard, authority: guard, signals: config.Signals}
	if config.Watch != nil {
		n.watch = func(ctx context.Context, p *proxy.Proxy) error {
			return config.Watch(ctx, &Policies{guard, p.Rejudge, config.Credentials})
		}
	}
	if config.Serve != nil {
		n.serve = func(ctx context.Context) error { return config.Serve(ctx, guard) }
	}
	exit, err = n.run(ctx, cage)
	result.Exit = exit
	go cage.Close() // beside the end of the log; the deferred call waits for it
	return result, err
}

// closeLog ends the log. A run whose end is not on record has failed, whatever its command says.
func closeLog(guard *audit.Guard, exit int) error {
	if err := guard.Close(exit); err != nil {
		return &Error{Code: ExitSandbox, Doing: "end the audit log", Err: err, Hint: hintLog}
	}
	return nil
}

// ports are the TCP ports that the policy grants.
func ports(policy *capability.Policy) []uint16 {
	if policy == nil {
		return nil
	}
	return policy.Ports()
}
