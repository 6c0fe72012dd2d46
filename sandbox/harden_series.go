package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// hardenForSeries is harden for a process that builds sandboxes until it ends.
func hardenForSeries() error { return closeUp() }

// readable makes a process that nobody of its user may read start children in namespaces
// of their own. The kernel lets an ordinary user write a child's identity mappings only
// while it may read the child, which takes after its parent at fork (user_namespaces(7),
// proc_pid(5)). Root can do without.
type readable struct{ mu sync.Mutex }

// during runs f while this process may be read, which is for the time of one fork. The
// nil readable runs f.
func (r *readable) during(f func() error) error {
	if r == nil || os.Geteuid() == 0 {
		return f()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := dumpable(true); err != nil {
		return fmt.Errorf("prepare to start the sandbox: %w", err)
	}
	err := f()
	return errors.Join(err, dumpable(false))
}

// seriesSupervisor is the control that hardenForSeries puts in force.
func seriesSupervisor() Control {
	if os.Geteuid() == 0 {
		return Control{"supervisor", false, "not readable by others, no new privileges, but root's capabilities, which every call's sandbox is built with"}
	}
	return Control{"supervisor", true, "not readable by its user but for the moment in which a call's sandbox starts, no new privileges, no capabilities"}
}
