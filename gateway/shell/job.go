package shell

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/trim"
	"scupper.dev/scupper/sandbox"
)

// Limits of background commands, of all roles together.
const (
	maxRunning = 16
	maxJobs    = 64 // those that have ended included
)

// job is a command in the background.
type job struct {
	handle string
	role   string
	began  time.Time
	kill   context.CancelFunc
	done   chan struct{} // closed when end, err and took are set
	end    sandbox.End
	err    error
	took   time.Duration

	mu     sync.Mutex
	out    *trim.Collector // of what was printed since it was asked for last
	torn   []byte          // the beginning of a character, which belongs to what comes next
	killed bool
}

// Write takes output of the command.
func (j *job) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := len(b)
	if len(j.torn) > 0 {
		b = append(j.torn, b...)
	}
	whole := len(b) - tornAt(b)
	j.torn = slices.Clone(b[whole:])
	_, err := j.out.Write(b[:whole])
	return n, err
}

// tornAt is how many bytes at the end of b begin a character that is not complete.
func tornAt(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// begin starts a command in the background. Its handle is the ID of the call, which is in
// all of its records.
func (t *Tool) begin(c *gateway.Call, a arguments) gateway.Result {
	ctx, kill := context.WithCancel(t.ctx)
	j := &job{handle: c.ID, role: c.Role, began: time.Now(), kill: kill, done: make(chan struct{}), out: t.collector()}
	if why := t.admit(j); why != "" {
		kill()
		return gateway.Failure(why)
	}
	cage := t.cage(c.Role, a.Command, time.Duration(a.Timeout)*time.Second, nil)
	cage.Stdout, cage.Stderr = j, j
	go func() {
		defer t.wait.Done()
		defer kill()
		j.end, j.err = t.config.Sandboxes.Run(ctx, sandbox.Call{ID: c.ID, Role: c.Role}, cage)
		j.took = time.Since(j.began)
		close(j.done)
	}()
	return t.report(c, j)
}

func (t *Tool) collector() *trim.Collector {
	return t.config.Store.Collect(t.config.MaxOutput-roomForStatus, gateway.Ends)
}

// admit makes j one of the jobs, or says why not. The oldest that have ended are forgotten.
func (t *Tool) admit(j *job) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil {
		return "the gateway is ending"
	}
	running := 0
	for _, other := range t.jobs {
		if !other.over() {
			running++
		}
	}
	if running >= maxRunning {
		return fmt.Sprintf("there are %d commands in the background already: kill one first", running)
	}
	if len(t.jobs) >= maxJobs {
		oldest := slices.IndexFunc(t.jobs, (*job).over)
		t.jobs[oldest].forget()
		t.jobs = slices.Delete(t.jobs, oldest, oldest+1)
	}
	t.jobs = append(t.jobs, j)
	t.wait.Add(1)
	return ""
}

func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

func (j *job) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.out.Close()
}

// attend looks after a background command of the role that calls. One of another role is
// not there.
func (t *Tool) attend(ctx context.Context, c *gateway.Call, a arguments) gateway.Result {
	t.mu.Lock()
	at := slices.IndexFunc(t.jobs, func(j *job) bool { return j.handle == a.Handle && j.role == c.Role })
	var j *job
	if at >= 0 {
		j = t.jobs[at]
	}
	t.mu.Unlock()
	if j == nil {
		return gateway.Failure("there is no background command with this handle")
	}
	if a.Action == "kill" {
		j.mu.Lock()
		j.killed = j.killed || !j.over()
		j.mu.Unlock()
		j.kill()
		<-j.done
		return t.report(c, j)
	}
	if a.Timeout > 0 {
		wait := time.NewTimer(min(time.Duration(a.Timeout)*time.Second, t.config.MaxTime))
		defer wait.Stop()
		select {
		case <-j.done:
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	return t.report(c, j)
}

// report is what j has printed since the last one, and how it stands.
func (t *Tool) report(c *gateway.Call, j *job) gateway.Result {
	o := outcome{job: j.handle, running: !j.over(), took: time.Since(j.began)}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !o.running {
		o.end, o.err, o.took = j.end, j.err, j.took
		if j.killed && o.err != nil {
			o.err, o.end = nil, sandbox.End{Exit: killed}
		}
	}
	if !o.running {
		_, _ = j.out.Write(j.torn) // never fails
		j.torn = nil
	}
	out := j.out
	j.out = t.collector()
	defer out.Close()
	return t.result(c, c.ID, out, o)
}

// killed is the exit code of a command that SIGKILL ended, as shells have it.
const killed = 137
