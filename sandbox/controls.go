package sandbox

import (
	"errors"
	"fmt"
)

// Controls tells which of the things that hold the sandbox are in force: the file system, the network, what it may use of the machine (memory, cpus,
// processes, time), credentials, that it is destroyed, its output; and what these rest on. A limit that nobody asked for and that has no default is
// not in force.
func (c *Cage) Controls() []Control {
	controls := []Control{
		{"filesystem", true, fmt.Sprintf("read-only root from nothing, uid %s, %s of temporary files, writable without a limit of size: %s", innerID, size(c.limits.Scratch), c.writable())},
		{"network", true, "every address leads to scupper"},
		c.held("memory", size(c.limits.Memory)+", temporary files included"),
		c.cpus(),
		c.processes(),
		c.time(),
		{"credentials", true, "environment built, home empty, credential stores refused"},
		{"destroyed", true, "all processes and temporary files end with the run or with scupper"},
		c.output(),
		{"system calls", true, fmt.Sprintf("seccomp filter, no capabilities, no new privileges, %d open files a process, no core files", c.limits.OpenFiles)},
		c.supervisor(),
	}
	if c.config.Nested {
		controls = append(controls, nestedControl())
	}
	return controls
}

// nestedControl is what a sandbox does without in which others may be nested.
func nestedControl() Control {
	return Control{"no user namespaces", false, "weakened: programs inside may make user namespaces and mounts in them, which opens more of the kernel to them"}
}

// held is a control that only a control group gives.
func (c *Cage) held(limit, detail string) Control {
	if h, ok := c.group.at[limit]; ok {
		return Control{limit, true, fmt.Sprintf("%s (cgroup v%d)", detail, h.version)}
	}
	return Control{limit, false, c.group.missing[limit].Error()}
}

func (c *Cage) cpus() Control {
	if c.limits.CPUs == 0 {
		return Control{"cpus", false, "no limit was asked for"}
	}
	return c.held("cpus", fmt.Sprintf("time of %v processors", c.limits.CPUs))
}

func (c *Cage) processes() Control {
	detail := fmt.Sprintf("%d at once, threads included", c.limits.Processes)
	if _, ok := c.group.at["processes"]; ok {
		return c.held("processes", detail)
	}
	return Control{"processes", true, detail + " (resource limit, not reported when it is reached)"}
}

func (c *Cage) time() Control {
	if c.limits.Time == 0 {
		return Control{"time", false, "no limit was asked for"}
	}
	return Control{"time", true, fmt.Sprintf("ended after %v", c.limits.Time)}
}

func (c *Cage) output() Control {
	if c.limits.Output == 0 {
		return Control{"output", false, "no limit was asked for"}
	}
	return Control{"output", true, fmt.Sprintf("cut after %s", size(c.limits.Output))}
}

func (c *Cage) writable() string {
	list := ""
	for _, f := range c.folders {
		if f.Writable {
			list += " " + f.Path
		}
	}
	return list[min(1, len(list)):]
}

// demandLimits is an error when a limit that was asked for cannot be held.
func (c *Cage) demandLimits() error {
	if c.config.BestEffort {
		return nil
	}
	asked := []struct {
		limit, doing string
		given        bool
	}{
		{"memory", "hold the sandbox to " + size(c.limits.Memory) + " of memory", c.config.Limits.Memory > 0},
		{"cpus", fmt.Sprintf("hold the sandbox to %v CPUs", c.limits.CPUs), c.config.Limits.CPUs > 0},
	}
	var errs []error
	for _, a := range asked {
		if err := c.group.missing[a.limit]; err != nil && a.given {
			errs = append(errs, environment(a.doing, err, c.group.hint()))
		}
	}
	return errors.Join(errs...)
}
