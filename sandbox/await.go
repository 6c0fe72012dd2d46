package sandbox

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/audit"
)

// grace is how long a command has between being told that its time is up and being killed.
const grace = 3 * time.Second

// await waits until the command has ended, or something that a sandbox cannot do
// without has, and passes signals on meanwhile.
func await(ctx context.Context, cage *Cage, guard *audit.Guard, config Config) (int, error) {
	up := make(<-chan time.Time)
	if limit := config.Cage.Limits.Time; limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		up = timer.C
	}
	for {
		select {
		case <-cage.Ended():
			return cage.Wait()
		case <-up:
			return exitOvertime, overtime(cage, guard, config.Cage.Limits.Time)
		case <-guard.Done():
			return ExitSandbox, endCause(guard.Cause())
		case <-ctx.Done():
			return ExitSandbox, &Error{Code: ExitSandbox, Doing: "run", Err: context.Cause(ctx)}
		case s := <-config.Signals:
			if err := cage.Signal(s); err != nil {
				return ExitSandbox, err
			}
		}
	}
}

// overtime tells the command that its time is up, and gives it a moment. The caller kills what is left.
func overtime(cage *Cage, guard *audit.Guard, limit time.Duration) error {
	err := guard.Reached(audit.Reached{Limit: "time", Says: fmt.Sprintf("the sandbox used its %v of time and was ended", limit), Ended: true})
	if err := cage.Signal(unix.SIGTERM); err != nil {
		return err
	}
	select {
	case <-cage.Ended():
	case <-time.After(grace):
	}
	return err
}
