package shell

import (
	"context"
	"fmt"
	"slices"
	"time"

	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/trim"
	"scupper.dev/scupper/sandbox"
)

// roomForStatus is what the last line of a result may take of what is shown.
const roomForStatus = 512

// run runs a command in the foreground.
func (t *Tool) run(ctx context.Context, c *gateway.Call, a arguments) gateway.Result {
	out := t.config.Store.Collect(t.config.MaxOutput-roomForStatus, gateway.Ends)
	defer out.Close()
	began, limit := time.Now(), t.time(ctx, a)
	stop := tell(c.Progress, limit, out)
	end, err := t.config.Sandboxes.Run(ctx, sandbox.Call{ID: c.ID, Role: c.Role}, t.cage(c.Role, a.Command, limit, out))
	stop()
	o := outcome{end: end, err: err, took: time.Since(began)}
	return t.result(c, c.ID, out, o)
}

// tellEvery is how often a caller hears that a command goes on.
const tellEvery = 2 * time.Second

// tell tells the caller how long a command has run, of how many seconds, until stop is
// called.
func tell(progress gateway.Progress, limit time.Duration, out *trim.Collector) (stop func()) {
	if progress == nil {
		return func() {}
	}
	began, done, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				progress(time.Since(began).Seconds(), limit.Seconds(), fmt.Sprintf("%d bytes of output", out.Whole()))
			}
		}
	}()
	return func() { close(done); <-ended }
}

// cage is the sandbox of one command of a role.
func (t *Tool) cage(role, script string, limit time.Duration, out *trim.Collector) sandbox.CageConfig {
	cage := t.config.Cage
	if t.config.Protected != nil {
		cage.Protect = slices.Concat(cage.Protect, t.config.Protected(role))
	}
	cage.Command = command(script)
	cage.Stdout, cage.Stderr = out, out
	if limit > 0 && (cage.Limits.Time == 0 || limit < cage.Limits.Time) {
		cage.Limits.Time = limit
	}
	return cage
}

// time is how long a command in the foreground may take: what was asked for, as far as the
// tool and the call have it.
func (t *Tool) time(ctx context.Context, a arguments) time.Duration {
	limit := min(DefaultTime, t.config.MaxTime)
	if a.Timeout > 0 {
		limit = min(time.Duration(a.Timeout)*time.Second, t.config.MaxTime)
	}
	if deadline, ok := ctx.Deadline(); ok {
		// The sandbox ends first, so that there is a result to tell.
		limit = min(limit, max(time.Until(deadline)-endTime, time.Second))
	}
	return limit
}

// endTime is what ending a sandbox takes, the time that the command has to end by itself
// included.
const endTime = 5 * time.Second
