package sandbox

import "fmt"

// Controls tells which of the things that hold the sandbox are in force. What is not here, such as a limit of time, is the caller's.
func (c *Cage) Controls() []Control {
	limits := c.config.Limits.withDefaults()
	network := "every address leads to scupper, IPv4 and IPv6"
	if len(c.sockets.TCP) < 2 {
		network = "every address leads to scupper, IPv4; IPv6 is off in this kernel"
	}
	return []Control{
		{"filesystem", true, fmt.Sprintf("read-only root from nothing, uid %s, writable: %s", innerID, c.writable())},
		{"network", true, network},
		{"processes", true, fmt.Sprintf("at most %d processes, %d open files each, no core files, %d bytes of temporary files", limits.Processes, limits.OpenFiles, limits.Scratch)},
		{"cpu and memory", false, "no cgroup"},
		{"credentials", true, "environment built, home empty, credential stores refused"},
		{"system calls", true, "seccomp filter, no capabilities, no new privileges"},
		{"destroyed", true, "all processes and temporary files end with the run or with scupper"},
	}
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
