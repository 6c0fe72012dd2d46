package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// grace is how long a command has between being told that its time is up and being killed.
const grace = 3 * time.Second

// Causes for which a command ends before it is done.
var (
	errRecordBudget = errors.New("the run has spent its audit records")
	errAuditGone    = errors.New("the audit log has been unavailable for too long")
	errCallBudget   = errors.New("the call has spent its share of the audit records")
)

// await waits until the command has ended, or something that a sandbox cannot do
// without has, and passes signals on meanwhile.
func (n network) await(ctx context.Context, cage *Cage) (int, error) {
	limit := cage.config.Limits.Time
	up := make(<-chan time.Time)
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		up = timer.C
	}
	for {
		select {
		case <-cage.Ended():
			return cage.Wait()
		case <-up:
			return exitOvertime, n.overtime(cage, limit)
		case <-n.guard.Done():
			return ExitSandbox, endCause(n.guard.Cause())
		case <-n.over:
			return ExitSandbox, &Error{Code: ExitSandbox, Doing: "run", Err: errCallBudget}
		case <-ctx.Done():
			return ExitSandbox, &Error{Code: ExitSandbox, Doing: "run", Err: context.Cause(ctx)}
		case s := <-n.signals:
			if err := cage.Signal(s); err != nil {
				return ExitSandbox, err
			}
		}
	}
}

// overtime tells the command that its time is up, and gives it a moment. The caller kills what is left.
func (n network) overtime(cage *Cage, limit time.Duration) error {
	cage.overtime = true
	err := n.authority.Reached(audit.Reached{Limit: "time", Says: fmt.Sprintf("the sandbox used its %v of time and was ended", limit), Ended: true})
	if err := cage.Signal(unix.SIGTERM); err != nil {
		return err
	}
	select {
	case <-cage.Ended():
	case <-time.After(grace):
	}
	return err
}

func endCause(reason capability.Reason) error {
	if reason == capability.RecordBudget {
		return &Error{Code: ExitSandbox, Doing: "run", Err: errRecordBudget, Hint: "scupper explain last shows what filled the log"}
	}
	return &Error{Code: ExitSandbox, Doing: "run", Err: errAuditGone, Hint: hintLog}
}
