package sandbox

import (
	"errors"
	"fmt"
	"os"

	"scupper.dev/scupper/audit"
)

// Start lets the command run. It is called once.
func (c *Cage) Start() error {
	if _, err := c.process.control.Write([]byte(goAhead)); err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	c.started = true
	fed := c.io.feed()
	if c.group.memory != nil {
		// Version 1 kills one process; the sandbox ends as a whole.
		c.watching.Go(func() { onMemory(c.group.memory, c.endForMemory) })
	}
	go func() {
		defer close(c.ended)
		<-c.process.done
		c.io.finish()
		c.reached = append(c.group.reached(c.limits), c.io.allowance.reached()...)
		c.exitCode, c.exitErr = c.outcome()
	}()
	return fed
}

// endForMemory ends the whole sandbox when its memory is used up.
func (c *Cage) endForMemory() {
	c.group.spent.Store(true)
	_ = c.process.handle.Kill() // may have ended by itself
}

// Wait blocks until the command, which Start has started, has ended and all its output has been written. It returns the command's exit code, 128 + N if signal N ended it. An
// error means that there was no command to end; its Code is the exit code for scupper.
func (c *Cage) Wait() (int, error) {
	<-c.ended
	return c.exitCode, c.exitErr
}

// Reached tells, after Wait, which limits the sandbox came up against.
func (c *Cage) Reached() []audit.Reached { return c.reached }

// Ended is closed when Wait would return at once.
func (c *Cage) Ended() <-chan struct{} { return c.ended }

// Stop ends the sandbox if it still runs and waits until nothing of it is left. The sockets stay open, so that what has arrived can still be read.
func (c *Cage) Stop() error {
	if c.process == nil {
		return nil
	}
	err := c.process.kill()
	c.io.copies.Wait()
	return err
}

// Close ends the sandbox if it still runs, waits for it, closes the sockets and removes the placeholders. A further call waits for the first and returns
// the same.
func (c *Cage) Close() error {
	c.closing.Do(func() { c.closeErr = c.close() })
	return c.closeErr
}

func (c *Cage) close() error {
	errs := []error{c.Stop(), c.detached.close()}
	for _, f := range c.told {
		_ = f.Close() // may be nil, or closed by an earlier call
	}
	if c.started {
		<-c.ended
	}
	if c.io != nil {
		c.io.close()
	}
	if c.status != nil {
		c.status.wait()
	}
	errs = append(errs, c.sockets.Close(), c.withKept(c.clear))
	c.watching.Wait()
	return errors.Join(errs...)
}

// clear removes what the run has made outside of the sandbox.
func (c *Cage) clear() error { return errors.Join(c.group.remove(), c.journal.Close()) }

// kill ends the child, the first process of its namespace: the kernel ends all others with it.
func (p *process) kill() error {
	if err := p.handle.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the sandbox: %w", err)
	}
	<-p.done
	// Closed by an earlier call perhaps.
	_ = p.control.Close()
	return nil
}
